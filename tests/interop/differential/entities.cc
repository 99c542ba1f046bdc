// SPDX-License-Identifier: Apache-2.0
//
// Steps that write and read wide columns.
#include <rocksdb/wide_columns.h>

#include <map>

#include "session.h"

namespace differential {
namespace {

std::string ShowColumns(const rocksdb::WideColumns& columns) {
  std::string text = "{";
  for (const rocksdb::WideColumn& column : columns) {
    text += Show(column.name()) + ":" + Show(column.value()) + " ";
  }
  return text + "}";
}

}  // namespace

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
