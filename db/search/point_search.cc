// SPDX-License-Identifier: Apache-2.0
//
// The tables that may hold a key: on level 0, all tables whose range contains it; on a deeper
// level, the one that FindFile() returns, and the following ones as long as the key is the largest
// user key of the table before.
#include "db/search/point_search.h"

#include <cassert>

#include "ashlar/options.h"
#include "db/table_cache/table_cache.h"
#include "db/table_cache/table_rows.h"
#include "db/version/version.h"
#include "table/iterator/point_lookup.h"
#include "table/iterator/read_trace.h"
#include "table/sst/read/table_reader.h"
#include "util/threads/epoch.h"

namespace ashlar {

bool PointSearch::RunInEpoch() {
  assert(InEpoch());
  // A row cache supplied by the user may wait for locks, which is not allowed inside an epoch.
  if (version_.tables()->rows() != nullptr) [[unlikely]]
    return next_ == count_ && !Gather();
  while (next_ < count_ || Gather()) {
    std::array<const TableReader*, kBatch> readers;
    size_t open_end = next_;
    for (; open_end < count_; open_end++) {
      readers[open_end] = version_.tables()->FindOpen(batch_[open_end]);
      if (readers[open_end] == nullptr) break;  // the newer tables before it may decide the lookup
      if (count_ > 1) readers[open_end]->PrefetchFilter(lookup_);
    }
    for (; next_ < open_end; next_++) {
      if (was_covered_ && EndsBefore(next_)) [[unlikely]]
        return true;
      if (lookup_->trace() != nullptr) [[unlikely]]
        TraceEntering();
      if (!readers[next_]->GetInEpoch(lookup_)) return false;
      if (NoteIfDecided()) return true;
      was_covered_ = lookup_->is_covered();
    }
    if (next_ < count_) return false;
  }
  return true;
}

// Searches the tables from the newest to the oldest, outside of epochs, since each may have to be
// opened or read from its file. Ends at the first table that decides the lookup; an error also ends
// it.
void PointSearch::Finish() {
  const TableRows* const rows = version_.tables()->rows();
  if (lookup_->EndAtLimit()) return;
  for (; next_ < count_ || Gather(); next_++) {
    if (was_covered_ && EndsBefore(next_)) return;
    TableFile* const file = batch_[next_];
    if (lookup_->trace() != nullptr) TraceEntering();
    const bool has_rows = rows != nullptr && TableRows::MayServe(file->meta, options_, *lookup_);
    if (has_rows && rows->Find(file->meta, lookup_)) {
      if (lookup_->trace() != nullptr) lookup_->trace()->OnRowFound();
      NoteIfDecided();
      return;
    }
    Result<TableHandle> table = version_.tables()->PinFor(options_, file);
    if (!table.ok()) return lookup_->Fail(table.status());
    Status status = has_rows ? rows->Read(**table, file->meta, options_, lookup_)
                             : (*table)->Get(options_, lookup_);
    NoteIfDecided();
    if (!status.ok()) lookup_->Fail(std::move(status));
    if (lookup_->decided() || lookup_->EndAtLimit()) return;
    was_covered_ = lookup_->is_covered();
  }
}

void PointSearch::TraceEntering() const {
  assert(next_ < count_);
  batch_[next_]->TraceEntry(Level{int{levels_[next_]}}, lookup_->trace());
}

// Called after the table at next_ was searched.
bool PointSearch::NoteIfDecided() {
  if (!lookup_->decided()) return false;
  assert(next_ < count_);
  lookup_->counters.level = levels_[next_];
  return true;
}

// Two neighbouring tables of one run may hold versions of the same key. A tombstone that covers the
// versions in the first table need not cover those in the second one, so sequence numbers must be
// compared. Between different runs the age of the run decides.
bool PointSearch::EndsBefore(size_t index) {
  assert(was_covered_);
  assert(lookup_->is_covered());
  if ((continues_ >> index & 1) != 0) return false;
  lookup_->EndCovered();
  return true;
}

void PointSearch::Add(TableFile* file, bool continues_run) {
  assert(count_ < kBatch);
  continues_ |= static_cast<uint32_t>(continues_run) << count_;
  levels_[count_] = static_cast<uint8_t>(int{level_});
  batch_[count_++] = file;
}

// Gathers the next batch. Returns false if no table is left.
bool PointSearch::Gather() {
  assert(next_ == count_);
  next_ = count_ = 0;
  continues_ = 0;
  const InternalKeyComparator& order = version_.comparator();
  const Slice& user_key = lookup_->key().user_key;
  if (level_ == 0) GatherLevel0();
  for (level_ = version_.NextFilledLevel(level_); level_ < version_.num_levels() && count_ < kBatch;
       level_ = version_.NextFilledLevel(level_.Next()), file_ = kNotSearched) {
    const std::vector<TableFile*>& files = version_.files(level_);
    const bool begins = file_ == kNotSearched;
    if (begins) file_ = version_.FindFile(level_, user_key);
    const size_t first = begins ? file_ : kNotSearched;
    for (; file_ < files.size(); file_++) {
      if (count_ == kBatch) return true;
      TableFile* const file = files[file_];
      if (order.OrderWithoutTimestamp(user_key, file->meta.smallest_user_key()) < 0) break;
      Add(file, /*continues_run=*/file_ != first);
      // The next file may hold older versions of the key.
      if (!order.SameKey(user_key, file->meta.largest_user_key())) break;
    }
  }
  return count_ > 0;
}

// Adds files of level 0 whose range contains the key. Moves to level 1 after the last file.
void PointSearch::GatherLevel0() {
  assert(level_ == 0);
  const InternalKeyComparator& order = version_.comparator();
  const Slice& user_key = lookup_->key().user_key;
  const std::vector<TableFile*>& files = version_.files(0);
  for (; file_ < files.size() && count_ < kBatch; file_++) {
    TableFile* const file = files[file_];
    if (order.OrderWithoutTimestamp(user_key, file->meta.smallest_user_key()) < 0) continue;
    if (order.OrderWithoutTimestamp(user_key, file->meta.largest_user_key()) > 0) continue;
    Add(file, /*continues_run=*/false);
  }
  if (file_ < files.size()) return;
  level_ = 1;
  file_ = kNotSearched;
}

}  // namespace ashlar
