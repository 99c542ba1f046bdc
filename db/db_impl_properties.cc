// SPDX-License-Identifier: Apache-2.0
//
// Properties, estimates, and other facts about the database.
#include <algorithm>
#include <cassert>

#include "db/db_impl.h"
#include "db/report/family_report.h"
#include "db/report/properties.h"
#include "db/report/report_properties.h"
#include "util/keys/stored_key.h"

namespace ashlar {
namespace {

// It is not known where in blob files a key range lies, so blobs are assumed to be spread like
// table bytes.
uint64_t ShareOfBlobs(const Version& version, uint64_t table_bytes) {
  uint64_t all_bytes = 0;
  for (Level level = 0; level < version.num_levels(); ++level) {
    all_bytes += version.level_bytes(level);
  }
  if (all_bytes == 0) return 0;
  const double share = static_cast<double>(table_bytes) / static_cast<double>(all_bytes);
  const auto blob_bytes = static_cast<double>(BlobTotalsOf(version).bytes);
  return static_cast<uint64_t>(blob_bytes * std::min(share, 1.0));
}

}  // namespace

// References on all families that are not dropped.
std::vector<FamilyRef> DBImpl::PinAllFamilies() {
  MutexLock lock(&core_.mutex);
  return core_.families.PinAll();
}

// Properties of a null handle are unknown, because the call has no status.
bool DBImpl::GetProperty(ColumnFamilyHandle* handle, const Slice& property, std::string* value) {
  assert(value != nullptr);
  value->clear();
  if (handle == nullptr) return false;
  return GetTextProperty(Sources(), FamilyOf(handle), property, value);
}

bool DBImpl::GetMapProperty(ColumnFamilyHandle* handle, const Slice& property,
                            std::map<std::string, std::string>* value) {
  if (handle == nullptr) return false;
  return ashlar::GetMapProperty(Sources(), FamilyOf(handle), property, value);
}

bool DBImpl::GetIntProperty(ColumnFamilyHandle* handle, const Slice& property, uint64_t* value) {
  if (handle == nullptr) return false;
  return ashlar::GetIntProperty(Sources(), FamilyOf(handle), property, value);
}

bool DBImpl::GetAggregatedIntProperty(const Slice& property, uint64_t* value) {
  return ashlar::GetAggregatedIntProperty(Sources(), property, value);
}

// Resets what properties report since the last reset; tickers of a Statistics object are not
// touched.
Status DBImpl::ResetStats() {
  ResetReports(Sources());
  return Status::OK();
}

// The iterator's status is returned at once, because it is positioned already.
Status DBImpl::GetStatsHistory(uint64_t start_time, uint64_t end_time,
                               std::unique_ptr<StatsHistoryIterator>* stats_iterator) {
  if (stats_iterator == nullptr) {
    return Status::InvalidArgument("GetStatsHistory: stats_iterator is null");
  }
  *stats_iterator = reports_.History(start_time, end_time);
  return (*stats_iterator)->status();
}

// Only pointers, so this is cheap enough to be made for each call.
PropertySources DBImpl::Sources() {
  return {&core_, &write_control_, &scheduler_, &compaction_registry_, &baselines_};
}

// Estimates by the sizes of blocks and memtable nodes: no entry is read.
Status DBImpl::GetApproximateSizes(const SizeApproximationOptions& options,
                                   ColumnFamilyHandle* handle, const Range* ranges, int n,
                                   uint64_t* sizes) {
  if (!options.include_memtables && !options.include_files) {
    return Status::InvalidArgument(
        "GetApproximateSizes: neither include_files nor include_memtables is set");
  }
  RETURN_IF_ERROR(CheckHandle(handle));
  const ReadView view = FamilyOf(handle)->AcquireView();
  const SuperVersion& super_version = *view.super_version();
  const Version* version = super_version.version();
  for (int i = 0; i < n; i++) {
    sizes[i] = 0;
    const StoredKey start(version->comparator(), &ranges[i].start);
    const StoredKey limit(version->comparator(), &ranges[i].limit);
    if (options.include_files || options.include_blob_files) {
      const uint64_t bytes = version->ApproximateBytes(*start, *limit);
      if (options.include_files) sizes[i] += bytes;
      if (options.include_blob_files) sizes[i] += ShareOfBlobs(*version, bytes);
    }
    if (!options.include_memtables) continue;
    sizes[i] += super_version.mem()->EstimateRange(*start, *limit).bytes;
    for (MemTable* memtable : super_version.immutables()) {
      sizes[i] += memtable->EstimateRange(*start, *limit).bytes;
    }
  }
  return Status::OK();
}

// Sums up the active and the immutable memtables.
void DBImpl::GetApproximateMemTableStats(ColumnFamilyHandle* handle, const Range& range,
                                         uint64_t* const count, uint64_t* const size) {
  assert(count != nullptr);
  assert(size != nullptr);
  *count = 0;
  *size = 0;
  if (handle == nullptr) return;
  const ReadView view = FamilyOf(handle)->AcquireView();
  const SuperVersion& super_version = *view.super_version();
  const InternalKeyComparator& order = super_version.version()->comparator();
  const StoredKey start(order, &range.start), limit(order, &range.limit);
  MemTable::RangeEstimate sum = super_version.mem()->EstimateRange(*start, *limit);
  for (MemTable* memtable : super_version.immutables()) {
    const MemTable::RangeEstimate part = memtable->EstimateRange(*start, *limit);
    sum.entries += part.entries;
    sum.bytes += part.bytes;
  }
  *count = sum.entries;
  *size = sum.bytes;
}

// The option as it is now; 0 for a null handle.
int DBImpl::NumberLevels(ColumnFamilyHandle* handle) {
  if (handle == nullptr) return 0;
  MutexLock lock(&core_.mutex);
  return FamilyOf(handle)->options().num_levels;
}

int DBImpl::Level0StopWriteTrigger(ColumnFamilyHandle* handle) {
  if (handle == nullptr) return 0;
  MutexLock lock(&core_.mutex);
  return FamilyOf(handle)->options().level0_stop_writes_trigger;
}

// The id in the file IDENTITY: it stays the same over all openings. Constant while the database is
// open, so no lock is needed.
Status DBImpl::GetDbIdentity(std::string& identity) const {
  identity = core_.identity.db_id;
  return Status::OK();
}

// The id of this opening. Files that it creates carry it in their properties.
Status DBImpl::GetDbSessionId(std::string& session_id) const {
  session_id = core_.identity.session_id;
  return Status::OK();
}

}  // namespace ashlar
