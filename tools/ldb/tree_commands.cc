// SPDX-License-Identifier: Apache-2.0
//
// Commands that change which tables a column family has, or their levels: reduce_levels,
// change_compaction_style and unsafe_remove_sst_file.
//
// The first two compact everything into one level, where another value of num_levels or
// compaction_style needs the files; automatic compactions are off until the database is closed.
//
// unsafe_remove_sst_file removes a damaged or lost table without reading it: its entries are lost,
// and older versions of its keys become visible. The new MANIFEST has all records of the old one
// and one more; CURRENT names it once it is durable, so a crash leaves either the old or the new
// state. The next open deletes the file itself.
#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>

#include "ashlar/metadata.h"
#include "db/manifest/manifest_file.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "tools/ldb/command.h"
#include "tools/ldb/manifest_state.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/console.h"
#include "tools/lib/program_parts.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The number of files of each level, level 0 first.
std::vector<size_t> FilesPerLevel(LdbDatabase* db, ColumnFamilyHandle* family) {
  assert(db != nullptr);
  ColumnFamilyMetaData metadata;
  (*db)->GetColumnFamilyMetaData(family, &metadata);
  std::vector<size_t> counts;
  for (const LevelMetaData& level : metadata.levels) counts.push_back(level.files.size());
  return counts;
}

// "3,0,12".
std::string Joined(const std::vector<size_t>& counts) {
  std::string text;
  for (const size_t count : counts) StrAppend(&text, text.empty() ? "" : ",", count);
  return text;
}

// Compacts the whole key range and moves the result to `level`. Exclusive, so no other compaction
// moves files at the same time.
Status CompactInto(LdbDatabase* db, ColumnFamilyHandle* family, int level) {
  assert(db != nullptr);
  CompactRangeOptions options;
  options.exclusive_manual_compaction = true;
  options.change_level = true;
  options.target_level = level;
  const Heartbeat heartbeat("compacting");
  return (*db)->CompactRange(options, family, nullptr, nullptr);
}

// Restores the options and closes, without a compaction that would move the files again.
Status CloseWithoutCompacting(LdbDatabase* db, TemporaryOptions* options) {
  assert(db != nullptr);
  assert(options != nullptr);
  RETURN_IF_ERROR((*db)->PauseBackgroundWork());
  const Status restored = options->Restore();
  const Status closed = db->Close();
  return restored.ok() ? closed : restored;
}

// One more than the deepest level with files; 0 for an empty family.
size_t LevelsInUse(const FamilyState& family) {
  size_t count = 0;
  for (size_t level = 0; level < family.levels.size(); level++) {
    if (!family.levels[level].empty()) count = level + 1;
  }
  return count;
}

// The options are restored even if the compaction has failed, before its error is returned.
Status Reduce(const Invocation& call, size_t new_levels) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  TemporaryOptions options(db.get(), family);
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

// Universal compaction treats each file of level 0 as a sorted run: everything becomes one file
// there.
Status MakeOneRun(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  PrintLine(StrCat("files per level before compaction: ", Joined(FilesPerLevel(db.get(), family))));
  TemporaryOptions options(db.get(), family);
  // 2^60 bytes: no real family reaches the limit, so nothing splits the output into several files.
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

// Where the MANIFEST has a table: the ID of its family and its level.
struct TablePlace {
  uint32_t family;
  Level level;
};

// File numbers are unique in a database, so the first hit is the only one.
std::optional<TablePlace> FindTable(const ManifestState& state, FileNumber number) {
  for (const auto& [id, family] : state.families()) {
    for (size_t level = 0; level < family.levels.size(); ++level) {
      for (const FileMetadata& meta : family.levels[level]) {
        if (meta.number == number) return TablePlace{id, Level{static_cast<int>(level)}};
      }
    }
  }
  return std::nullopt;
}

// A number larger than those of all files in the directory and all that the MANIFEST has assigned.
Result<FileNumber> UnusedNumber(FileSystem* fs, const std::string& dir,
                                const ManifestState& state) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, dir));
  FileNumber next = state.next_file_number();
  for (const std::string& name : names) {
    FileNumber number;
    FileType type = kTempFile;
    if (ParseFileName(name, &number, &type)) next = std::max(next, number.Next());
  }
  return next;
}

// Removes a table from the MANIFEST. The caller holds the LOCK of the database.
Status RemoveTable(FileSystem* fs, const std::string& dir, FileNumber table) {
  ASSIGN_OR_RETURN(const std::string old_manifest, LiveManifestPath(fs, dir));
  std::vector<std::string> records;
  const auto copy = [&](VersionEdit edit) {
    // Both are positions in the old MANIFEST file.
    edit.initial_records.reset();
    edit.change_begin.reset();
    edit.EncodeTo(&records.emplace_back());
  };
  ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, old_manifest, copy));
  const std::optional<TablePlace> place = FindTable(state, table);
  if (!place) {
    return Status::NotFound(StrCat(old_manifest, ": no live table has the number ", table));
  }
  ASSIGN_OR_RETURN(const FileNumber number, UnusedNumber(fs, dir, state));
  VersionEdit removal;
  removal.column_family = place->family;
  removal.DeleteFile(place->level, table);
  removal.next_file_number = number.Next();
  removal.EncodeTo(&records.emplace_back());
  ManifestFileOptions options;
  options.fs = fs;
  options.dir = dir;
  ManifestFile manifest(options);
  RETURN_IF_ERROR(manifest.Start(number, records));
  return manifest.Close();
}

}  // namespace

// Reads the MANIFEST first: if no table is on a deeper level, nothing has to be done.
Status RunReduceLevels(const Invocation& call) {
  if (!call.line->Has("new_levels")) {
    return Status::InvalidArgument("reduce_levels needs --new_levels=<number>");
  }
  ASSIGN_OR_RETURN(const int64_t new_levels, call.line->Number("new_levels", 0));
  ASSIGN_OR_RETURN(const bool prints, call.line->Bool("print_old_levels"));
  if (new_levels < 2) {
    return Status::InvalidArgument(StrCat("--new_levels: at least 2, found ", new_levels));
  }
  FileSystem* const fs = ToolFiles();
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

// Level 0 with one file is valid for both styles, so only the change to universal compaction needs
// work.
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

// The LOCK is held from before the MANIFEST is read until after CURRENT names the new one, so no
// process can open the database and add records that the copy would lack.
Status RunUnsafeRemoveSstFile(const Invocation& call) {
  const std::string& text = call.arguments[0];
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Status::InvalidArgument(StrCat("expected the number of a table, found \"", text, "\""));
  }
  FileSystem* const fs = ToolFiles();
  FileLock* lock = nullptr;
  RETURN_IF_ERROR(fs->LockFile(LockFileName(call.db), IOOptions(), &lock, nullptr));
  const Status removed = RemoveTable(fs, call.db, FileNumber(number));
  const Status unlocked = fs->UnlockFile(lock, IOOptions(), nullptr);
  RETURN_IF_ERROR(removed);
  std::fprintf(stderr, "unsafely removed SST file\n");
  return unlocked;
}

}  // namespace ashlar
