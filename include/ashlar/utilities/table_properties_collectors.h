// SPDX-License-Identifier: Apache-2.0
//
// Table property collectors that mark tables with certain contents for compaction.
//
// Thread safe. A factory may be used by several databases at the same time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/status.h"
#include "ashlar/table_properties.h"
#include "ashlar/types.h"

namespace ashlar {

// Marks a table for compaction if many of its entries are deletions: at least deletion_trigger of
// any sliding_window_size adjacent entries (off if either is 0), or at least the fraction
// deletion_ratio of all entries (off if it is outside (0, 1]). Tables below min_file_size bytes are
// not marked. Changed parameters take effect for new tables.
class ASHLAR_EXPORT CompactOnDeletionCollectorFactory : public TablePropertiesCollectorFactory {
 public:
  CompactOnDeletionCollectorFactory(size_t sliding_window_size, size_t deletion_trigger,
                                    double deletion_ratio, uint64_t min_file_size = 0)
      : sliding_window_size_(sliding_window_size),
        deletion_trigger_(deletion_trigger),
        deletion_ratio_(deletion_ratio),
        min_file_size_(min_file_size) {}
  ~CompactOnDeletionCollectorFactory() override {}

  TablePropertiesCollector* CreateTablePropertiesCollector(
      TablePropertiesCollectorFactory::Context context) override;

  void SetWindowSize(size_t sliding_window_size) {
    sliding_window_size_.store(sliding_window_size);
  }
  size_t GetWindowSize() const { return sliding_window_size_.load(); }
  void SetDeletionTrigger(size_t deletion_trigger) { deletion_trigger_.store(deletion_trigger); }
  size_t GetDeletionTrigger() const { return deletion_trigger_.load(); }
  void SetDeletionRatio(double deletion_ratio) { deletion_ratio_.store(deletion_ratio); }
  double GetDeletionRatio() const { return deletion_ratio_.load(); }
  void SetMinFileSize(uint64_t min_file_size) { min_file_size_.store(min_file_size); }
  uint64_t GetMinFileSize() const { return min_file_size_.load(); }

  static const char* kClassName() { return "CompactOnDeletionCollector"; }
  const char* Name() const override { return kClassName(); }
  using TablePropertiesCollectorFactory::ToString;
  std::string ToString() const override;

 private:
  // Independent parameters, written by the program and read when a table is begun.
  std::atomic<size_t> sliding_window_size_;
  std::atomic<size_t> deletion_trigger_;
  std::atomic<double> deletion_ratio_;
  std::atomic<uint64_t> min_file_size_;
};

// Creates such a factory; see above for the parameters.
ASHLAR_EXPORT std::shared_ptr<CompactOnDeletionCollectorFactory>
NewCompactOnDeletionCollectorFactory(size_t sliding_window_size, size_t deletion_trigger,
                                     double deletion_ratio = 0, uint64_t min_file_size = 0);

// Would mark a table if at least the given fraction of its entries belongs on the storage tier of
// the last level. The engine does not place data by age, so the factory creates no collectors.
class ASHLAR_EXPORT CompactForTieringCollectorFactory : public TablePropertiesCollectorFactory {
 public:
  explicit CompactForTieringCollectorFactory(double compaction_trigger_ratio)
      : compaction_trigger_ratio_(compaction_trigger_ratio) {}
  ~CompactForTieringCollectorFactory() override {}

  TablePropertiesCollector* CreateTablePropertiesCollector(
      TablePropertiesCollectorFactory::Context context) override;

  void SetCompactionTriggerRatio(double new_ratio) { compaction_trigger_ratio_.store(new_ratio); }
  double GetCompactionTriggerRatio() const { return compaction_trigger_ratio_.load(); }

  static const char* kClassName() { return "CompactForTieringCollector"; }
  const char* Name() const override { return kClassName(); }
  using TablePropertiesCollectorFactory::ToString;
  std::string ToString() const override;

 private:
  std::atomic<double> compaction_trigger_ratio_;
};

// Creates such a factory.
ASHLAR_EXPORT std::shared_ptr<CompactForTieringCollectorFactory>
NewCompactForTieringCollectorFactory(double compaction_trigger_ratio);

// When the data of tables was written, in seconds since 1970, as far as the tables record it.
struct DataCollectionUnixWriteTimeInfo {
  static constexpr uint64_t kUnknownUnixWriteTime = ~uint64_t{0};
  static constexpr uint64_t kInfinitelyOldUnixWriteTime = 0;

  uint64_t min_write_time = 0;
  uint64_t max_write_time = 0;
  uint64_t average_write_time = 0;
  uint64_t num_entries_infinitely_old = 0;  // older than all recorded times
  uint64_t num_entries_write_time_aggregated = 0;
  uint64_t num_entries_write_time_untracked = 0;

  DataCollectionUnixWriteTimeInfo() {}
  DataCollectionUnixWriteTimeInfo(uint64_t _min_write_time, uint64_t _max_write_time,
                                  uint64_t _average_write_time,
                                  uint64_t _num_entries_infinitely_old,
                                  uint64_t _num_entries_write_time_aggregated,
                                  uint64_t _num_entries_write_time_untracked)
      : min_write_time(_min_write_time),
        max_write_time(_max_write_time),
        average_write_time(_average_write_time),
        num_entries_infinitely_old(_num_entries_infinitely_old),
        num_entries_write_time_aggregated(_num_entries_write_time_aggregated),
        num_entries_write_time_untracked(_num_entries_write_time_untracked) {}

  bool DataCollectionIsEmpty() const {
    return num_entries_infinitely_old + num_entries_write_time_aggregated +
               num_entries_write_time_untracked ==
           0;
  }
  // Fraction of the entries whose time is known; 0 if there are no entries.
  double TrackedDataRatio() const {
    const uint64_t tracked = num_entries_infinitely_old + num_entries_write_time_aggregated;
    const uint64_t all = tracked + num_entries_write_time_untracked;
    return all == 0 ? 0.0 : static_cast<double>(tracked) / static_cast<double>(all);
  }
  bool HasInfinitelyOldData() const { return num_entries_infinitely_old != 0; }
};

// Return these times for one file, and for levels. NotSupported so far.
ASHLAR_EXPORT Status GetDataCollectionUnixWriteTimeInfoForFile(
    const std::shared_ptr<const TableProperties>& table_properties,
    std::unique_ptr<DataCollectionUnixWriteTimeInfo>* file_info);
ASHLAR_EXPORT Status GetDataCollectionUnixWriteTimeInfoForLevels(
    const std::vector<std::unique_ptr<TablePropertiesCollection>>& levels_table_properties,
    std::vector<std::unique_ptr<DataCollectionUnixWriteTimeInfo>>* levels_info);

}  // namespace ashlar
