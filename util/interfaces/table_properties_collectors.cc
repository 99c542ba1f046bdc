// SPDX-License-Identifier: Apache-2.0
//
// The collector that finds files, or parts of files, with many deletions. It keeps one bit for each
// entry of a sliding window in a ring.
#include "ashlar/utilities/table_properties_collectors.h"

#include <cassert>

#include "util/text/str_cat.h"

namespace ashlar {

namespace {

bool IsDeletion(EntryType type) {
  return type == kEntryDelete || type == kEntrySingleDelete || type == kEntryDeleteWithTimestamp;
}

// The options of the factory at the time when the collector was made.
struct DeletionLimits {
  size_t window_entries;    // 0: no window
  size_t window_deletions;  // 0: no window
  double ratio;             // ignored if outside (0, 1]
  uint64_t min_file_bytes;
};

// Used by one table builder, in the order of the entries.
class CompactOnDeletionCollector final : public TablePropertiesCollector {
 public:
  explicit CompactOnDeletionCollector(const DeletionLimits& limits)
      : limits_(limits),
        has_window_(limits.window_entries != 0 && limits.window_deletions != 0),
        was_deletion_(has_window_ ? limits.window_entries : 0) {}

  // Called for each entry in the order of the table.
  Status AddUserKey(const Slice&, const Slice&, EntryType type, SequenceNumber,
                    uint64_t file_size) override {
    const bool is_deletion = IsDeletion(type);
    ++entry_count_;
    deletion_count_ += is_deletion;
    file_bytes_ = file_size;
    if (has_window_) AddToWindow(is_deletion);
    return Status::OK();
  }

  // The size of the file is known only now.
  Status Finish(UserCollectedProperties*) override {
    const bool has_ratio = limits_.ratio > 0 && limits_.ratio <= 1 && entry_count_ > 0;
    const bool exceeds_ratio = has_ratio && static_cast<double>(deletion_count_) >=
                                                limits_.ratio * static_cast<double>(entry_count_);
    need_compact_ =
        (window_was_full_of_deletions_ || exceeds_ratio) && file_bytes_ >= limits_.min_file_bytes;
    return Status::OK();
  }
  UserCollectedProperties GetReadableProperties() const override { return {}; }
  const char* Name() const override { return CompactOnDeletionCollectorFactory::kClassName(); }
  bool NeedCompact() const override { return need_compact_; }

 private:
  // Replaces the oldest entry of the window.
  void AddToWindow(bool is_deletion) {
    assert(entry_count_ > 0);
    assert(!was_deletion_.empty());
    const size_t slot = (entry_count_ - 1) % was_deletion_.size();
    deletions_in_window_ += is_deletion;
    assert(!was_deletion_[slot] || deletions_in_window_ > 0);
    deletions_in_window_ -= was_deletion_[slot];  // false until the ring is full
    was_deletion_[slot] = is_deletion;
    if (deletions_in_window_ >= limits_.window_deletions) window_was_full_of_deletions_ = true;
  }

  const DeletionLimits limits_;
  const bool has_window_;
  std::vector<bool> was_deletion_;  // for the last `window_entries` entries
  size_t deletions_in_window_ = 0;
  bool window_was_full_of_deletions_ = false;
  uint64_t entry_count_ = 0;
  uint64_t deletion_count_ = 0;
  uint64_t file_bytes_ = 0;
  bool need_compact_ = false;
};

}  // namespace

TablePropertiesCollector* CompactOnDeletionCollectorFactory::CreateTablePropertiesCollector(
    TablePropertiesCollectorFactory::Context) {
  return new CompactOnDeletionCollector({.window_entries = GetWindowSize(),
                                         .window_deletions = GetDeletionTrigger(),
                                         .ratio = GetDeletionRatio(),
                                         .min_file_bytes = GetMinFileSize()});
}

// Programs search the info log for this text, which is RocksDB's.
std::string CompactOnDeletionCollectorFactory::ToString() const {
  return StrCat(Name(), " (Sliding window size = ", GetWindowSize(),
                " Deletion trigger = ", GetDeletionTrigger(),
                " Deletion ratio = ", GetDeletionRatio(), ")");
}

std::shared_ptr<CompactOnDeletionCollectorFactory> NewCompactOnDeletionCollectorFactory(
    size_t sliding_window_size, size_t deletion_trigger, double deletion_ratio,
    uint64_t min_file_size) {
  return std::make_shared<CompactOnDeletionCollectorFactory>(sliding_window_size, deletion_trigger,
                                                             deletion_ratio, min_file_size);
}

// The tiering collector does not exist yet: no table asks for a compaction because of it.
TablePropertiesCollector* CompactForTieringCollectorFactory::CreateTablePropertiesCollector(
    TablePropertiesCollectorFactory::Context) {
  return nullptr;
}

std::string CompactForTieringCollectorFactory::ToString() const {
  return StrCat(Name(), " (ratio ", GetCompactionTriggerRatio(), ")");
}

std::shared_ptr<CompactForTieringCollectorFactory> NewCompactForTieringCollectorFactory(
    double compaction_trigger_ratio) {
  return std::make_shared<CompactForTieringCollectorFactory>(compaction_trigger_ratio);
}

Status GetDataCollectionUnixWriteTimeInfoForFile(
    const std::shared_ptr<const TableProperties>&,
    std::unique_ptr<DataCollectionUnixWriteTimeInfo>*) {
  return Status::NotSupported("GetDataCollectionUnixWriteTimeInfoForFile: not built yet");
}
Status GetDataCollectionUnixWriteTimeInfoForLevels(
    const std::vector<std::unique_ptr<TablePropertiesCollection>>&,
    std::vector<std::unique_ptr<DataCollectionUnixWriteTimeInfo>>*) {
  return Status::NotSupported("GetDataCollectionUnixWriteTimeInfoForLevels: not built yet");
}

}  // namespace ashlar
