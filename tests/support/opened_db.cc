// SPDX-License-Identifier: Apache-2.0
//
// ReadAllFamilies() reads each family alone, then all of them in one batch.
#include "tests/support/opened_db.h"

#include "util/hash/hash.h"
#include "util/result.h"

namespace ashlar {
namespace {

Status ReadFamily(DB* db, ColumnFamilyHandle* handle, Rows* rows) {
  ReadOptions options;
  options.total_order_seek = true;
  std::unique_ptr<Iterator> it(db->NewIterator(options, handle));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (!rows->emplace(it->key().ToString(), it->value().ToString()).second) {
      return Status::Corruption("DISAGREE: a key comes twice", it->key());
    }
  }
  if (!it->status().ok()) return it->status();
  size_t count = 0;
  for (it->SeekToLast(); it->Valid(); it->Prev(), ++count) {
    const auto row = rows->find(it->key().ToString());
    if (row == rows->end() || row->second != it->value().ToStringView()) {
      return Status::Corruption("DISAGREE: only backwards", it->key());
    }
  }
  if (!it->status().ok()) return it->status();
  if (count != rows->size()) return Status::Corruption("DISAGREE: fewer rows backwards");
  for (const auto& [key, value] : *rows) {
    std::string found;
    const Status status = db->Get(options, handle, key, &found);
    if (!status.ok() && !status.IsNotFound()) return status;
    if (!status.ok() || found != value) return Status::Corruption("DISAGREE: get", key);
  }
  return Status::OK();
}

// Reads all rows and an absent key of each family with one MultiGet().
Status CheckBatch(DB* db, const std::vector<ColumnFamilyHandle*>& handles,
                  const Contents& contents) {
  std::vector<ColumnFamilyHandle*> families;
  std::vector<Slice> keys;
  std::vector<const std::string*> expected;  // null: NotFound
  for (ColumnFamilyHandle* handle : handles) {
    const Rows& rows = contents.at(handle->GetName());
    for (const auto& [key, value] : rows) {
      families.push_back(handle);
      keys.emplace_back(key);
      expected.push_back(&value);
    }
    if (rows.contains("absent")) continue;
    families.push_back(handle);
    keys.emplace_back("absent");
    expected.push_back(nullptr);
  }
  ReadOptions options;
  std::vector<PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  db->MultiGet(options, keys.size(), families.data(), keys.data(), values.data(), statuses.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!statuses[i].ok() && !statuses[i].IsNotFound()) return statuses[i];
    const bool agrees = statuses[i].ok() ? expected[i] != nullptr && *expected[i] == values[i]
                                         : expected[i] == nullptr;
    if (!agrees) return Status::Corruption("DISAGREE: batch", keys[i]);
  }
  return Status::OK();
}

}  // namespace

Status ReadAllFamilies(DB* db, const std::vector<ColumnFamilyHandle*>& handles,
                       Contents* contents) {
  contents->clear();
  for (ColumnFamilyHandle* handle : handles) {
    Status status = ReadFamily(db, handle, &(*contents)[handle->GetName()]);
    if (!status.ok()) return status;
  }
  return CheckBatch(db, handles, *contents);
}

OpenedDb::~OpenedDb() { (void)Close().ok(); }

Status OpenedDb::Open(const Options& options, const std::string& dir) {
  std::vector<std::string> names;
  Status status = DB::ListColumnFamilies(DBOptions(options), dir, &names);
  if (!status.ok()) {
    // A directory without a database becomes a new one.
    if (!options.env->FileExists(dir + "/CURRENT").IsNotFound()) return status;
    names = {kDefaultColumnFamilyName};
  }
  std::vector<ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : names)
    descriptors.emplace_back(name, ColumnFamilyOptions(options));
  return DB::Open(DBOptions(options), dir, descriptors, &handles_, &db_);
}

Status OpenedDb::CreateFamily(const Options& options, const std::string& name) {
  ColumnFamilyHandle* handle = nullptr;
  const Status status = db_->CreateColumnFamily(ColumnFamilyOptions(options), name, &handle);
  if (status.ok()) {
    handles_.push_back(handle);
  } else if (handle != nullptr) {
    IgnoreError(db_->DestroyColumnFamilyHandle(handle),
                "the error to return is that of the OPTIONS file, which was not written");
  }
  return status;
}

Status OpenedDb::Close() {
  if (db_ == nullptr) return Status::OK();
  for (ColumnFamilyHandle* handle : handles_) {
    (void)db_->DestroyColumnFamilyHandle(handle).ok();
  }
  handles_.clear();
  const Status status = db_->Close();
  db_.reset();
  return status;
}

uint64_t HashOfRow(const std::string& key, const std::string& value) {
  return FilterHash64(std::to_string(key.size()) + ":" + key + value);
}

uint64_t HashOf(const Rows& rows) {
  uint64_t sum = 0;
  for (const auto& [key, value] : rows) sum += HashOfRow(key, value);
  return sum;
}

}  // namespace ashlar
