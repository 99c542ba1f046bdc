// SPDX-License-Identifier: Apache-2.0
//
// The commands repair and update_manifest.
//
// Both work on the files of a directory without opening the database, and repair must do so even if
// the MANIFEST or the OPTIONS file is damaged (OptionsForRepair()).
#include <string>
#include <vector>

#include "ashlar/experimental.h"
#include "db/repair/repair_db.h"
#include "tools/ldb/command.h"
#include "tools/ldb/stored_options.h"
#include "tools/lib/console.h"
#include "tools/lib/program_parts.h"

namespace ashlar {

Status RunRepair(const Invocation& call) {
  ASSIGN_OR_RETURN(const StoredOptions options, OptionsForRepair(call));
  // A family of which only the id is known has the options that the program gives for all.
  const ColumnFamilyOptions& unknown = Program().options;
  std::vector<std::string> report;
  Status status;
  {
    const Heartbeat heartbeat("repairing");
    status = RepairWithReport(call.db, options.db, options.families, unknown, &report);
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
  ASSIGN_OR_RETURN(const StoredOptions options, OptionsForRepair(call));
  RETURN_IF_ERROR(experimental::UpdateManifestForFilesState(options.db, call.db, options.families));
  PrintLine("Manifest updates successful");
  return Status::OK();
}

}  // namespace ashlar
