// SPDX-License-Identifier: Apache-2.0
//
// ldb unsafe_remove_sst_file: takes a table out of the database without reading it, for one that is
// damaged or lost. What was in it is gone, and older versions of its keys show again.
//
// A new MANIFEST has all records of the old one and one more; CURRENT names it once it is durable,
// so a crash leaves the one or the other. The file itself is left to the next open, which deletes
// it.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>

#include "db/manifest/manifest_file.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "tools/ldb/command.h"
#include "tools/ldb/manifest_state.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

struct Place {
  uint32_t family;
  Level level;
};

std::optional<Place> FindTable(const ManifestState& state, FileNumber number) {
  for (const auto& [id, family] : state.families()) {
    for (size_t level = 0; level < family.levels.size(); ++level) {
      for (const FileMetadata& meta : family.levels[level]) {
        if (meta.number == number) return Place{id, Level{static_cast<int>(level)}};
      }
    }
  }
  return std::nullopt;
}

// Larger than that of any file in the directory, and than all the MANIFEST has given out.
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

// The database is locked by the caller.
Status Remove(FileSystem* fs, const std::string& dir, FileNumber table) {
  ASSIGN_OR_RETURN(const std::string old_manifest, LiveManifestPath(fs, dir));
  std::vector<std::string> records;
  const auto copy = [&](VersionEdit edit) {
    // Both tell where something is in the file that they were written to.
    edit.initial_records.reset();
    edit.change_begin.reset();
    edit.EncodeTo(&records.emplace_back());
  };
  ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, old_manifest, copy));
  const std::optional<Place> place = FindTable(state, table);
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

Status RunUnsafeRemoveSstFile(const Invocation& call) {
  const std::string& text = call.arguments[0];
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Status::InvalidArgument(StrCat("expected the number of a table, found \"", text, "\""));
  }
  FileSystem* const fs = FileSystem::Default().get();
  FileLock* lock = nullptr;
  RETURN_IF_ERROR(fs->LockFile(LockFileName(call.db), IOOptions(), &lock, nullptr));
  const Status removed = Remove(fs, call.db, FileNumber(number));
  const Status unlocked = fs->UnlockFile(lock, IOOptions(), nullptr);
  RETURN_IF_ERROR(removed);
  std::fprintf(stderr, "unsafely removed SST file\n");
  return unlocked;
}

}  // namespace ashlar
