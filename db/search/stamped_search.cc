// SPDX-License-Identifier: Apache-2.0
//
// The tables that may have versions of the key are those of point_search.cc, without tables that
// the timestamps of their entries exclude. The bounds of timestamps are those of the MANIFEST; they
// include range tombstones. Tables that were ingested, or written by old releases, have none.
#include "db/search/stamped_search.h"

#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/options.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version.h"
#include "table/iterator/stamped_lookup.h"
#include "table/sst/read/table_reader.h"
#include "util/threads/epoch.h"

namespace ashlar {

bool StampedSearch::RunInEpoch() {
  assert(InEpoch());
  while (next_ < count_ || Gather()) {
    std::array<const TableReader*, kBatch> readers;
    size_t open_end = next_;
    for (; open_end < count_; open_end++) {
      readers[open_end] = version_.tables()->FindOpen(batch_[open_end]);
      if (readers[open_end] == nullptr) break;
      if (count_ > 1) readers[open_end]->PrefetchFilter(lookup_->asked());
    }
    for (; next_ < open_end && !lookup_->has_given_up(); next_++) {
      if (!BeginTable(*readers[next_])) continue;
      if (!readers[next_]->GetStampedInEpoch(lookup_)) return false;
      EndTable();
    }
    if (lookup_->has_given_up()) return true;
    if (next_ < count_) return false;
  }
  return true;
}

// Each table may have to be opened or read from its file. An error ends the search, because the
// table might have the best version.
void StampedSearch::Finish() {
  for (; !lookup_->has_given_up() && (next_ < count_ || Gather()); next_++) {
    if (IsAnswered()) continue;  // and need not be opened
    Result<TableHandle> table = version_.tables()->PinFor(options_, batch_[next_]);
    if (!table.ok()) return lookup_->Fail(table.status());
    if (!BeginTable(**table)) continue;
    Status status = (*table)->GetStamped(options_, lookup_);
    if (!status.ok()) return lookup_->Fail(std::move(status));
    EndTable();
  }
}

// A range tombstone of a table may hide versions of every run, so the table's timestamps exclude
// only its points.
bool StampedSearch::BeginTable(const TableReader& table) {
  if (IsAnswered()) return false;
  if (table.tombstones() != nullptr) [[unlikely]] {
    lookup_->GiveUp();
    return false;
  }
  const std::string& newest = batch_[next_]->meta.max_timestamp;
  const InternalKeyComparator& order = version_.comparator();
  if (lookup_->has_version() && newest.size() == order.stamp_bytes() &&
      order.OrderOfStamps(newest, lookup_->stamp()) < 0) {
    return false;
  }
  visible_before_ = lookup_->visible_count();
  lookup_->EnterLevel(levels_[next_]);
  return true;
}

void StampedSearch::EndTable() {
  if (lookup_->visible_count() != visible_before_) answered_level_ = levels_[next_];
}

bool StampedSearch::Gather() {
  assert(next_ == count_);
  next_ = count_ = 0;
  if (level_ == 0) {
    if (!GatherLevel0()) return true;
    level_ = 1;
  }
  for (level_ = version_.NextFilledLevel(level_); level_ < version_.num_levels();
       level_ = version_.NextFilledLevel(level_.Next()), file_ = kNotSearched) {
    if (!GatherRun()) return true;
  }
  return count_ > 0;
}

bool StampedSearch::GatherLevel0() {
  const InternalKeyComparator& order = version_.comparator();
  const Slice& stored = lookup_->key().user_key;
  const std::vector<TableFile*>& files = version_.files(0);
  for (; file_ < files.size(); file_++) {
    TableFile* const file = files[file_];
    if (order.OrderWithoutTimestamp(stored, file->meta.smallest_user_key()) < 0) continue;
    if (order.OrderWithoutTimestamp(stored, file->meta.largest_user_key()) > 0) continue;
    if (!Add(file)) return false;
  }
  file_ = kNotSearched;
  return true;
}

// The versions of the key may be in several neighbouring tables.
bool StampedSearch::GatherRun() {
  const InternalKeyComparator& order = version_.comparator();
  const Slice& stored = lookup_->key().user_key;
  const std::vector<TableFile*>& files = version_.files(level_);
  if (file_ == kNotSearched) file_ = version_.FindFile(level_, stored);
  for (; file_ < files.size(); file_++) {
    TableFile* const file = files[file_];
    if (order.OrderWithoutTimestamp(stored, file->meta.smallest_user_key()) < 0) break;
    if (!Add(file)) return false;
    if (!order.SameKey(stored, file->meta.largest_user_key())) break;
  }
  return true;
}

// Appends the table to the batch, unless all its timestamps are newer than the reader's. Returns
// false if the batch is full.
bool StampedSearch::Add(TableFile* file) {
  const std::string& oldest = file->meta.min_timestamp;
  const InternalKeyComparator& order = version_.comparator();
  if (oldest.size() == order.stamp_bytes() &&
      order.OrderOfStamps(oldest, lookup_->read_stamp()) > 0) {
    return true;
  }
  if (count_ == kBatch) return false;
  levels_[count_] = static_cast<uint8_t>(int{level_});
  batch_[count_++] = file;
  return true;
}

}  // namespace ashlar
