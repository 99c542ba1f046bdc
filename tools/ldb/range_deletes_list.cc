// SPDX-License-Identifier: Apache-2.0
//
// ldb list_file_range_deletes: the range tombstones that the tables of a family hold, table by
// table. The database is not opened.
#include <memory>

#include "tools/ldb/command.h"
#include "tools/ldb/file_places.h"
#include "tools/ldb/manifest_state.h"
#include "tools/lib/output.h"
#include "tools/lib/table_inspector.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class Lister {
 public:
  explicit Lister(int64_t most) : left_(most) {}

  bool IsFull() const { return left_ == 0; }
  Status List(FileSystem* fs, const std::string& path) {
    ASSIGN_OR_RETURN(const std::unique_ptr<TableInspector> table, TableInspector::Open(fs, path));
    PrintLine(StrCat("=== file : ", path, " ==="));
    return table->ForEachTombstone([this](const Slice& key, const Slice& end) {
      if (IsFull()) return Status::OK();
      left_--;
      PrintLine(StrCat("start: ", ExtractUserKey(key).ToString(/*hex=*/true), " end: ",
                       end.ToString(/*hex=*/true), " seq: ", TrailerSeqno(ExtractTrailer(key))));
      return Status::OK();
    });
  }

 private:
  int64_t left_;
};

}  // namespace

Status RunListFileRangeDeletes(const Invocation& call) {
  ASSIGN_OR_RETURN(const int64_t most, call.line->Number("max_keys", 1000));
  if (most < 0) return Status::InvalidArgument("--max_keys must not be negative");
  FileSystem* const fs = FileSystem::Default().get();
  ASSIGN_OR_RETURN(const std::string manifest, LiveManifestPath(fs, call.db));
  ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, manifest));
  const FamilyState* const family = state.Family(call.family);
  if (family == nullptr) {
    return Status::InvalidArgument(StrCat("no column family is called \"", call.family, "\""));
  }
  ASSIGN_OR_RETURN(const FilePlaces places, FilePlaces::Find(fs, call, state));
  Lister lister(most);
  for (const std::vector<FileMetadata>& level : family->levels) {
    for (const FileMetadata& meta : level) {
      if (lister.IsFull()) break;
      RETURN_IF_ERROR(lister.List(fs, places.TablePath(meta.number)));
    }
  }
  if (lister.IsFull()) PrintLine("(results may not be complete)");
  PrintLine("");
  return Status::OK();
}

}  // namespace ashlar
