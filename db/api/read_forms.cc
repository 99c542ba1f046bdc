// SPDX-License-Identifier: Apache-2.0
//
// Convenience forms of reads: without a handle, into strings and vectors, asynchronous. All of them
// call the forms with PinnableSlice that a database implements.
#include <cassert>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ashlar/attribute_groups.h"
#include "ashlar/db.h"
#include "ashlar/iostats_context.h"
#include "ashlar/perf_context.h"

namespace ashlar {

// If the database had to copy the value, it is already in the string; if the value is pinned, it is
// copied here.
Status DB::Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               std::string* value, std::string* timestamp) {
  PinnableSlice pinned(value);
  Status status = Get(options, column_family, key, &pinned, timestamp);
  if (status.ok() && pinned.IsPinned()) value->assign(pinned.data(), pinned.size());
  return status;
}
// Forms without a timestamp, or without a handle.
Status DB::Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               PinnableSlice* value) {
  return Get(options, column_family, key, value, /*timestamp=*/nullptr);
}
Status DB::Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               std::string* value) {
  return Get(options, column_family, key, value, /*timestamp=*/nullptr);
}
Status DB::Get(const ReadOptions& options, const Slice& key, std::string* value) {
  return Get(options, DefaultColumnFamily(), key, value, /*timestamp=*/nullptr);
}
Status DB::Get(const ReadOptions& options, const Slice& key, std::string* value,
               std::string* timestamp) {
  return Get(options, DefaultColumnFamily(), key, value, timestamp);
}

// Into strings. A value of a key that was not found is empty.
std::vector<Status> DB::MultiGet(const ReadOptions& options,
                                 const std::vector<ColumnFamilyHandle*>& column_families,
                                 const std::vector<Slice>& keys, std::vector<std::string>* values,
                                 std::vector<std::string>* timestamps) {
  assert(values != nullptr);
  const size_t key_count = keys.size();
  values->resize(key_count);
  if (timestamps != nullptr) timestamps->resize(key_count);
  if (column_families.size() != key_count) {
    return std::vector<Status>(
        key_count, Status::InvalidArgument("DB::MultiGet: as many column families as keys"));
  }
  std::vector<Status> statuses(key_count);
  if (key_count == 0) return statuses;
  // A PinnableSlice is constructed around each string, so that a value which must be copied anyway
  // is copied only once.
  std::vector<PinnableSlice> pinned;
  pinned.reserve(key_count);
  for (std::string& value : *values) pinned.emplace_back(&value);
  std::vector<ColumnFamilyHandle*> families(column_families);
  MultiGet(options, key_count, families.data(), keys.data(), pinned.data(),
           timestamps == nullptr ? nullptr : timestamps->data(), statuses.data(),
           /*sorted_input=*/false);
  for (size_t i = 0; i < key_count; ++i) {
    if (!statuses[i].ok()) {
      (*values)[i].clear();
    } else if (pinned[i].IsPinned()) {
      (*values)[i].assign(pinned[i].data(), pinned[i].size());
    }
  }
  return statuses;
}
// Forms without timestamps, or for one family.
std::vector<Status> DB::MultiGet(const ReadOptions& options,
                                 const std::vector<ColumnFamilyHandle*>& column_family,
                                 const std::vector<Slice>& keys, std::vector<std::string>* values) {
  return MultiGet(options, column_family, keys, values, /*timestamps=*/nullptr);
}
std::vector<Status> DB::MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                 std::vector<std::string>* values) {
  return MultiGet(options, keys, values, /*timestamps=*/nullptr);
}
std::vector<Status> DB::MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                 std::vector<std::string>* values,
                                 std::vector<std::string>* timestamps) {
  const std::vector<ColumnFamilyHandle*> families(keys.size(), DefaultColumnFamily());
  return MultiGet(options, families, keys, values, timestamps);
}
void DB::MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family,
                  const size_t num_keys, const Slice* keys, PinnableSlice* values,
                  std::string* timestamps, Status* statuses, const bool sorted_input) {
  // One database call for the whole batch: the array of handles costs little in comparison.
  constexpr size_t kOnStack = 64;
  ColumnFamilyHandle* on_stack[kOnStack];
  std::unique_ptr<ColumnFamilyHandle*[]> on_heap;
  ColumnFamilyHandle** families = on_stack;
  if (num_keys > kOnStack) {
    on_heap.reset(new ColumnFamilyHandle*[num_keys]);
    families = on_heap.get();
  }
  for (size_t i = 0; i < num_keys; ++i) families[i] = column_family;
  MultiGet(options, num_keys, families, keys, values, timestamps, statuses, sorted_input);
}
// Forms with arrays but without timestamps.
void DB::MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family,
                  const size_t num_keys, const Slice* keys, PinnableSlice* values, Status* statuses,
                  const bool sorted_input) {
  MultiGet(options, column_family, num_keys, keys, values, /*timestamps=*/nullptr, statuses,
           sorted_input);
}
void DB::MultiGet(const ReadOptions& options, const size_t num_keys,
                  ColumnFamilyHandle** column_families, const Slice* keys, PinnableSlice* values,
                  Status* statuses, const bool sorted_input) {
  MultiGet(options, num_keys, column_families, keys, values, /*timestamps=*/nullptr, statuses,
           sorted_input);
}

