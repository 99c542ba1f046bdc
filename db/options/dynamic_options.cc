// SPDX-License-Identifier: Apache-2.0
//
// A change is parsed on top of the current options and then checked as at open, so an open database
// accepts exactly the options with which it can be opened. Options of the database are sanitized
// here, because none is adjusted because of another one that can change. For options of a family
// that is left to the caller, who keeps both forms.
#include "db/options/dynamic_options.h"

#include <cassert>

#include "ashlar/convenience.h"
#include "db/options/options_check.h"

namespace ashlar {
namespace {

// Unknown names and objects are errors for an open database, whatever the program set for its
// files.
ConfigOptions DynamicOnly(const DBOptions& db_options) {
  ConfigOptions config(db_options);
  config.mutable_options_only = true;
  config.ignore_unsupported_options = false;
  assert(!config.ignore_unknown_options);  // a misspelt name must be an error
  return config;
}

Status NothingGiven(const char* function) {
  return Status::InvalidArgument(std::string(function) + ": no option is given");
}

}  // namespace

// The options with the changes. An error changes nothing, because the caller uses the result only
// on success.
Result<DBOptions> ChangeDbOptions(const DBOptions& current,
                                  const std::unordered_map<std::string, std::string>& changes) {
  if (changes.empty()) return NothingGiven("SetDBOptions");
  // Checked before parsing, because RocksDB has another code for these names.
  for (const auto& [name, value] : changes) {
    const OptionRow* const row = FindOption(DbOptionTable(), name);
    if (row == nullptr || row->facts.takes_effect == TakesEffect::kAtOpen) {
      return Status::NotFound("no option of an open database", name);  // RocksDB's code for it
    }
  }
  DBOptions changed;
  RETURN_IF_ERROR(GetDBOptionsFromMap(DynamicOnly(current), current, changes, &changed));
  // The whole set of options is checked, because a value may contradict another one.
  RETURN_IF_ERROR(CheckDbOptionsSupported(changed));
  if ((changed.memory_limit == 0) != (current.memory_limit == 0)) {
    return Status::InvalidArgument("option memory_limit: it cannot be switched on or off");
  }
  return SanitizeDbOptions(changed);
}

// The changes apply to the settled options, not to the sanitized ones: a limit that was reduced for
// other reasons becomes effective again when these reasons are gone.
Result<ColumnFamilyOptions> ChangeColumnFamilyOptions(
    const DBOptions& db_options, const ColumnFamilyOptions& settled,
    const std::unordered_map<std::string, std::string>& changes) {
  if (changes.empty()) return NothingGiven("SetOptions");
  ColumnFamilyOptions changed;
  RETURN_IF_ERROR(
      GetColumnFamilyOptionsFromMap(DynamicOnly(db_options), settled, changes, &changed));
  RETURN_IF_ERROR(CheckColumnFamilyOptionsSupported(changed));
  // Settled: the caller sanitizes a copy after each change.
  return changed;
}

}  // namespace ashlar
