// SPDX-License-Identifier: Apache-2.0
//
// A change is parsed on top of the current options, then checked as at open, so that what an open
// database may have is exactly what it may be opened with. Options of the database are sanitized
// here: none is moved because of another that can change. Those of a family are left to the caller,
// who keeps both forms.
#include "db/options/dynamic_options.h"

#include <cassert>

#include "ashlar/convenience.h"
#include "db/options/options_check.h"

namespace ashlar {
namespace {

ConfigOptions DynamicOnly(const DBOptions& db_options) {
  ConfigOptions config(db_options);
  config.mutable_options_only = true;
  config.ignore_unsupported_options = false;
  assert(!config.ignore_unknown_options);  // a misspelt name must not pass for a change
  return config;
}

Status NothingGiven(const char* function) {
  return Status::InvalidArgument(std::string(function) + ": no option is given");
}

}  // namespace

Result<DBOptions> ChangeDbOptions(const DBOptions& current,
                                  const std::unordered_map<std::string, std::string>& changes) {
  if (changes.empty()) return NothingGiven("SetDBOptions");
  for (const auto& [name, value] : changes) {
    const OptionRow* const row = FindOption(DbOptionTable(), name);
    if (row == nullptr || row->facts.takes_effect == TakesEffect::kAtOpen) {
      return Status::NotFound("no option of an open database", name);  // RocksDB's code for it
    }
  }
  DBOptions changed;
  RETURN_IF_ERROR(GetDBOptionsFromMap(DynamicOnly(current), current, changes, &changed));
  RETURN_IF_ERROR(CheckDbOptionsSupported(changed));
  return SanitizeDbOptions(changed);
}

Result<ColumnFamilyOptions> ChangeColumnFamilyOptions(
    const DBOptions& db_options, const ColumnFamilyOptions& settled,
    const std::unordered_map<std::string, std::string>& changes) {
  if (changes.empty()) return NothingGiven("SetOptions");
  ColumnFamilyOptions changed;
  RETURN_IF_ERROR(
      GetColumnFamilyOptionsFromMap(DynamicOnly(db_options), settled, changes, &changed));
  RETURN_IF_ERROR(CheckColumnFamilyOptionsSupported(changed));
  return changed;
}

}  // namespace ashlar
