// SPDX-License-Identifier: Apache-2.0
//
// Properties, estimates, and what the database says about itself.
#include <algorithm>

#include "db/db_impl.h"
#include "db/report/family_report.h"
#include "db/report/properties.h"
#include "db/report/report_properties.h"

namespace ashlar {
namespace {

// Nobody knows where in blob files a key lies: they are taken to be spread as the tables are.
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

std::vector<FamilyRef> DBImpl::PinAllFamilies() {
  MutexLock lock(&core_.mutex);
  return core_.families.PinAll();
}

bool DBImpl::GetProperty(ColumnFamilyHandle* handle, const Slice& property, std::string* value) {
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

Status DBImpl::ResetStats() {
  ResetReports(Sources());
  return Status::OK();
}

Status DBImpl::GetStatsHistory(uint64_t start_time, uint64_t end_time,
                               std::unique_ptr<StatsHistoryIterator>* stats_iterator) {
  if (stats_iterator == nullptr) {
    return Status::InvalidArgument("GetStatsHistory: stats_iterator is null");
  }
  *stats_iterator = reports_.History(start_time, end_time);
  return (*stats_iterator)->status();
}

PropertySources DBImpl::Sources() {
  return {&core_, &write_control_, &scheduler_, &compaction_registry_, &baselines_};
}

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
    if (options.include_files || options.include_blob_files) {
      const uint64_t bytes = version->ApproximateBytes(ranges[i].start, ranges[i].limit);
      if (options.include_files) sizes[i] += bytes;
      if (options.include_blob_files) sizes[i] += ShareOfBlobs(*version, bytes);
    }
    if (!options.include_memtables) continue;
    sizes[i] += super_version.mem()->EstimateRange(ranges[i].start, ranges[i].limit).bytes;
    for (MemTable* memtable : super_version.immutables()) {
      sizes[i] += memtable->EstimateRange(ranges[i].start, ranges[i].limit).bytes;
    }
  }
  return Status::OK();
}

void DBImpl::GetApproximateMemTableStats(ColumnFamilyHandle* handle, const Range& range,
                                         uint64_t* const count, uint64_t* const size) {
  *count = 0;
  *size = 0;
  if (handle == nullptr) return;
  const ReadView view = FamilyOf(handle)->AcquireView();
  const SuperVersion& super_version = *view.super_version();
  MemTable::RangeEstimate sum = super_version.mem()->EstimateRange(range.start, range.limit);
  for (MemTable* memtable : super_version.immutables()) {
    const MemTable::RangeEstimate part = memtable->EstimateRange(range.start, range.limit);
    sum.entries += part.entries;
    sum.bytes += part.bytes;
  }
  *count = sum.entries;
  *size = sum.bytes;
}

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

Status DBImpl::GetDbIdentity(std::string& identity) const {
  identity = core_.identity.db_id;
  return Status::OK();
}

Status DBImpl::GetDbSessionId(std::string& session_id) const {
  session_id = core_.identity.session_id;
  return Status::OK();
}

}  // namespace ashlar