namespace {

// Reads the groups of all keys in one call, so all show the state of one moment.
void ReadGroups(DB* db, const ReadOptions& options, std::span<const Slice> keys,
                std::span<PinnableAttributeGroups> results) {
  assert(db != nullptr);
  assert(keys.size() == results.size());
  std::vector<ColumnFamilyHandle*> families;
  std::vector<Slice> key_of_group;
  std::vector<PinnableAttributeGroup*> groups;
  for (size_t i = 0; i < keys.size(); ++i) {
    for (PinnableAttributeGroup& group : results[i]) {
      group.Reset();
      families.push_back(group.column_family());
      key_of_group.push_back(keys[i]);
      groups.push_back(&group);
    }
  }
  std::vector<PinnableWideColumns> columns(groups.size());
  std::vector<Status> statuses(groups.size());
  db->MultiGetEntity(options, groups.size(), families.data(), key_of_group.data(), columns.data(),
                     statuses.data(), /*sorted_input=*/false);
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i]->SetStatus(statuses[i]);
    if (statuses[i].ok()) groups[i]->SetColumns(std::move(columns[i]));
  }
}

}  // namespace

// Attribute groups name the families that are read.
Status DB::GetEntity(const ReadOptions& options, const Slice& key,
                     PinnableAttributeGroups* result) {
  if (result == nullptr) {
    return Status::InvalidArgument("DB::GetEntity: needs a place for the result");
  }
  ReadGroups(this, options, {&key, 1}, {result, 1});
  return Status::OK();
}
void DB::MultiGetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        size_t num_keys, const Slice* keys, PinnableWideColumns* results,
                        Status* statuses, bool sorted_input) {
  std::vector<ColumnFamilyHandle*> families(num_keys, column_family);
  MultiGetEntity(options, num_keys, families.data(), keys, results, statuses, sorted_input);
}
// The default for databases that do not implement the batched form.
void DB::MultiGetEntity(const ReadOptions& options, size_t num_keys,
                        ColumnFamilyHandle** column_families, const Slice* keys,
                        PinnableWideColumns* results, Status* statuses, bool /*sorted_input*/) {
  for (size_t i = 0; i < num_keys; ++i) {
    statuses[i] = GetEntity(options, column_families[i], keys[i], &results[i]);
  }
}
void DB::MultiGetEntity(const ReadOptions& options, size_t num_keys, const Slice* keys,
                        PinnableAttributeGroups* results) {
  ReadGroups(this, options, {keys, num_keys}, {results, num_keys});
}

// "Maybe" is always a correct answer. DBImpl gives a better one.
bool DB::KeyMayExist(const ReadOptions&, ColumnFamilyHandle*, const Slice&, std::string*,
                     std::string*, bool* value_found) {
  if (value_found != nullptr) *value_found = false;
  return true;
}
bool DB::KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, std::string* value, bool* value_found) {
  return KeyMayExist(options, column_family, key, value, /*timestamp=*/nullptr, value_found);
}
bool DB::KeyMayExist(const ReadOptions& options, const Slice& key, std::string* value,
                     bool* value_found) {
  return KeyMayExist(options, DefaultColumnFamily(), key, value, /*timestamp=*/nullptr,
                     value_found);
}
bool DB::KeyMayExist(const ReadOptions& options, const Slice& key, std::string* value,
                     std::string* timestamp, bool* value_found) {
  return KeyMayExist(options, DefaultColumnFamily(), key, value, timestamp, value_found);
}

