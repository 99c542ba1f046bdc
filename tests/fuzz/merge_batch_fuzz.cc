// SPDX-License-Identifier: Apache-2.0
//
// Batches with merge operands in a database. Bytes that are a batch are refused or written; data
// that was written is the same in both directions and after a replay of the log. Bytes that are a
// script make writes, flushes, compactions and snapshots, and a plain map has the expected values.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options.h"
#include "ashlar/write_batch.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Rows = std::map<std::string, std::string>;

void Require(bool is_right) {
  if (!is_right) std::abort();
}

class Database {
 public:
  Database() : env_(NewMemEnv(Env::Default())) {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    Require(
        MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options_.merge_operator)
            .ok());
    Open();
  }
  ~Database() { Close(); }

  void Open() { Require(DB::Open(options_, "/db", &db_).ok()); }
  void Close() {
    for (const auto& [snapshot, rows] : moments_) db_->ReleaseSnapshot(snapshot);
    moments_.clear();
    db_.reset();
  }
  DB* operator->() { return db_.get(); }

  // The rows of an iterator, and its final status.
  std::string Scan(bool forward, const Snapshot* snapshot) {
    ReadOptions read;
    read.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    std::string text;
    for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
         forward ? it->Next() : it->Prev()) {
      const std::string row = StrCat(it->key().ToString(), "=", it->value().ToString(), ";");
      text = forward ? text + row : row + text;
    }
    return it->status().ok() ? text : it->status().ToString();
  }

  void Snap(const Rows& rows) { moments_.emplace_back(db_->GetSnapshot(), rows); }
  void CheckAll(const Rows& now) {
    Check(now, nullptr);
    for (const auto& [snapshot, rows] : moments_) Check(rows, snapshot);
  }

 private:
  void Check(const Rows& rows, const Snapshot* snapshot) {
    std::string expected;
    for (const auto& [key, value] : rows) StrAppend(&expected, key, "=", value, ";");
    Require(Scan(/*forward=*/true, snapshot) == expected);
    Require(Scan(/*forward=*/false, snapshot) == expected);
    ReadOptions read;
    read.snapshot = snapshot;
    for (char key = 'a'; key <= 'd'; key++) {
      std::string value;
      const Status status = db_->Get(read, std::string(1, key), &value);
      const auto row = rows.find(std::string(1, key));
      Require(row == rows.end() ? status.IsNotFound() : status.ok() && value == row->second);
    }
  }

  const std::unique_ptr<Env> env_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::vector<std::pair<const Snapshot*, Rows>> moments_;
};

void WriteAny(const std::string& bytes) {
  Database database;
  WriteBatch batch(bytes);
  if (!database->Write(WriteOptions(), &batch).ok()) return;
  const std::string rows = database.Scan(/*forward=*/true, nullptr);
  // After an error the two directions need not agree.
  const bool is_whole = rows.empty() || rows.back() == ';';
  Require(!is_whole || database.Scan(/*forward=*/false, nullptr) == rows);
  database.Close();
  database.Open();
  Require(database.Scan(/*forward=*/true, nullptr) == rows);
}

// One byte per operation: three bits of key, the rest is the operation.
void RunScript(const std::string& script) {
  Database database;
  Rows rows;
  WriteBatch batch;
  int count = 0;
  for (const char step : script) {
    const std::string key(1, static_cast<char>('a' + (step & 3)));
    const std::string text = std::to_string(count++);
    const bool has_value = rows.contains(key);
    switch ((static_cast<uint8_t>(step) >> 2) % 12) {
      case 0:
      case 1:
        Require(batch.Put(key, text).ok());
        rows[key] = text;
        break;
      case 2: Require(batch.Delete(key).ok()), rows.erase(key); break;
      case 3: {
        const std::string end(1, static_cast<char>(key[0] + 2));
        Require(batch.DeleteRange(key, end).ok());
        rows.erase(rows.lower_bound(key), rows.lower_bound(end));
        break;
      }
      case 4: Require(database->Write(WriteOptions(), &batch).ok()), batch.Clear(); break;
      case 5:
        Require(database->Write(WriteOptions(), &batch).ok()), batch.Clear();
        database.Snap(rows);
        break;
      case 6:
        Require(database->Write(WriteOptions(), &batch).ok()), batch.Clear();
        Require(database->Flush(FlushOptions()).ok());
        break;
      case 7:
        Require(database->Write(WriteOptions(), &batch).ok()), batch.Clear();
        Require(database->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
        break;
      default:
        Require(batch.Merge(key, text).ok());
        rows[key] = has_value ? rows[key] + "," + text : text;
    }
  }
  Require(database->Write(WriteOptions(), &batch).ok());
  database.CheckAll(rows);
  database.Close();
  database.Open();
  database.CheckAll(rows);
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1 || size > 600) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  (data[0] & 1) != 0 ? ashlar::WriteAny(bytes) : ashlar::RunScript(bytes);
  return 0;
}
