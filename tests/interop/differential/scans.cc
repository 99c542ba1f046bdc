// SPDX-License-Identifier: Apache-2.0
//
// Steps that iterate.
#include <rocksdb/slice_transform.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <functional>

#include "session.h"

namespace differential {
namespace {

void PrintPlace(rocksdb::Iterator* iterator) {
  if (iterator->Valid()) {
    Print(" %s=%s", Show(iterator->key()).c_str(), Show(iterator->value()).c_str());
  } else {
    Print(" end %s", Show(iterator->status()).c_str());
  }
}

using TableFilter = std::function<bool(const rocksdb::TableProperties&)>;

// A function up to RocksDB 10, a pointer to one from 11 on.
[[maybe_unused]] void SetTableFilter(const TableFilter& filter, TableFilter* option) {
  *option = filter;
}
[[maybe_unused]] void SetTableFilter(const TableFilter& filter, const TableFilter** option) {
  *option = &filter;
}

void Walk(bool forwards, uint64_t count, rocksdb::Iterator* iterator) {
  for (uint64_t i = 0; i < count && iterator->Valid(); i++) {
    if (forwards)
      iterator->Next();
    else
      iterator->Prev();
    PrintPlace(iterator);
  }
}

}  // namespace

void Session::DrawBounds(Draw* draw, Cursor* cursor, rocksdb::ReadOptions* options) const {
  if (draw->OneIn(3)) {
    cursor->upper = Key(draw);
    cursor->upper_slice = cursor->upper;
    options->iterate_upper_bound = &cursor->upper_slice;
  }
  if (draw->OneIn(3)) {
    cursor->lower = Key(draw);
    cursor->lower_slice = cursor->lower;
    options->iterate_lower_bound = &cursor->lower_slice;
  }
}

void Session::Move(Draw* draw, rocksdb::Iterator* iterator) {
  const std::string target = Key(draw);
  switch (draw->Below(8)) {
    case 0:
      Print(" first:");
      iterator->SeekToFirst();
      PrintPlace(iterator);
      return;
    case 1:
      Print(" last:");
      iterator->SeekToLast();
      PrintPlace(iterator);
      return;
    case 2:
    case 3:
      Print(" seek %s:", Show(target).c_str());
      iterator->Seek(target);
      PrintPlace(iterator);
      return;
    case 4:
      Print(" seek back %s:", Show(target).c_str());
      iterator->SeekForPrev(target);
      PrintPlace(iterator);
      return;
    case 5:
    case 6:
      Print(" next:");
      return Walk(/*forwards=*/true, 1 + draw->Below(draw->OneIn(4) ? 60 : 8), iterator);
    default:
      Print(" prev:");
      return Walk(/*forwards=*/false, 1 + draw->Below(draw->OneIn(4) ? 60 : 8), iterator);
  }
}

// In the order of all keys.
void Session::Scan(Draw* draw) {
  Cursor cursor;
  cursor.family = AnyFamily(draw);
  rocksdb::ReadOptions options = DrawReadOptions(draw);
  DrawBounds(draw, &cursor, &options);
  const bool needs_total_order = extractor(cursor.family) != nullptr;
  options.total_order_seek = needs_total_order || draw->OneIn(2);
  if (needs_total_order && draw->OneIn(3)) {
    options.total_order_seek = false;
    options.auto_prefix_mode = true;
  }
  Print("scan %zu [%s, %s)%s", cursor.family, Show(cursor.lower).c_str(),
        Show(cursor.upper).c_str(), options.auto_prefix_mode ? " auto" : "");
  cursor.iterator.reset(db_->NewIterator(options, handles_[cursor.family]));
  const uint64_t moves = 2 + draw->Below(8);
  for (uint64_t i = 0; i < moves; i++) Move(draw, cursor.iterator.get());
  Print("\n");
}

// In the order of the keys of one prefix: the result after them is undefined.
void Session::ScanPrefix(Draw* draw) {
  Cursor cursor;
  cursor.family = AnyFamily(draw);
  const rocksdb::SliceTransform* prefixes = extractor(cursor.family);
  rocksdb::ReadOptions options = DrawReadOptions(draw);
  // Then RocksDB computes the prefix of every key that it reads, also of keys without a prefix.
  const bool all_have_prefixes = prefixes != nullptr && prefixes->InDomain(rocksdb::Slice());
  options.prefix_same_as_start = all_have_prefixes && draw->OneIn(2);
  cursor.iterator.reset(db_->NewIterator(options, handles_[cursor.family]));
  rocksdb::Iterator* const iterator = cursor.iterator.get();
  Print("scan prefix %zu%s", cursor.family, options.prefix_same_as_start ? " same" : "");
  const uint64_t seeks = 1 + draw->Below(4);
  for (uint64_t i = 0; i < seeks; i++) {
    const std::string target = Key(draw);
    const bool forwards = !draw->OneIn(3);
    const bool is_in_domain = prefixes != nullptr && prefixes->InDomain(target);
    if (prefixes == nullptr || !is_in_domain) continue;
    const std::string prefix = prefixes->Transform(target).ToString();
    Print(" %s %s:", forwards ? "seek" : "back", Show(target).c_str());
    if (forwards)
      iterator->Seek(target);
    else
      iterator->SeekForPrev(target);
    for (int steps = 0; steps < 20 && iterator->Valid(); steps++) {
      if (!prefixes->InDomain(iterator->key()) || prefixes->Transform(iterator->key()) != prefix) {
        break;
      }
      PrintPlace(iterator);
      if (forwards)
        iterator->Next();
      else
        iterator->Prev();
    }
    // After the prefix there may be an operand that fails.
    Print(" %s", session_.is_fragile ? "done" : Show(iterator->status()).c_str());
  }
  Print("\n");
}

// Everything is in tables, and the filter accepts all of them or none.
void Session::ScanPartOfTables(Draw* draw) {
  const size_t index = AnyFamily(draw);
  if (session_.is_fragile) return Print("table filter: not in a fragile session\n");
  const rocksdb::Status status = db_->Flush(rocksdb::FlushOptions(), handles_[index]);
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  const bool takes_all = draw->OneIn(2);
  const TableFilter filter = [takes_all](const rocksdb::TableProperties&) { return takes_all; };
  SetTableFilter(filter, &options.table_filter);
  std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(options, handles_[index]));
  Print("tables: %s %d", Show(status).c_str(), takes_all ? 1 : 0);
  for (int i = 0; i < 3; i++) Move(draw, iterator.get());
  Print("\n");
}

