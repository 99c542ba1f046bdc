// SPDX-License-Identifier: Apache-2.0
//
// Logs that are long enough for a replay with several threads: the result is the same as with one
// thread, and so are errors.
#include <thread>

#include "ashlar/write_batch.h"
#include "db/options/stock_merge_operators.h"
#include "db/wal/log_format.h"
#include "env/file_util.h"
#include "tests/support/test_db.h"
#include "util/keys/coding.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class LongLogsTest : public DbTest {
 protected:
  LongLogsTest() : DbTest(TestFiles::kSim) {
    options_.avoid_flush_during_shutdown = true;
    options_.merge_operator = NewStringAppendOperator(",");
    options_.compression = kNoCompression;
    options_.write_buffer_size = 64 << 20;
  }
  // About `bytes` of log: puts, merges and deletions of few keys, in batches over several families.
  void WriteMuch(size_t bytes) {
    Random64 random(bytes);
    const std::vector<std::string> names{"default", "second", "third"};
    for (size_t written = 0; written < bytes;) {
      WriteBatch batch;
      for (int i = 0; i < 6; i++) {
        const size_t family = random.Uniform(names.size());
        ColumnFamilyHandle* handle = handles_[family];
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
      Write(&batch);
    }
  }
  void OpenWithFamilies() {
    Open({"default", "second", "third"});
    for (const char* name : {"default", "second", "third"}) expected_[name];
  }
  std::string LogPath() {
    VectorWalPtr logs;
    EXPECT_OK(db_->GetSortedWalFiles(logs));
    return "/db" + logs.back()->PathName();
  }

  Contents expected_;
};

TEST_F(LongLogsTest, HoldWhatWasWritten) {
  OpenWithFamilies();
  WriteMuch(5 << 20);
  Kill();
  OpenAll();
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
  options_.avoid_flush_during_recovery = true;  // so that only the replay starts threads
  auto counter = std::make_unique<ThreadCounter>(std::move(env_));
  ThreadCounter* const env = counter.get();
  UseEnv(std::move(counter));
  OpenAll();
  EXPECT_GT(env->count, 0);
  EXPECT_TRUE(ReadAll() == expected_);
}

TEST_F(LongLogsTest, FillMemtablesThatAreSealedOnTheWay) {
  options_.write_buffer_size = 4 << 20;
  options_.max_write_buffer_number = 20;
  options_.max_total_wal_size = 1 << 30;
  OpenWithFamilies();
  ASSERT_OK(db_->PauseBackgroundWork());  // nothing is flushed
  WriteMuch(20 << 20);
  const SequenceNumber last = db_->GetLatestSequenceNumber();
  ASSERT_OK(db_->ContinueBackgroundWork());
  Kill();
  for (const bool keeps_logs : {true, false}) {
    options_.avoid_flush_during_recovery = keeps_logs;
    OpenAll();
    EXPECT_TRUE(ReadAll() == expected_);
    EXPECT_EQ(db_->GetLatestSequenceNumber(), last);
    Kill();
  }
}

TEST_F(LongLogsTest, AreFlushedToSeveralTablesInOrder) {
  options_.disable_auto_compactions = true;
  OpenAll();
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < 300; i++) {
      const std::string value = StrCat(std::string(60000, 'v'), round);
      Put(StrCat("key", i), value);
      expected_["default"][StrCat("key", i)] = value;
    }
  }
  Kill();
  OpenAll();
  EXPECT_TRUE(ReadAll() == expected_);
  Kill();
  OpenAll();  // now from the MANIFEST
  EXPECT_TRUE(ReadAll() == expected_);
}

// The same bad batch at the end of a long log and of a short one.
TEST_F(LongLogsTest, GiveTheErrorsOfShortOnes) {
  for (const size_t bytes : {size_t{1000}, size_t{5} << 20}) {
    UseSim(SimFS::Create());
    expected_.clear();
    OpenWithFamilies();
    WriteMuch(bytes);
    const SequenceNumber next = db_->GetLatestSequenceNumber() + 1;
    const std::string path = LogPath();
    Kill();
    auto log = ReadWholeFile(sim_.get(), path);
    ASSERT_OK(log);
    const uint64_t offset = log->size();
    std::string batch;
    PutFixed64(&batch, next);
    PutFixed32(&batch, 2);  // but the batch has only one entry
    batch.push_back(1);
    PutLengthPrefixedSlice(&batch, "k");
    PutLengthPrefixedSlice(&batch, "v");
    std::string bad = *log;
    AppendFramedRecord(LogFraming(0, false), bad.size(), batch, &bad);
    ASSERT_OK(WriteStringToFile(sim_.get(), bad, path));
    const Status status = TryOpenAll();
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find(StrCat(path, ", offset ", offset)), std::string::npos)
        << status.ToString();
    // The failed open has changed nothing: without the bad batch the database opens.
    ASSERT_OK(WriteStringToFile(sim_.get(), *log, path));
    OpenAll();
    EXPECT_TRUE(ReadAll() == expected_);
    Kill();
  }
}

TEST_F(LongLogsTest, AreCutAtTheirDamage) {
  OpenWithFamilies();
  WriteMuch(5 << 20);
  const Contents before = expected_;
  Put("last");
  const std::string path = LogPath();
  Kill();
  auto log = ReadWholeFile(sim_.get(), path);
  ASSERT_OK(log);
  log->pop_back();
  ASSERT_OK(WriteStringToFile(sim_.get(), *log, path));
  OpenAll();
  EXPECT_TRUE(ReadAll() == before);
}

}  // namespace
}  // namespace ashlar
