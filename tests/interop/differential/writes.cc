// SPDX-License-Identifier: Apache-2.0
//
// Steps that write, the keys and values that they draw, and the steps that read wide columns. There
// are few keys, so that operations meet.
#include <rocksdb/wide_columns.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <map>

#include "session.h"

namespace differential {
namespace {

// Keys that are put once and then deleted by SingleDelete; no other step writes them individually.
std::string SingleKey(int session, int step) {
  return "s" + std::to_string(session) + "_" + std::to_string(step);
}

std::string Number(Draw* draw) {  // the form of uint64add: eight bytes, the lowest first
  std::string bytes(8, '\0');
  const uint64_t number = draw->OneIn(8) ? draw->Next() : draw->Below(1000);
  for (size_t i = 0; i < 8; i++) bytes[i] = static_cast<char>(number >> (8 * i));
  return bytes;
}

std::string FilledKey(const std::string& prefix, uint64_t number) {
  std::string digits = std::to_string(1000 + number);
  return prefix + digits.substr(1);
}

const char* AnyPrefix(Draw* draw) {
  return draw->Of<const char*>({"aaa", "aab", "aba", "abb", "abc", "b", "baa", "bab", "caa", "cc"});
}

std::string ShowColumns(const rocksdb::WideColumns& columns) {
  std::string text = "{";
  for (const rocksdb::WideColumn& column : columns) {
    text += Show(column.name()) + ":" + Show(column.value()) + " ";
  }
  return text + "}";
}

}  // namespace

std::string Session::Key(Draw* draw) const {
  if (draw->OneIn(40)) return draw->Of<const char*>({"", "\xff", "\xff\xff\xff", "a", "zzzzzzzz"});
  std::string key = AnyPrefix(draw);
  if (draw->OneIn(4)) return FilledKey(key, draw->Below(160));
  const uint64_t tail = draw->Below(12);
  if (tail < 9) key += static_cast<char>('0' + tail);
  if (tail == 9) key += '\0';
  if (tail == 10) key += "\xff\xff";
  if (draw->OneIn(6)) key += draw->Of<const char*>({"x", "yy", "0"});
  return key;
}

// In the order of the family's comparator; sometimes empty.
std::pair<std::string, std::string> Session::Range(size_t index, Draw* draw) const {
  std::string begin = Key(draw), end = Key(draw);
  if (draw->OneIn(12)) end = begin;
  if (draw->OneIn(5)) end = begin + "5";
  if (family(index).comparator->Compare(begin, end) > 0) begin.swap(end);
  return {begin, end};
}

std::string Session::Value(size_t index, Draw* draw) const {
  const std::string& name = family(index).operator_name;
  if (name == "uint64add" && !draw->OneIn(8)) return Number(draw);
  if (draw->OneIn(20)) return std::string();
  std::string value = std::to_string(number_) + "." + std::to_string(step_) + "-";
  if (draw->OneIn(6))
    value.append(200 + draw->Below(3000), static_cast<char>('a' + draw->Below(26)));
  return value + std::string(draw->Below(8), 'v');
}

std::string Session::Operand(size_t index, const std::string& key, Draw* draw) {
  if (!family(index).IsCareful() || draw->OneIn(3)) {
    const std::string value = Value(index, draw);
    return family(index).IsCareful() || value.size() < 100 ? value : value.substr(0, 100);
  }
  if (session_.is_fragile && draw->OneIn(4)) {
    fragile_.insert({index, key});
    return "!fails";
  }
  const std::string text = std::to_string(step_) + static_cast<char>('a' + draw->Below(26));
  return draw->Of<const char*>({"", "", "", "=", "^"}) + text;
}

void Session::Put(Draw* draw) {
  const size_t index = AnyFamily(draw);
  const std::string key = Key(draw), value = Value(index, draw);
  const rocksdb::Status status = db_->Put(rocksdb::WriteOptions(), handles_[index], key, value);
  Print("put %zu %s %s: %s\n", index, Show(key).c_str(), Show(value).c_str(), Show(status).c_str());
}

void Session::Delete(Draw* draw) {
  const size_t index = AnyFamily(draw);
  const std::string key = Key(draw);
  const rocksdb::Status status = db_->Delete(rocksdb::WriteOptions(), handles_[index], key);
  Print("delete %zu %s: %s\n", index, Show(key).c_str(), Show(status).c_str());
}

void Session::DeleteRange(Draw* draw) {
  const size_t index = AnyFamily(draw);
  const auto [begin, end] = Range(index, draw);
  const rocksdb::Status status =
      db_->DeleteRange(rocksdb::WriteOptions(), handles_[index], begin, end);
  Print("delete_range %zu %s %s: %s\n", index, Show(begin).c_str(), Show(end).c_str(),
        Show(status).c_str());
}

void Session::Merge(Draw* draw) {
  const size_t index = AnyFamily(draw);
  const std::string key = Key(draw), operand = Operand(index, key, draw);
  const rocksdb::Status status = db_->Merge(rocksdb::WriteOptions(), handles_[index], key, operand);
  Print("merge %zu %s %s: %s\n", index, Show(key).c_str(), Show(operand).c_str(),
        Show(status).c_str());
}

void Session::AddToBatch(Draw* draw, rocksdb::WriteBatch* batch) {
  const size_t index = AnyFamily(draw);
  rocksdb::ColumnFamilyHandle* const handle = handles_[index];
  const std::string key = Key(draw);
  rocksdb::Status status;
  const uint64_t kind = draw->Below(10);
  if (kind < 4) {
    status = batch->Put(handle, key, Value(index, draw));
  } else if (kind < 5) {
    status = batch->Delete(handle, key);
  } else if (kind < 7) {
    const auto [begin, end] = Range(index, draw);
    status = batch->DeleteRange(handle, begin, end);
  } else if (!family(index).operator_name.empty()) {
    status = batch->Merge(handle, key, Operand(index, key, draw));
  } else {
    status = batch->PutLogData("a note");
  }
  if (!status.ok()) Print("(batch: %s) ", status.ToString().c_str());
}

void Session::WriteBatch(Draw* draw) {
  rocksdb::WriteBatch batch;
  const uint64_t count = draw->OneIn(8) ? 40 : 1 + draw->Below(8);
  const bool goes_back = draw->OneIn(5);
  for (uint64_t i = 0; i < count; i++) {
    if (goes_back && i == count / 2) batch.SetSavePoint();
    AddToBatch(draw, &batch);
  }
  rocksdb::Status status;
  if (goes_back) status = batch.RollbackToSavePoint();
  rocksdb::WriteOptions options;
  options.sync = draw->OneIn(6);
  if (status.ok()) status = db_->Write(options, &batch);
  Print("write %d entries: %s\n", static_cast<int>(batch.Count()), Show(status).c_str());
}

// Puts a new key, or deletes an existing one.
void Session::SingleDelete(Draw* draw) {
  const size_t index = AnyFamily(draw);
  if (single_keys_.empty() || draw->OneIn(2)) {
    const std::string key = SingleKey(number_, step_);
    const rocksdb::Status status =
        db_->Put(rocksdb::WriteOptions(), handles_[index], key, Value(index, draw));
    single_keys_.emplace_back(index, key);
    Print("put_single %zu %s: %s\n", index, Show(key).c_str(), Show(status).c_str());
    return;
  }
  const size_t chosen = draw->Below(single_keys_.size());
  const auto [family, key] = single_keys_[chosen];
  single_keys_.erase(single_keys_.begin() + static_cast<ptrdiff_t>(chosen));
  const rocksdb::Status status = db_->SingleDelete(rocksdb::WriteOptions(), handles_[family], key);
  Print("single_delete %zu %s: %s\n", family, Show(key).c_str(), Show(status).c_str());
}

// Unlogged writes are lost with the process, so they are flushed at once.
void Session::WriteWithoutLog(Draw* draw) {
  if (session_.is_fragile) return Print("no log: not in a fragile session\n");
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  const size_t index = AnyFamily(draw);
  const std::string key = Key(draw), value = Value(index, draw);
  rocksdb::Status status = db_->Put(options, handles_[index], key, value);
  if (status.ok()) status = db_->Flush(rocksdb::FlushOptions(), handles_[index]);
  Print("put without log %zu %s %s: %s\n", index, Show(key).c_str(), Show(value).c_str(),
        Show(status).c_str());
}

// Many versions of one key, which iterators skip by a seek.
void Session::Overwrite(Draw* draw) {
  const size_t index = AnyFamily(draw);
  const std::string key = Key(draw);
  rocksdb::Status status;
  for (int i = 0; i < 30 && status.ok(); i++) {
    status = i % 7 == 3
                 ? db_->Delete(rocksdb::WriteOptions(), handles_[index], key)
                 : db_->Put(rocksdb::WriteOptions(), handles_[index], key, Value(index, draw));
  }
  Print("overwrite %zu %s: %s\n", index, Show(key).c_str(), Show(status).c_str());
}

// Enough keys for several blocks and tables.
void Session::Fill(Draw* draw) {
  const size_t index = AnyFamily(draw);
  const std::string prefix = AnyPrefix(draw);
  const uint64_t first = draw->Below(60), stride = 1 + draw->Below(3);
  rocksdb::Status status;
  for (uint64_t i = first; i < 160 && status.ok(); i += stride) {
    status = db_->Put(rocksdb::WriteOptions(), handles_[index], FilledKey(prefix, i),
                      Value(index, draw));
  }
  if (status.ok() && !session_.is_fragile && draw->OneIn(2)) {
    status = db_->Flush(rocksdb::FlushOptions(), handles_[index]);
  }
  Print("fill %zu %s: %s\n", index, prefix.c_str(), Show(status).c_str());
}

void Session::DeleteManyRanges(Draw* draw) {
  const size_t index = AnyFamily(draw);
  rocksdb::Status status;
  for (int i = 0; i < 25 && status.ok(); i++) {
    const std::string prefix = AnyPrefix(draw);
    const uint64_t first = draw->Below(160);
    std::string begin = FilledKey(prefix, first), end = FilledKey(prefix, first + draw->Below(6));
    if (family(index).IsReverse()) begin.swap(end);
    status = db_->DeleteRange(rocksdb::WriteOptions(), handles_[index], begin, end);
    if (status.ok() && draw->OneIn(3)) {
      status = db_->Put(rocksdb::WriteOptions(), handles_[index], begin, Value(index, draw));
    }
  }
  Print("delete many ranges %zu: %s\n", index, Show(status).c_str());
}

void Session::DeleteFragile() {
  rocksdb::WriteBatch batch;
  rocksdb::Status status;
  for (const auto& [index, key] : fragile_) {
    if (status.ok()) status = batch.Delete(handles_[index], key);
  }
  if (status.ok()) status = db_->Write(rocksdb::WriteOptions(), &batch);
  Print("delete %zu keys whose operands fail: %s\n", fragile_.size(), Show(status).c_str());
}

// A family with wide columns, if there is one.
size_t Session::AnyFamilyWithEntities(Draw* draw) const {
  size_t index = AnyFamily(draw);
  for (size_t i = 1; i < shape_.families.size() && !family(index).HasEntities(); i++) {
    index = (index + 1) % shape_.families.size();
  }
  return index;
}

void Session::PutEntity(Draw* draw) {
  const size_t index = AnyFamilyWithEntities(draw);
  if (!family(index).HasEntities()) return Print("put entity: not here\n");
  const std::string key = Key(draw);
  std::map<std::string, std::string> drawn;
  for (uint64_t i = draw->Below(5); i > 0; i--) {
    drawn[draw->Of<const char*>({"", "a", "b", "name", "zz"})] = Value(index, draw);
  }
  rocksdb::WideColumns columns;
  for (const auto& [name, value] : drawn) columns.emplace_back(name, value);
  rocksdb::Status status;
  if (draw->OneIn(3)) {
    rocksdb::WriteBatch batch;
    status = batch.PutEntity(handles_[index], key, columns);
    if (status.ok()) status = db_->Write(rocksdb::WriteOptions(), &batch);
  } else {
    status = db_->PutEntity(rocksdb::WriteOptions(), handles_[index], key, columns);
  }
  Print("put entity %zu %s %s: %s\n", index, Show(key).c_str(), ShowColumns(columns).c_str(),
        Show(status).c_str());
}

void Session::GetEntity(Draw* draw) {
  const size_t index = AnyFamilyWithEntities(draw);
  if (!family(index).HasEntities()) return Print("get entity: not here\n");
  const std::string key = Key(draw);
  rocksdb::PinnableWideColumns columns;
  const rocksdb::Status status =
      db_->GetEntity(DrawReadOptions(draw), handles_[index], key, &columns);
  Print("get entity %zu %s: %s %s\n", index, Show(key).c_str(), Show(status).c_str(),
        status.ok() ? ShowColumns(columns.columns()).c_str() : "");
}

void Session::ScanColumns(Draw* draw) {
  const size_t index = AnyFamily(draw);
  rocksdb::ReadOptions options = DrawReadOptions(draw);
  options.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(options, handles_[index]));
  std::string all;
  const bool forwards = draw->OneIn(2);
  if (forwards) {
    iterator->Seek(Key(draw));
  } else {
    iterator->SeekForPrev(Key(draw));
  }
  for (int i = 0; i < 30 && iterator->Valid(); i++) {
    all += Show(iterator->key()) + ShowColumns(iterator->columns());
    forwards ? iterator->Next() : iterator->Prev();
  }
  Print("scan columns %zu: %s %s\n", index, Show(all).c_str(), Show(iterator->status()).c_str());
}

}  // namespace differential
