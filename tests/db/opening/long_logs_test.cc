// SPDX-License-Identifier: Apache-2.0
//
// Logs that are long enough for several threads: what they replay is what was written, in whatever
// order they insert it, and errors are what they are with one.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/merge_operator.h"
#include "ashlar/write_batch.h"
#include "db/options/stock_merge_operators.h"
#include "db/wal/log_format.h"
#include "env/file_util.h"
#include "env/sim/sim_fs.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"
#include "util/keys/coding.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class LongLogsTest : public testing::Test {
 protected:
  LongLogsTest() {
    options_.create_if_missing = true;
    options_.avoid_flush_during_shutdown = true;
    options_.merge_operator = NewStringAppendOperator(",");
    options_.compression = kNoCompression;
    options_.write_buffer_size = 64 << 20;
    options_.env = env_.get();
  }
  void Open() {
    db_ = std::make_unique<OpenedDb>();
    status_ = db_->Open(options_, "/db");
  }
  void Kill() {
    db_.reset();
    fs_ = fs_->CrashImage(fs_->CallCount(), CrashPolicy::kAll);
    env_ = NewCompositeEnv(fs_);
    options_.env = env_.get();
  }
  Contents ReadAll() {
    Contents contents;
    EXPECT_OK(db_->ReadAll(&contents));
    return contents;
  }
  // About `bytes` of log: puts, merges and deletions of few keys, by several families' batches.
  void WriteMuch(size_t bytes) {
    Random64 random(bytes);
    const std::vector<std::string> names{"default", "second", "third"};
    for (size_t written = 0; written < bytes;) {
      WriteBatch batch;
      for (int i = 0; i < 6; i++) {
        const size_t family = random.Uniform(names.size());
        ColumnFamilyHandle* handle = db_->handles()[family];
        Rows& rows = expected_[names[family]];
        const std::string key = StrCat("key", random.Uniform(3000));
        switch (random.Uniform(8)) {
          case 0:
            ASSERT_OK(batch.Delete(handle, key));
            rows.erase(key);
            break;
          case 1:
            ASSERT_OK(batch.Merge(handle, key, "op"));
            rows[key] = rows.contains(key) ? rows[key] + ",op" : "op";
            break;
          case 2: {
            const std::string end = StrCat(key, "5");
            ASSERT_OK(batch.DeleteRange(handle, key, end));
            rows.erase(rows.lower_bound(key), rows.lower_bound(end));
            break;
          }
          default: {
            const std::string value(random.Uniform(2500), static_cast<char>('a' + family));
            ASSERT_OK(batch.Put(handle, key, value));
            rows[key] = value;
          }
        }
      }
      written += batch.GetDataSize();
      ASSERT_OK(db_->db()->Write(WriteOptions(), &batch));
    }
  }
  void OpenWithFamilies() {
    Open();
    ASSERT_OK(status_);
    for (const char* name : {"second", "third"}) {
      ASSERT_OK(db_->CreateFamily(options_, name));
      expected_[name];
    }
    expected_["default"];
  }
  std::string LogPath() {
    VectorWalPtr logs;
    EXPECT_OK(db_->db()->GetSortedWalFiles(logs));
    return "/db" + logs.back()->PathName();
  }

  std::shared_ptr<SimFS> fs_ = SimFS::Create();
  std::unique_ptr<Env> env_ = NewCompositeEnv(fs_);
  Options options_;
  std::unique_ptr<OpenedDb> db_;
  Contents expected_;
  Status status_;
};

TEST_F(LongLogsTest, HoldWhatWasWritten) {
  OpenWithFamilies();
  WriteMuch(5 << 20);
  Kill();
  Open();
  ASSERT_OK(status_);
  EXPECT_TRUE(ReadAll() == expected_);
}

class ThreadCounter final : public EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;
  const char* Name() const override { return "ThreadCounter"; }
  void StartThread(void (*function)(void*), void* argument) override {
    count++;
    EnvWrapper::StartThread(function, argument);
  }
  int count = 0;
};

