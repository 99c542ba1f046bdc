// SPDX-License-Identifier: Apache-2.0
//
// The commands repair and update_manifest.
//
// Both work on the files of a directory without opening the database, and repair must do so even if
// the MANIFEST or the OPTIONS file is damaged. So each option comes from wherever it can still be
// read, and the rest have their defaults.
#include <algorithm>
#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/convenience.h"
#include "ashlar/experimental.h"
#include "ashlar/utilities/options_util.h"
#include "db/repair/manifest_content.h"
#include "db/repair/repair_db.h"
#include "tools/ldb/command.h"
#include "tools/lib/console.h"
#include "tools/lib/program_parts.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The options that a directory reveals: those of its newest OPTIONS file, and the families of its
// MANIFEST.
struct OptionsOnDisk {
  DBOptions db;
  std::vector<ColumnFamilyDescriptor> families;
};

// Adds the comparators that the MANIFEST names, for families that have none in an OPTIONS file.
Status AddComparators(const std::string& dir, OptionsOnDisk* options) {
  assert(options != nullptr);
  std::vector<std::string> notes;
  ASSIGN_OR_RETURN(const ManifestContent manifest, FindManifestContent(ToolFiles(), dir, &notes));
  for (const auto& [id, family] : manifest.families) {
    const std::string& name = family.name;
    auto& families = options->families;
    if (std::any_of(families.begin(), families.end(),
                    [&name](const auto& known) { return known.name == name; })) {
      continue;
    }
    ColumnFamilyOptions added;
    if (family.comparator) {
      RETURN_IF_ERROR(
          Comparator::CreateFromString(ConfigOptions(), *family.comparator, &added.comparator));
    }
    families.emplace_back(name, added);
  }
  return Status::OK();
}

// What the directory itself says about its options, as far as it can be read.
Result<OptionsOnDisk> FindOptions(const std::string& dir) {
  ConfigOptions config;
  config.ignore_unknown_options = true;
  config.ignore_unsupported_options = true;
  OptionsOnDisk options;
  // A half-read OPTIONS file would give some families their options and others none, so a file that
  // cannot be read counts as absent.
  if (!LoadLatestOptions(config, dir, &options.db, &options.families).ok()) options = {};
  const Status found = AddComparators(dir, &options);
  if (!found.ok() && !found.IsNotFound() && !found.IsPathNotFound()) return found;
  if (options.families.empty()) {
    options.families.emplace_back(kDefaultColumnFamilyName, ColumnFamilyOptions());
  }
  return options;
}

}  // namespace

Status RunRepair(const Invocation& call) {
  ASSIGN_OR_RETURN(const OptionsOnDisk options, FindOptions(call.db));
  std::vector<std::string> report;
  Status status;
  {
    const Heartbeat heartbeat("repairing");
    status =
        RepairWithReport(call.db, options.db, options.families, ColumnFamilyOptions(), &report);
  }
  // The report is printed even if the repair has failed, because it says how far the repair came.
  for (const std::string& line : report) PrintLine(line);
  RETURN_IF_ERROR(status);
  PrintLine("OK");
  return Status::OK();
}

// The only update there is: the temperatures that the file system reports for the tables replace
// those in the MANIFEST.
Status RunUpdateManifest(const Invocation& call) {
  if (!call.line->Has("update_temperatures")) {
    return Status::InvalidArgument(
        "No action like --update_temperatures specified for update_manifest");
  }
  ASSIGN_OR_RETURN(const OptionsOnDisk options, FindOptions(call.db));
  RETURN_IF_ERROR(experimental::UpdateManifestForFilesState(options.db, call.db, options.families));
  PrintLine("Manifest updates successful");
  return Status::OK();
}

}  // namespace ashlar
