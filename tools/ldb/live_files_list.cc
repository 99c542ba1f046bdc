// SPDX-License-Identifier: Apache-2.0
//
// ldb list_live_files_metadata: where the tables of each family are, by level or by name. The
// MANIFEST alone is read, and which names the directories have.
#include <algorithm>
#include <map>

#include "tools/ldb/command.h"
#include "tools/ldb/file_places.h"
#include "tools/ldb/manifest_state.h"
#include "tools/lib/output.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr size_t kUsualLevels = 7;

void PrintByLevel(const FilePlaces& places, const ManifestState& state) {
  for (const auto& [id, family] : state.families()) {
    PrintLine(StrCat("===== Column Family: ", family.name, " =====\nLive SST Files:"));
    const size_t levels = std::max(family.levels.size(), kUsualLevels);
    for (size_t level = 0; level < levels; level++) {
      PrintLine(StrCat("---------- level ", level, " ----------"));
      if (level >= family.levels.size()) continue;
      for (const FileMetadata& meta : family.levels[level]) {
        PrintLine(places.TablePath(meta.number));
      }
    }
    PrintLine("Live Blob Files:");
    for (const auto& [number, blob] : family.blobs) PrintLine(places.BlobPath(number));
  }
}

void PrintByName(const FilePlaces& places, const ManifestState& state) {
  std::map<std::string, std::string> lines;  // by path
  for (const auto& [id, family] : state.families()) {
    for (size_t level = 0; level < family.levels.size(); level++) {
      for (const FileMetadata& meta : family.levels[level]) {
        lines[places.TablePath(meta.number)] =
            StrCat(" : level ", level, ", column family '", family.name, "'");
      }
    }
    for (const auto& [number, blob] : family.blobs) {
      lines[places.BlobPath(number)] = StrCat(", column family '", family.name, "'");
    }
  }
  PrintLine("Live SST and Blob Files:");
  for (const auto& [path, place] : lines) PrintLine(StrCat(path, place));
}

}  // namespace

Status RunListLiveFiles(const Invocation& call) {
  FileSystem* const fs = FileSystem::Default().get();
  ASSIGN_OR_RETURN(const bool sorts_by_name, call.line->Bool("sort_by_filename"));
  ASSIGN_OR_RETURN(const std::string manifest, LiveManifestPath(fs, call.db));
  ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, manifest));
  ASSIGN_OR_RETURN(const FilePlaces places, FilePlaces::Find(fs, call, state));
  if (sorts_by_name) {
    PrintByName(places, state);
  } else {
    PrintByLevel(places, state);
  }
  PrintLine("------------------------------");
  return Status::OK();
}

}  // namespace ashlar
