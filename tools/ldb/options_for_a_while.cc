// SPDX-License-Identifier: Apache-2.0
//
// What was there before is read as text, the form in which it is set again.
#include "tools/ldb/options_for_a_while.h"

#include "ashlar/convenience.h"
#include "util/text/str_cat.h"

namespace ashlar {

Status OptionsForAWhile::Set(const Texts& options) {
  std::string text;
  Texts all;
  RETURN_IF_ERROR(
      GetStringFromColumnFamilyOptions(ConfigOptions(), (*db_)->GetOptions(family_), &text));
  RETURN_IF_ERROR(StringToMap(text, &all));
  for (const auto& [name, value] : options) {
    const auto found = all.find(name);
    if (found == all.end()) return Status::InvalidArgument(StrCat("no option is called ", name));
    former_.emplace(name, found->second);
  }
  return (*db_)->SetOptions(family_, options);
}

Status OptionsForAWhile::PutBack() {
  const Texts former = std::move(former_);
  former_.clear();
  return former.empty() ? Status::OK() : (*db_)->SetOptions(family_, former);
}

}  // namespace ashlar
