// SPDX-License-Identifier: Apache-2.0
//
// Commands on the database as a whole: how large a range is, compaction, whether the files are what
// the MANIFEST says, properties.
#include <map>
#include <memory>

#include "ashlar/utilities/checkpoint.h"
#include "env/file_util.h"
#include "tools/ldb/command.h"
#include "tools/ldb/file_places.h"
#include "tools/ldb/manifest_state.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/output.h"
#include "tools/lib/table_inspector.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

Result<std::string> RequiredKey(const Invocation& call, std::string_view flag) {
  const std::optional<std::string> text = call.line->Value(flag);
  if (!text) return Status::InvalidArgument(StrCat("--", flag, " must be given"));
  return call.KeyFrom(*text);
}

// A table against its record. Opening it as the engine does verifies what a reader has in memory:
// footer, properties, index, filter, range tombstones. Data blocks are the business of sst_dump
// --command=verify.
Status CheckTable(FileSystem* fs, const std::string& path, const FileMetadata& meta) {
  ASSIGN_OR_RETURN(const uint64_t bytes, FileSizeOf(fs, path));
  if (bytes != meta.file_size) {
    return Status::Corruption(
        StrCat(path, ": the MANIFEST says ", meta.file_size, " bytes, the file has ", bytes));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<TableInspector> table, TableInspector::Open(fs, path));
  const Status opened = table->Reader().status();
  // What this engine lacks is no damage.
  return opened.IsNotSupported() ? Status::OK() : opened;
}

Status CheckBlobFile(FileSystem* fs, const std::string& path, const BlobFileAddition& added) {
  ASSIGN_OR_RETURN(const uint64_t bytes, FileSizeOf(fs, path));
  if (bytes == added.file_bytes()) return Status::OK();
  return Status::Corruption(
      StrCat(path, ": the MANIFEST says ", added.file_bytes(), " bytes, the file has ", bytes));
}

Status CheckOrder(const FamilyState& family, size_t level) {
  const Comparator* comparator = OrderOfBoundaries(family);
  if (comparator == nullptr) return Status::OK();
  const InternalKeyComparator order(comparator);
  const std::vector<FileMetadata>& files = family.levels[level];
  for (size_t i = 0; i < files.size(); i++) {
    if (order.Compare(files[i].smallest, files[i].largest) > 0) {
      return Status::Corruption(StrCat("file ", files[i].number, " of column family ", family.name,
                                       ": its smallest key sorts after its largest"));
    }
    if (level > 0 && i > 0 && order.Compare(files[i - 1].largest, files[i].smallest) >= 0) {
      return Status::Corruption(StrCat("files ", files[i - 1].number, " and ", files[i].number,
                                       " of column family ", family.name, ", level ", level,
                                       ": their key ranges overlap"));
    }
  }
  return Status::OK();
}

Status CheckFamily(FileSystem* fs, const FilePlaces& places, const FamilyState& family) {
  for (size_t level = 0; level < family.levels.size(); level++) {
    RETURN_IF_ERROR(CheckOrder(family, level));
    for (const FileMetadata& meta : family.levels[level]) {
      RETURN_IF_ERROR(CheckTable(fs, places.TablePath(meta.number), meta));
    }
  }
  for (const auto& [number, blob] : family.blobs) {
    RETURN_IF_ERROR(CheckBlobFile(fs, places.BlobPath(number), blob.added));
  }
  return Status::OK();
}

}  // namespace

Status RunApproxSize(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string from, RequiredKey(call, "from"));
  ASSIGN_OR_RETURN(const std::string to, RequiredKey(call, "to"));
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  const Range range(from, to);
  uint64_t bytes = 0;
  RETURN_IF_ERROR(
      (*db)->GetApproximateSizes(SizeApproximationOptions(), family, &range, 1, &bytes));
  PrintLine(StrCat(bytes));
  return Status::OK();
}

Status RunCompact(const Invocation& call) {
  std::string from, to;
  if (call.line->Has("from")) {
    ASSIGN_OR_RETURN(from, RequiredKey(call, "from"));
  }
  if (call.line->Has("to")) {
    ASSIGN_OR_RETURN(to, RequiredKey(call, "to"));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  const Slice begin(from), end(to);
  const Heartbeat heartbeat("compacting");
  RETURN_IF_ERROR((*db)->CompactRange(CompactRangeOptions(), family,
                                      call.line->Has("from") ? &begin : nullptr,
                                      call.line->Has("to") ? &end : nullptr));
  return db->Close();
}

// The database is not opened, so that also those with features this engine lacks can be checked.
Status RunCheckConsistency(const Invocation& call) {
  FileSystem* const fs = FileSystem::Default().get();
  ASSIGN_OR_RETURN(const std::string manifest, LiveManifestPath(fs, call.db));
  ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, manifest));
  ASSIGN_OR_RETURN(const FilePlaces places, FilePlaces::Find(fs, call, state));
  const Heartbeat heartbeat("checking");
  for (const auto& [id, family] : state.families()) {
    RETURN_IF_ERROR(CheckFamily(fs, places, family));
  }
  PrintLine("OK");
  return Status::OK();
}

Status RunGetProperty(const Invocation& call) {
  const std::string& name = call.arguments[0];
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  std::map<std::string, std::string> map;
  if ((*db)->GetMapProperty(family, name, &map)) {
    for (const auto& [key, fact] : map) PrintLine(StrCat(name, ".", key, ": ", fact));
    return Status::OK();
  }
  std::string value;
  if (!(*db)->GetProperty(family, name, &value)) {
    return Status::InvalidArgument(StrCat("no property is called \"", name, "\""));
  }
  PrintLine(StrCat(name, ": ", value));
  return Status::OK();
}

// The database is opened for writing: what is in its logs goes to tables first.
Status RunCheckpoint(const Invocation& call) {
  const std::string dir = call.line->Value("checkpoint_dir").value_or("");
  if (dir.empty()) return Status::InvalidArgument("checkpoint needs --checkpoint_dir=<directory>");
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  Checkpoint* made = nullptr;
  RETURN_IF_ERROR(Checkpoint::Create(db->get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  {
    const Heartbeat heartbeat("making a checkpoint");
    RETURN_IF_ERROR(checkpoint->CreateCheckpoint(dir));
  }
  RETURN_IF_ERROR(db->Close());
  PrintLine("OK");
  return Status::OK();
}

}  // namespace ashlar