// Iterators of the default family, and scans of several ranges.
Iterator* DB::NewIterator(const ReadOptions& options) {
  return NewIterator(options, DefaultColumnFamily());
}
std::unique_ptr<MultiScan> DB::NewMultiScan(const ReadOptions& options,
                                            ColumnFamilyHandle* column_family,
                                            const MultiScanArgs& scan_opts) {
  return std::make_unique<MultiScan>(options, scan_opts, this, column_family);
}

namespace {

// Calls back in the thread of the caller, when the read is done. The contexts are those of the
// thread.
void CallBack(DB::AsyncCallback* callback) {
  assert(callback != nullptr);
  const bool wants_stats = callback->EnableStats();
  callback->OnComplete(wants_stats ? get_perf_context() : nullptr,
                       wants_stats ? get_iostats_context() : nullptr);
}

}  // namespace

// The asynchronous forms read at once, because no database here has another thread for them.
void DB::GetAsync(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                  PinnableSlice* value, std::string* timestamp, Status& status,
                  AsyncCallback& callback) {
  status = Get(options, column_family, key, value, timestamp);
  CallBack(&callback);
}
void DB::GetAsync(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                  std::string* value, std::string* timestamp, Status& status,
                  AsyncCallback& callback) {
  status = Get(options, column_family, key, value, timestamp);
  CallBack(&callback);
}
void DB::GetAsync(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                  PinnableSlice* value, Status& status, AsyncCallback& callback) {
  GetAsync(options, column_family, key, value, /*timestamp=*/nullptr, status, callback);
}
void DB::GetAsync(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                  std::string* value, Status& status, AsyncCallback& callback) {
  GetAsync(options, column_family, key, value, /*timestamp=*/nullptr, status, callback);
}
void DB::GetAsync(const ReadOptions& options, const Slice& key, std::string* value, Status& status,
                  AsyncCallback& callback) {
  GetAsync(options, DefaultColumnFamily(), key, value, /*timestamp=*/nullptr, status, callback);
}
void DB::GetAsync(const ReadOptions& options, const Slice& key, std::string* value,
                  std::string* timestamp, Status& status, AsyncCallback& callback) {
  GetAsync(options, DefaultColumnFamily(), key, value, timestamp, status, callback);
}
void DB::MultiGetAsync(const ReadOptions& options, const size_t num_keys,
                       ColumnFamilyHandle** column_families, const Slice* keys,
                       PinnableSlice* values, std::string* timestamps, Status* statuses,
                       const bool sorted_input, AsyncCallback& callback) {
  MultiGet(options, num_keys, column_families, keys, values, timestamps, statuses, sorted_input);
  CallBack(&callback);
}
void DB::MultiGetAsync(const ReadOptions& options, const size_t num_keys,
                       ColumnFamilyHandle** column_families, const Slice* keys,
                       PinnableSlice* values, Status* statuses, const bool sorted_input,
                       AsyncCallback& callback) {
  MultiGetAsync(options, num_keys, column_families, keys, values, /*timestamps=*/nullptr, statuses,
                sorted_input, callback);
}
void DB::MultiGetAsync(const ReadOptions& options, const size_t num_keys,
                       ColumnFamilyHandle** column_families, const Slice* keys,
                       PinnableSlice* values, std::string* timestamps, Status* statuses,
                       AsyncCallback& callback) {
  MultiGetAsync(options, num_keys, column_families, keys, values, timestamps, statuses,
                /*sorted_input=*/false, callback);
}
void DB::MultiGetAsync(const ReadOptions& options, const size_t num_keys,
                       ColumnFamilyHandle** column_families, const Slice* keys,
                       PinnableSlice* values, Status* statuses, AsyncCallback& callback) {
  MultiGetAsync(options, num_keys, column_families, keys, values, /*timestamps=*/nullptr, statuses,
                /*sorted_input=*/false, callback);
}

}  // namespace ashlar
