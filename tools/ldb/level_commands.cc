// SPDX-License-Identifier: Apache-2.0
//
// ldb reduce_levels and change_compaction_style: files brought to where another setting of
// num_levels or compaction_style wants them. Both compact everything and move it to one level;
// compactions of the database's own accord are off until it is closed.
#include <algorithm>
#include <memory>

#include "ashlar/metadata.h"
#include "tools/ldb/command.h"
#include "tools/ldb/manifest_state.h"
#include "tools/ldb/open_db.h"
#include "tools/ldb/options_for_a_while.h"
#include "tools/lib/output.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::vector<size_t> FilesPerLevel(OpenedDb* db, ColumnFamilyHandle* family) {
  ColumnFamilyMetaData metadata;
  (*db)->GetColumnFamilyMetaData(family, &metadata);
  std::vector<size_t> counts;
  for (const LevelMetaData& level : metadata.levels) counts.push_back(level.files.size());
  return counts;
}

std::string Joined(const std::vector<size_t>& counts) {
  std::string text;
  for (const size_t count : counts) StrAppend(&text, text.empty() ? "" : ",", count);
  return text;
}

Status CompactInto(OpenedDb* db, ColumnFamilyHandle* family, int level) {
  CompactRangeOptions options;
  options.exclusive_manual_compaction = true;
  options.change_level = true;
  options.target_level = level;
  const Heartbeat heartbeat("compacting");
  return (*db)->CompactRange(options, family, nullptr, nullptr);
}

// With the options as they were, but without a compaction that would move the files again.
Status CloseWithoutCompacting(OpenedDb* db, OptionsForAWhile* options) {
  RETURN_IF_ERROR((*db)->PauseBackgroundWork());
  const Status put_back = options->PutBack();
  const Status closed = db->Close();
  return put_back.ok() ? closed : put_back;
}

size_t LevelsInUse(const FamilyState& family) {
  size_t count = 0;
  for (size_t level = 0; level < family.levels.size(); level++) {
    if (!family.levels[level].empty()) count = level + 1;
  }
  return count;
}

Status Reduce(const Invocation& call, size_t new_levels) {
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  OptionsForAWhile options(db.get(), family);
  RETURN_IF_ERROR(options.Set({{"disable_auto_compactions", "true"}}));
  const Status moved = CompactInto(db.get(), family, static_cast<int>(new_levels) - 1);
  const std::vector<size_t> files = FilesPerLevel(db.get(), family);
  RETURN_IF_ERROR(CloseWithoutCompacting(db.get(), &options));
  RETURN_IF_ERROR(moved);
  for (size_t level = new_levels; level < files.size(); level++) {
    if (files[level] == 0) continue;
    return Status::Aborted(StrCat("level ", level, " still has ", files[level], " files"));
  }
  return Status::OK();
}

// Universal compaction takes files of level 0 for sorted runs; all becomes one.
Status MakeOneRun(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  PrintLine(StrCat("files per level before compaction: ", Joined(FilesPerLevel(db.get(), family))));
  OptionsForAWhile options(db.get(), family);
  RETURN_IF_ERROR(options.Set({{"disable_auto_compactions", "true"},
                               {"target_file_size_base", "1152921504606846976"},
                               {"max_compaction_bytes", "1152921504606846976"}}));
  const Status moved = CompactInto(db.get(), family, 0);
  const std::vector<size_t> files = FilesPerLevel(db.get(), family);
  RETURN_IF_ERROR(CloseWithoutCompacting(db.get(), &options));
  RETURN_IF_ERROR(moved);
  PrintLine(StrCat("files per level after compaction: ", Joined(files)));
  const bool is_one_run = files[0] <= 1 && std::all_of(files.begin() + 1, files.end(),
                                                       [](size_t count) { return count == 0; });
  return is_one_run ? Status::OK() : Status::Aborted("the files are not one run of level 0");
}

}  // namespace

Status RunReduceLevels(const Invocation& call) {
  if (!call.line->Has("new_levels")) {
    return Status::InvalidArgument("reduce_levels needs --new_levels=<number>");
  }
  ASSIGN_OR_RETURN(const int64_t new_levels, call.line->Number("new_levels", 0));
  ASSIGN_OR_RETURN(const bool prints, call.line->Bool("print_old_levels"));
  if (new_levels < 2) {
    return Status::InvalidArgument(StrCat("--new_levels: at least 2, found ", new_levels));
  }
  FileSystem* const fs = FileSystem::Default().get();
  ASSIGN_OR_RETURN(const std::string manifest, LiveManifestPath(fs, call.db));
  ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, manifest));
  const FamilyState* const family = state.Family(call.family);
  if (family == nullptr) {
    return Status::InvalidArgument(StrCat("no column family is called \"", call.family, "\""));
  }
  const size_t in_use = LevelsInUse(*family);
  if (prints) PrintLine(StrCat("The old number of levels in use is ", in_use));
  if (in_use <= static_cast<size_t>(new_levels)) return Status::OK();
  return Reduce(call, static_cast<size_t>(new_levels));
}

Status RunChangeCompactionStyle(const Invocation& call) {
  for (const std::string_view flag : {"old_compaction_style", "new_compaction_style"}) {
    ASSIGN_OR_RETURN(const int64_t style, call.line->Number(flag, -1));
    if (style == kCompactionStyleLevel || style == kCompactionStyleUniversal) continue;
    return Status::InvalidArgument(StrCat("--", flag, ": expected 0 (levels) or 1 (universal)"));
  }
  const std::string old_style = *call.line->Value("old_compaction_style");
  const std::string new_style = *call.line->Value("new_compaction_style");
  if (old_style == new_style) {
    return Status::InvalidArgument(
        "old and new compaction style are the same: there is nothing to do");
  }
  if (old_style != "0") {
    return Status::InvalidArgument("from universal compaction to levels: there is nothing to do");
  }
  return MakeOneRun(call);
}

}  // namespace ashlar
