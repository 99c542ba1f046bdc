// SPDX-License-Identifier: Apache-2.0
//
// One line for each call.
#include "db/api/unbuilt_calls.h"

#include <string>

namespace ashlar {

Status UnbuiltCalls::GetNewestUserDefinedTimestamp(ColumnFamilyHandle*, std::string*) {
  return Status::NotSupported("GetNewestUserDefinedTimestamp");
}

}  // namespace ashlar
