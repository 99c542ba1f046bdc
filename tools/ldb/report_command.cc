// SPDX-License-Identifier: Apache-2.0
//
// ldb report: the tree of a database as a page of HTML. The page is written when everything has
// been read, so damage leaves no half of a page.
#include <chrono>
#include <memory>

#include "env/file_writer.h"
#include "tools/ldb/command.h"
#include "tools/ldb/file_places.h"
#include "tools/ldb/manifest_state.h"
#include "tools/ldb/open_db.h"
#include "tools/ldb/tree_page.h"
#include "tools/ldb/tree_survey.h"
#include "tools/lib/output.h"
#include "util/text/str_cat.h"

namespace ashlar {

Status RunReport(const Invocation& call) {
  FileSystem* const fs = FileSystem::Default().get();
  TreeSurvey survey;
  {
    const Heartbeat heartbeat("reading");
    ASSIGN_OR_RETURN(const std::string manifest, LiveManifestPath(fs, call.db));
    ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, manifest));
    ASSIGN_OR_RETURN(const FilePlaces places, FilePlaces::Find(fs, call, state));
    ASSIGN_OR_RETURN(const std::string logs, FindLogDirectory(call, state));
    ASSIGN_OR_RETURN(survey, SurveyTree(fs, places, logs, state));
  }
  const std::string path = call.line->Value("output").value_or(call.db + "_report.html");
  if (path.empty()) return Status::InvalidArgument("--output=<file> has no name");
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  ASSIGN_OR_RETURN(const std::unique_ptr<FileWriter> out,
                   FileWriter::Create(fs, path, FileOptions()));
  RETURN_IF_ERROR(out->Append(TreePage(survey, static_cast<uint64_t>(seconds))));
  RETURN_IF_ERROR(out->Close());
  PrintLine(StrCat("report written to file ", path));
  return Status::OK();
}

}  // namespace ashlar
