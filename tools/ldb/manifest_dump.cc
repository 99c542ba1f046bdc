// SPDX-License-Identifier: Apache-2.0
//
// ldb manifest_dump: what a MANIFEST says, edit by edit if --verbose, and what it adds up to.
#include "tools/ldb/command.h"
#include "tools/ldb/manifest_summary.h"
#include "tools/lib/output.h"
#include "util/text/str_cat.h"

namespace ashlar {

Status RunManifestDump(const Invocation& call) {
  FileSystem* const fs = FileSystem::Default().get();
  ASSIGN_OR_RETURN(const bool is_verbose, call.line->Bool("verbose"));
  std::string path = call.line->Value("path").value_or("");
  if (path.empty()) {
    if (call.db.empty()) return Status::InvalidArgument("manifest_dump needs --db or --path");
    ASSIGN_OR_RETURN(path, LiveManifestPath(fs, call.db));
  }
  std::function<void(const VersionEdit&)> on_edit;
  if (is_verbose) {
    PrintLine(StrCat("Processing Manifest file ", path));
    on_edit = [&](const VersionEdit& edit) { Print(edit.DebugString(call.hex_keys)); };
  }
  ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, path, on_edit));
  Print(ManifestSummaryText(state, call.hex_keys));
  if (is_verbose) PrintLine(StrCat("Processing Manifest file ", path, " done"));
  return Status::OK();
}

}  // namespace ashlar