void Session::OpenCursor(Draw* draw) {
  auto cursor = std::make_unique<Cursor>();
  cursor->family = AnyFamily(draw);
  rocksdb::ReadOptions options = DrawReadOptions(draw);
  cursor->snapshot = options.snapshot;
  options.total_order_seek = true;
  DrawBounds(draw, cursor.get(), &options);
  cursor->iterator.reset(db_->NewIterator(options, handles_[cursor->family]));
  Print("cursor %zu opened on %zu\n", cursors_.size(), cursor->family);
  cursors_.push_back(std::move(cursor));
}

void Session::MoveCursor(Draw* draw) {
  if (cursors_.empty()) return Print("no cursor\n");
  const size_t chosen = draw->Below(cursors_.size());
  Cursor* const cursor = cursors_[chosen].get();
  Print("cursor %zu", chosen);
  for (int i = 0; i < 3; i++) Move(draw, cursor->iterator.get());
  Print("\n");
}

// Only for iterators without a snapshot: with one, RocksDB 7.8 returns an error and ours stays at
// the snapshot.
void Session::RefreshCursor(Draw* draw) {
  if (cursors_.empty()) return Print("no cursor\n");
  const size_t chosen = draw->Below(cursors_.size());
  Cursor* const cursor = cursors_[chosen].get();
  if (cursor->snapshot != nullptr) return Print("cursor %zu has a snapshot\n", chosen);
  const rocksdb::Status status = cursor->iterator->Refresh();
  Print("cursor %zu refreshed: %s", chosen, Show(status).c_str());
  cursor->iterator->SeekToFirst();
  for (int i = 0; i < 3; i++) Move(draw, cursor->iterator.get());
  Print("\n");
}

void Session::CloseCursor(Draw* draw) {
  if (cursors_.empty()) return Print("no cursor\n");
  const size_t chosen = draw->Below(cursors_.size());
  cursors_.erase(cursors_.begin() + static_cast<ptrdiff_t>(chosen));
  Print("cursor %zu closed\n", chosen);
}

void Session::CloseCursorsOf(const rocksdb::Snapshot* snapshot) {
  const auto is_of_it = [snapshot](const auto& cursor) { return cursor->snapshot == snapshot; };
  cursors_.erase(std::remove_if(cursors_.begin(), cursors_.end(), is_of_it), cursors_.end());
}

void Session::CompareWithLookups(size_t index, const std::vector<Row>& rows) {
  const rocksdb::ReadOptions options;
  std::vector<rocksdb::Slice> keys;
  for (const Row& row : rows) keys.emplace_back(row.first);
  std::vector<rocksdb::PinnableSlice> values(rows.size());
  std::vector<rocksdb::Status> statuses(rows.size());
  db_->MultiGet(options, handles_[index], rows.size(), keys.data(), values.data(), statuses.data());
  for (size_t i = 0; i < rows.size(); i++) {
    std::string value;
    const rocksdb::Status status = db_->Get(options, handles_[index], keys[i], &value);
    if (!status.ok() || value != rows[i].second) {
      Print("get of %s differs: %s\n", Show(keys[i]).c_str(), Show(status).c_str());
    }
    if (!statuses[i].ok() || values[i] != rocksdb::Slice(rows[i].second)) {
      Print("multiget of %s differs: %s\n", Show(keys[i]).c_str(), Show(statuses[i]).c_str());
    }
  }
}

void Session::PrintRows(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle) {
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(options, handle));
  std::string all;
  int rows = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), rows++) {
    all += Show(iterator->key()) + "=" + Show(iterator->value()) + "\n";
  }
  Print(" %d rows %s %s", rows, Show(all).c_str(), Show(iterator->status()).c_str());
}

void Session::PrintFamily(size_t index, bool prints_entries) {
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(options, handles_[index]));
  std::vector<Row> rows;
  std::string all;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    rows.emplace_back(iterator->key().ToString(), iterator->value().ToString());
    const std::string line = Show(iterator->key()) + "=" + Show(iterator->value()) + "\n";
    if (prints_entries) Print("  %s", line.c_str());
    all += line;
  }
  Print("family %zu: %zu rows %s %s\n", index, rows.size(), Show(all).c_str(),
        Show(iterator->status()).c_str());
  size_t left = rows.size();
  for (iterator->SeekToLast(); iterator->Valid(); iterator->Prev()) {
    if (left == 0 || iterator->key() != rocksdb::Slice(rows[left - 1].first) ||
        iterator->value() != rocksdb::Slice(rows[left - 1].second)) {
      Print("backwards: %s differs\n", Show(iterator->key()).c_str());
      break;
    }
    left--;
  }
  if (left != 0) Print("backwards: %zu rows are missing\n", left);
  CompareWithLookups(index, rows);
}

}  // namespace differential
