// SPDX-License-Identifier: Apache-2.0
//
// Steps that move entries to other places, change options, take snapshots, ingest tables, or copy
// databases and families.
#include <rocksdb/convenience.h>
#include <rocksdb/metadata.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/checkpoint.h>

#include <algorithm>

#include "session.h"

namespace differential {

void Session::Flush(Draw* draw) {
  const size_t index = AnyFamily(draw);
  if (session_.is_fragile) return Print("flush: not in a fragile session\n");
  const rocksdb::Status status = draw->OneIn(4)
                                     ? db_->Flush(rocksdb::FlushOptions(), handles_)
                                     : db_->Flush(rocksdb::FlushOptions(), handles_[index]);
  Print("flush %zu: %s\n", index, Show(status).c_str());
}

void Session::Compact(Draw* draw) {
  const size_t index = AnyFamily(draw);
  if (session_.is_fragile) return Print("compact: not in a fragile session\n");
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = draw->OneIn(2);
  if (draw->OneIn(3)) {
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  }
  options.max_subcompactions = draw->Of<uint32_t>({0, 2});
  const auto [begin, end] = Range(index, draw);
  const rocksdb::Slice begin_slice(begin), end_slice(end);
  const bool is_part = draw->OneIn(2);
  const rocksdb::Status status = db_->CompactRange(
      options, handles_[index], is_part ? &begin_slice : nullptr, is_part ? &end_slice : nullptr);
  Print("compact %zu: %s\n", index, Show(status).c_str());
}

// The files in the range differ between the databases, so their entries are deleted, too.
void Session::DeleteFiles(Draw* draw) {
  const size_t index = AnyFamily(draw);
  const auto [begin, end] = Range(index, draw);
  ReleaseSnapshots();
  const rocksdb::Slice begin_slice(begin), end_slice(end);
  rocksdb::Status status =
      rocksdb::DeleteFilesInRange(db_.get(), handles_[index], &begin_slice, &end_slice);
  const rocksdb::WriteOptions options;
  if (status.ok()) status = db_->DeleteRange(options, handles_[index], begin, end);
  if (status.ok()) status = db_->Delete(options, handles_[index], end);
  Print("delete files %zu %s %s: %s\n", index, Show(begin).c_str(), Show(end).c_str(),
        Show(status).c_str());
}

void Session::ChangeOptions(Draw* draw) {
  const size_t index = AnyFamily(draw);
  if (!session_.may_change_extractor[index]) return Print("options: better not\n");
  const char* const text = draw->Of<const char*>({"nullptr", "fixed:2", "fixed:3", "capped:3"});
  const uint64_t merges = draw->Below(4);
  const rocksdb::Status status = db_->SetOptions(
      handles_[index],
      {{"prefix_extractor", text}, {"max_successive_merges", std::to_string(merges)}});
  Print("options %zu %s: %s\n", index, text, Show(status).c_str());
  if (!status.ok()) return;
  extractors_[index].reset();
  const std::string kind(text);
  if (kind == "fixed:2") extractors_[index].reset(rocksdb::NewFixedPrefixTransform(2));
  if (kind == "fixed:3") extractors_[index].reset(rocksdb::NewFixedPrefixTransform(3));
  if (kind == "capped:3") extractors_[index].reset(rocksdb::NewCappedPrefixTransform(3));
}

void Session::TakeSnapshot(Draw*) {
  snapshots_.push_back(db_->GetSnapshot());
  Print("snapshot at %s\n", SequenceText().c_str());
}

void Session::ReleaseSnapshot(Draw* draw) {
  if (snapshots_.empty()) return Print("no snapshot\n");
  const size_t chosen = draw->Below(snapshots_.size());
  CloseCursorsOf(snapshots_[chosen]);
  db_->ReleaseSnapshot(snapshots_[chosen]);
  snapshots_.erase(snapshots_.begin() + static_cast<ptrdiff_t>(chosen));
  Print("released\n");
}

void Session::ReleaseSnapshots() {
  for (const rocksdb::Snapshot* snapshot : snapshots_) {
    CloseCursorsOf(snapshot);
    db_->ReleaseSnapshot(snapshot);
  }
  snapshots_.clear();
}

void Session::PrintProperties(Draw* draw) {
  const size_t index = AnyFamily(draw);
  Print("sequence %s", SequenceText().c_str());
  for (const char* name :
       {"rocksdb.num-snapshots", "rocksdb.oldest-snapshot-sequence", "rocksdb.background-errors",
        "rocksdb.is-write-stopped", "rocksdb.is-file-deletions-enabled"}) {
    std::string value;
    const bool is_there = db_->GetProperty(handles_[index], name, &value);
    const bool is_number = name == std::string("rocksdb.oldest-snapshot-sequence");
    if (is_number && shape_.ingests) continue;
    Print(" %s=%s", name + 8, is_there ? value.c_str() : "none");
  }
  if (draw->OneIn(4)) Print(" checksums %s", Show(db_->VerifyChecksum()).c_str());
  Print("\n");
}

rocksdb::Status Session::WriteTable(size_t index, const std::string& path, Draw* draw) {
  const rocksdb::Options options(session_.db_options, family_options_[index]);
  const rocksdb::Comparator* const order = options.comparator;
  std::vector<std::string> keys;
  for (uint64_t i = 0, count = 1 + draw->Below(40); i < count; i++) keys.push_back(Key(draw));
  std::sort(keys.begin(), keys.end(), [order](const std::string& a, const std::string& b) {
    return order->Compare(a, b) < 0;
  });
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options, handles_[index]);
  rocksdb::Status status = writer.Open(path);
  for (const std::string& key : keys) {
    if (!status.ok()) break;
    const uint64_t kind = draw->Below(8);
    if (kind < 5) {
      status = writer.Put(key, Value(index, draw));
    } else if (kind < 6 || family(index).operator_name.empty()) {
      status = writer.Delete(key);
    } else {
      status = writer.Merge(key, Operand(index, key, draw));
    }
  }
  for (uint64_t i = draw->Below(4); i > 1 && status.ok(); i--) {
    const auto [begin, end] = Range(index, draw);
    if (begin != end) status = writer.DeleteRange(begin, end);
  }
  return status.ok() ? writer.Finish() : status;
}

