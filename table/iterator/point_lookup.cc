// SPDX-License-Identifier: Apache-2.0
//
// The rare kinds of versions a point lookup can meet.
#include "table/iterator/point_lookup.h"

#include <string>

namespace ashlar {

bool PointLookup::OfferUnusual(uint64_t trailer) {
  const ValueType type = TrailerType(trailer);
  const char* what = type == kTypeMerge              ? "merge operands"
                     : type == kTypeBlobIndex        ? "values in blob files"
                     : type == kTypeWideColumnEntity ? "wide-column entities"
                     : IsPointEntryType(type)        ? "entries with a timestamp"
                                                     : nullptr;
  if (what != nullptr) {
    Fail(Status::NotSupported("Get", std::string(what) + " are not supported by this version"));
  } else {
    Fail(Status::Corruption("Get", "unknown kind of entry: " + std::to_string(type)));
  }
  return true;
}

}  // namespace ashlar
