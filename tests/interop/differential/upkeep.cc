// SPDX-License-Identifier: Apache-2.0
//
// Steps that move entries to other places, change options, or take snapshots.
#include <rocksdb/convenience.h>
#include <rocksdb/slice_transform.h>

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

}  // namespace differential