void Session::Ingest(Draw* draw) {
  const size_t index = AnyFamily(draw);
  if (!shape_.ingests || session_.is_fragile) return Print("ingest: not here\n");
  const std::string path = dir_ + ".table" + std::to_string(step_) + ".sst";
  rocksdb::Status status = WriteTable(index, path, draw);
  rocksdb::IngestExternalFileOptions options;
  options.move_files = draw->OneIn(2);
  options.write_global_seqno = draw->OneIn(3);
  options.verify_checksums_before_ingest = draw->OneIn(2);
  if (status.ok()) status = db_->IngestExternalFile(handles_[index], {path}, options);
  remove(path.c_str());  // unless it was moved
  Print("ingest %zu: %s\n", index, Show(status).c_str());
}

void Session::Checkpoint(Draw* draw) {
  if (session_.is_fragile) return Print("checkpoint: not in a fragile session\n");
  const std::string copy = dir_ + ".copy" + std::to_string(step_);
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(db_.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (status.ok()) {
    status = checkpoint->CreateCheckpoint(copy, draw->Of<uint64_t>({0, 0, 1 << 20}));
  }
  Print("checkpoint: %s", Show(status).c_str());
  if (status.ok()) {
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (size_t i = 0; i < shape_.families.size(); i++) {
      families.emplace_back(shape_.families[i].name, family_options_[i]);
    }
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* opened = nullptr;
    status = rocksdb::DB::OpenForReadOnly(session_.db_options, copy, families, &handles, &opened);
    const std::unique_ptr<rocksdb::DB> db(opened);
    Print(" opened: %s", Show(status).c_str());
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      PrintRows(db.get(), handle);
      delete handle;
    }
  }
  const rocksdb::Status destroyed = rocksdb::DestroyDB(copy, rocksdb::Options());
  Print(" destroyed: %s\n", Show(destroyed).c_str());
}

namespace {

// RocksDB 7.8 takes the bounds of imported tables from point entries alone: it loses tombstones
// beyond them, and aborts at a table without points.
bool HasRangeTombstones(const rocksdb::Options& options,
                        const rocksdb::ExportImportFilesMetaData& metadata) {
  for (const rocksdb::LiveFileMetaData& file : metadata.files) {
    rocksdb::SstFileReader reader(options);
    if (!reader.Open(file.db_path + "/" + file.name).ok()) continue;
    const auto properties = reader.GetTableProperties();
    if (properties->num_range_deletions != 0) return true;
  }
  return false;
}

}  // namespace

// RocksDB does not export blob files.
void Session::ExportAndImport(Draw* draw) {
  const size_t index = AnyFamily(draw);
  if (session_.is_fragile || family(index).has_blobs) return Print("export: not here\n");
  const std::string folder = dir_ + ".export" + std::to_string(step_);
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(db_.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  rocksdb::ExportImportFilesMetaData* files = nullptr;
  if (status.ok()) status = checkpoint->ExportColumnFamily(handles_[index], folder, &files);
  const std::unique_ptr<rocksdb::ExportImportFilesMetaData> metadata(files);
  Print("export %zu: %s", index, Show(status).c_str());
  const rocksdb::Options family_options(session_.db_options, family_options_[index]);
  if (status.ok() && session_.is_rocksdb && HasRangeTombstones(family_options, *metadata)) {
    Print(" import: OK");  // the text for a successful import
    PrintRows(db_.get(), handles_[index]);
    Print(" drop: OK");
  } else if (status.ok() && !metadata->files.empty()) {
    rocksdb::ImportColumnFamilyOptions options;
    options.move_files = draw->OneIn(2);
    rocksdb::ColumnFamilyHandle* imported = nullptr;
    status = db_->CreateColumnFamilyWithImport(family_options_[index], "imported", options,
                                               *metadata, &imported);
    Print(" import: %s", Show(status).c_str());
    if (status.ok()) {
      PrintRows(db_.get(), imported);
      status = db_->DropColumnFamily(imported);
      if (status.ok()) status = db_->DestroyColumnFamilyHandle(imported);
      Print(" drop: %s", Show(status).c_str());
    }
  }
  Print("\n");
  std::vector<std::string> names;
  rocksdb::Env* const env = rocksdb::Env::Default();
  if (!env->GetChildren(folder, &names).ok()) return;
  for (const std::string& name : names) remove((folder + "/" + name).c_str());
  remove(folder.c_str());
}

}  // namespace differential
