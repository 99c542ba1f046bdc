// SPDX-License-Identifier: Apache-2.0
//
// A program written for RocksDB: forward-declares its classes, derives from the ones that users
// derive from, and checks that its overrides are called. It must build unchanged against RocksDB
// itself and against the drop-in, with and without RTTI, as C++17.
namespace rocksdb {
class DB;
class Iterator;
struct Options;
class ColumnFamilyHandle;
}  // namespace rocksdb

#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/listener.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rocksdb/write_batch.h"

namespace {

#define REQUIRE(condition)                                                          \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (false)

void RequireOk(const rocksdb::Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  std::exit(1);
}

// Shorter keys first, then bytewise: no prefix of the bytewise order fits it.
class LengthFirst : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "client.LengthFirst"; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class Appender : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "client.Appender"; }
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& value,
             std::string* result, rocksdb::Logger*) const override {
    result->assign(existing != nullptr ? existing->ToString() + "," : "");
    result->append(value.data(), value.size());
    return true;
  }
};

class FlushCounter : public rocksdb::EventListener {
 public:
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override {
    REQUIRE(db != nullptr);
    REQUIRE(!info.file_path.empty());
    flush_count++;
  }
  std::atomic<int> flush_count{0};
};

class LineCounter : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[512];
    std::vsnprintf(line, sizeof(line), format, arguments);
    line_count++;
  }
  std::atomic<int> line_count{0};
};

class OperationLister : public rocksdb::WriteBatch::Handler {
 public:
  rocksdb::Status PutCF(uint32_t family, const rocksdb::Slice& key,
                        const rocksdb::Slice& value) override {
    seen += "put(" + std::to_string(family) + "," + key.ToString() + "," + value.ToString() + ")";
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(uint32_t family, const rocksdb::Slice& key) override {
    seen += "delete(" + std::to_string(family) + "," + key.ToString() + ")";
    return rocksdb::Status::OK();
  }
  void LogData(const rocksdb::Slice& blob) override { seen += "log(" + blob.ToString() + ")"; }
  std::string seen;
};

void CheckBatchHandler() {
  rocksdb::WriteBatch batch;
  RequireOk(batch.Put("a", "1"), "batch put");
  RequireOk(batch.Delete("b"), "batch delete");
  RequireOk(batch.PutLogData("note"), "batch log data");
  REQUIRE(batch.Count() == 2);
  OperationLister lister;
  RequireOk(batch.Iterate(&lister), "batch iterate");
  REQUIRE(lister.seen == "put(0,a,1)delete(0,b)log(note)");
}

void CheckMergeOperator() {
  Appender appender;
  const rocksdb::Slice existing("x");
  std::string merged;
  REQUIRE(appender.Merge("key", &existing, "y", &merged, nullptr));
  REQUIRE(merged == "x,y");
}

void FillAndFlush(rocksdb::DB* db) {
  for (const char* key : {"ccc", "a", "bb", "b", "aaa"}) {
    RequireOk(db->Put(rocksdb::WriteOptions(), key, std::string("value of ") + key), "put");
  }
  RequireOk(db->Flush(rocksdb::FlushOptions()), "flush");
  RequireOk(db->Delete(rocksdb::WriteOptions(), "bb"), "delete");
}

void CheckOrder(rocksdb::DB* db) {
  std::string order;
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) order += it->key().ToString() + " ";
  RequireOk(it->status(), "iterate");
  REQUIRE(order == "a b aaa ccc ");
  std::string value;
  RequireOk(db->Get(rocksdb::ReadOptions(), "ccc", &value), "get");
  REQUIRE(value == "value of ccc");
  REQUIRE(db->Get(rocksdb::ReadOptions(), "bb", &value).IsNotFound());
}

void CheckDatabase(const std::string& path) {
  static const LengthFirst kLengthFirst;
  auto listener = std::make_shared<FlushCounter>();
  auto logger = std::make_shared<LineCounter>();
  rocksdb::Options options;
  options.create_if_missing = true;
  options.comparator = &kLengthFirst;
  options.listeners.push_back(listener);
  options.info_log = logger;

  rocksdb::DB* db = nullptr;
  RequireOk(rocksdb::DB::Open(options, path, &db), "open");
  FillAndFlush(db);
  CheckOrder(db);
  delete db;
  REQUIRE(listener->flush_count == 1);
  REQUIRE(logger->line_count > 0);

  db = nullptr;
  RequireOk(rocksdb::DB::Open(options, path, &db), "open again");
  CheckOrder(db);
  delete db;

  rocksdb::Options wrong = options;
  wrong.comparator = rocksdb::BytewiseComparator();
  db = nullptr;
  REQUIRE(!rocksdb::DB::Open(wrong, path, &db).ok());
  REQUIRE(db == nullptr);
  RequireOk(rocksdb::DestroyDB(path, options), "destroy");
}

}  // namespace

int main() {
  CheckBatchHandler();
  CheckMergeOperator();
  char path[] = "/tmp/dropin_client_XXXXXX";
  REQUIRE(mkdtemp(path) != nullptr);
  CheckDatabase(path);
  rmdir(path);
  std::puts("client: ok");
  return 0;
}