TEST_F(LongLogsTest, AreReplayedBySeveralThreads) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "IMPOSSIBLE: one processor";
  OpenWithFamilies();
  WriteMuch(8 << 20);
  Kill();
  options_.avoid_flush_during_recovery = true;  // nothing else that opening does starts threads
  ThreadCounter env(env_.get());
  options_.env = &env;
  Open();
  ASSERT_OK(status_);
  EXPECT_GT(env.count, 0);
  EXPECT_TRUE(ReadAll() == expected_);
  db_.reset();
}

TEST_F(LongLogsTest, FillMemtablesThatAreSealedOnTheWay) {
  options_.write_buffer_size = 4 << 20;
  options_.max_write_buffer_number = 20;
  options_.max_total_wal_size = 1 << 30;
  OpenWithFamilies();
  ASSERT_OK(db_->db()->PauseBackgroundWork());  // nothing is flushed
  WriteMuch(20 << 20);
  const SequenceNumber last = db_->db()->GetLatestSequenceNumber();
  ASSERT_OK(db_->db()->ContinueBackgroundWork());
  Kill();
  for (const bool keeps_logs : {true, false}) {
    options_.avoid_flush_during_recovery = keeps_logs;
    Open();
    ASSERT_OK(status_);
    EXPECT_TRUE(ReadAll() == expected_);
    EXPECT_EQ(db_->db()->GetLatestSequenceNumber(), last);
    Kill();
  }
}

TEST_F(LongLogsTest, AreFlushedToSeveralTablesInOrder) {
  options_.disable_auto_compactions = true;
  Open();
  ASSERT_OK(status_);
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < 300; i++) {
      const std::string value = StrCat(std::string(60000, 'v'), round);
      ASSERT_OK(db_->db()->Put(WriteOptions(), StrCat("key", i), value));
      expected_["default"][StrCat("key", i)] = value;
    }
  }
  Kill();
  Open();
  ASSERT_OK(status_);
  EXPECT_TRUE(ReadAll() == expected_);
  Kill();
  Open();  // and so says the MANIFEST
  ASSERT_OK(status_);
  EXPECT_TRUE(ReadAll() == expected_);
}

// The same bad batch at the end of a long log and of a short one.
TEST_F(LongLogsTest, GiveTheErrorsOfShortOnes) {
  for (const size_t bytes : {size_t{1000}, size_t{5} << 20}) {
    fs_ = SimFS::Create();
    env_ = NewCompositeEnv(fs_);
    options_.env = env_.get();
    expected_.clear();
    OpenWithFamilies();
    WriteMuch(bytes);
    const SequenceNumber next = db_->db()->GetLatestSequenceNumber() + 1;
    const std::string path = LogPath();
    Kill();
    auto log = ReadWholeFile(fs_.get(), path);
    ASSERT_OK(log);
    const uint64_t offset = log->size();
    std::string batch;
    PutFixed64(&batch, next);
    PutFixed32(&batch, 2);  // but there is one
    batch.push_back(1);
    PutLengthPrefixedSlice(&batch, "k");
    PutLengthPrefixedSlice(&batch, "v");
    std::string bad = *log;
    AppendFramedRecord(LogFraming(0, false), bad.size(), batch, &bad);
    ASSERT_OK(WriteStringToFile(fs_.get(), bad, path));
    Open();
    EXPECT_TRUE(status_.IsCorruption()) << status_.ToString();
    EXPECT_NE(status_.ToString().find(StrCat(path, ", offset ", offset)), std::string::npos)
        << status_.ToString();
    // Nothing has changed: without the bad batch it opens.
    ASSERT_OK(WriteStringToFile(fs_.get(), *log, path));
    Open();
    ASSERT_OK(status_);
    EXPECT_TRUE(ReadAll() == expected_);
    Kill();
  }
}

TEST_F(LongLogsTest, AreCutAtTheirDamage) {
  OpenWithFamilies();
  WriteMuch(5 << 20);
  const Contents before = expected_;
  ASSERT_OK(db_->db()->Put(WriteOptions(), "last", "v"));
  const std::string path = LogPath();
  Kill();
  auto log = ReadWholeFile(fs_.get(), path);
  ASSERT_OK(log);
  log->pop_back();
  ASSERT_OK(WriteStringToFile(fs_.get(), *log, path));
  Open();
  ASSERT_OK(status_);
  EXPECT_TRUE(ReadAll() == before);
}

}  // namespace
}  // namespace ashlar
