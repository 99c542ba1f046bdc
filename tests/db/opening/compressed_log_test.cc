// SPDX-License-Identifier: Apache-2.0
//
// DBOptions::wal_compression: what is written is read again, whatever the next open asks for, after
// a kill, from damaged logs, and by those who follow the log.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/wal_iterator.h"
#include "ashlar/write_batch.h"
#include "env/file_util.h"
#include "env/sim/sim_fs.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class CompressedLogTest : public testing::TestWithParam<bool> {
 protected:
  CompressedLogTest() {
    fs_->OfferMappedLogs(GetParam());
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.wal_compression = kZSTD;
    options_.avoid_flush_during_shutdown = true;
  }

  void Open() {
    db_ = std::make_unique<OpenedDb>();
    ASSERT_OK(db_->Open(options_, "/db"));
  }
  DB* db() { return db_->db(); }
  static std::string ValueOf(int i) { return StrCat(std::string(200, 'v'), i); }
  void Put(int i) {
    ASSERT_OK(db()->Put(WriteOptions(), StrCat("key", i), ValueOf(i)));
    expected_["default"][StrCat("key", i)] = ValueOf(i);
  }
  void Kill() {
    db_.reset();  // what is in memory is not flushed
    fs_ = fs_->CrashImage(fs_->CallCount(), CrashPolicy::kAll);
    env_ = NewCompositeEnv(fs_);
    options_.env = env_.get();
  }
  Contents ReadAll() {
    Contents contents;
    EXPECT_OK(db_->ReadAll(&contents));
    return contents;
  }
  std::string LogPath() {
    VectorWalPtr logs;
    EXPECT_OK(db()->GetSortedWalFiles(logs));
    return "/db" + logs.back()->PathName();
  }

  std::shared_ptr<SimFS> fs_ = SimFS::Create();
  std::unique_ptr<Env> env_ = NewCompositeEnv(fs_);
  Options options_;
  std::unique_ptr<OpenedDb> db_;
  Contents expected_;
};

TEST_P(CompressedLogTest, IsReadWhateverTheNextOpenAsksFor) {
  for (int round = 0; round < 4; round++) {
    options_.wal_compression = round % 2 == 0 ? kZSTD : kNoCompression;
    options_.avoid_flush_during_recovery = round >= 1;  // a compressed log and a plain one together
    Open();
    if (round == 0) {
      ASSERT_OK(db_->CreateFamily(options_, "second"));
      expected_["default"];
      expected_["second"];
    }
    EXPECT_EQ(ReadAll(), expected_) << round;
    for (int i = 0; i < 50; i++) Put(round * 30 + i);
    WriteBatch batch;
    for (ColumnFamilyHandle* family : db_->handles()) {
      ASSERT_OK(batch.Put(family, StrCat("both", round), ValueOf(round)));
      ASSERT_OK(batch.PutLogData("a remark"));
    }
    ASSERT_OK(db()->Write(WriteOptions(), &batch));
    for (auto& [name, rows] : expected_) rows[StrCat("both", round)] = ValueOf(round);
    Kill();
  }
  Open();
  EXPECT_EQ(ReadAll(), expected_);
}

// All that is synced then is the record that says how it is compressed.
TEST_P(CompressedLogTest, MayBeSyncedWithoutABatch) {
  for (const bool is_killed : {false, true}) {
    Open();
    ASSERT_OK(db()->SyncWAL());
    ASSERT_OK(db_->CreateFamily(options_, StrCat("family", is_killed)));  // the MANIFEST is told
    expected_[StrCat("family", is_killed)];
    if (is_killed) {
      Kill();
    } else {
      ASSERT_OK(db_->Close());
    }
    Open();
    expected_["default"];
    EXPECT_EQ(ReadAll(), expected_);
    Put(1);
    ASSERT_OK(db_->Close());
  }
}

TEST_P(CompressedLogTest, IsShorterThanWhatItHolds) {
  Open();
  for (int i = 0; i < 100; i++) Put(i);
  VectorWalPtr logs;
  ASSERT_OK(db()->GetSortedWalFiles(logs));
  EXPECT_LT(logs.back()->SizeFileBytes(), 100 * 200 / 2);
}

TEST_P(CompressedLogTest, LeavesOutWhatStandsBehindTheTerminationPoint) {
  Open();
  WriteBatch batch;
  ASSERT_OK(batch.Put("logged", ValueOf(1)));
  batch.MarkWalTerminationPoint();
  ASSERT_OK(batch.Put("not logged", ValueOf(2)));
  ASSERT_OK(db()->Write(WriteOptions(), &batch));
  Kill();
  Open();
  EXPECT_EQ(ReadAll()["default"], (Rows{{"logged", ValueOf(1)}}));
}

TEST_P(CompressedLogTest, IsFollowedWhileItIsWritten) {
  Open();
  for (int i = 0; i < 10; i++) Put(i);
  std::unique_ptr<WalIterator> updates;
  ASSERT_OK(db()->GetUpdatesSince(1, &updates));
  for (int i = 0; i < 10; i++) {
    ASSERT_TRUE(updates->Valid()) << i << updates->status().ToString();
    EXPECT_EQ(updates->GetBatch().sequence, static_cast<uint64_t>(i + 1));
    updates->Next();
  }
  EXPECT_FALSE(updates->Valid());
  ASSERT_OK(db()->Flush(FlushOptions()));  // another log
  Put(10);
  updates->Next();
  ASSERT_TRUE(updates->Valid()) << updates->status().ToString();
  EXPECT_EQ(updates->GetBatch().sequence, 11u);
}

TEST_P(CompressedLogTest, OpensAsAPrefixWhereverItIsCut) {
  Open();
  std::vector<Contents> prefixes{{{"default", {}}}};
  for (int i = 0; i < 8; i++) {
    Put(i);
    prefixes.push_back(expected_);
  }
  const std::string path = LogPath();
  Kill();
  auto bytes = ReadWholeFile(fs_.get(), path);
  ASSERT_OK(bytes);
  size_t least = 0;
  for (size_t size = 0; size <= bytes->size(); size++) {
    const std::shared_ptr<SimFS> cut = fs_->CrashImage(fs_->CallCount(), CrashPolicy::kAll);
    ASSERT_OK(WriteStringToFile(cut.get(), Slice(bytes->data(), size), path));
    const std::unique_ptr<Env> env = NewCompositeEnv(cut);
    options_.env = env.get();
    OpenedDb opened;
    ASSERT_OK(opened.Open(options_, "/db")) << size;
    Contents contents;
    ASSERT_OK(opened.ReadAll(&contents));
    while (least < prefixes.size() && contents != prefixes[least]) least++;
    ASSERT_LT(least, prefixes.size()) << "at " << size << " not a prefix, or a shorter one";
  }
  EXPECT_EQ(least + 1, prefixes.size());
}

TEST_P(CompressedLogTest, IsWrittenByManyThreads) {
  Open();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; thread++) {
    for (int i = 0; i < 200; i++) expected_["default"][StrCat(thread, ".", i)] = ValueOf(i);
    threads.emplace_back([this, thread] {
      for (int i = 0; i < 200; i++) {
        WriteOptions write;
        write.sync = i % 50 == 49;
        ASSERT_OK(db()->Put(write, StrCat(thread, ".", i), ValueOf(i)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Kill();
  Open();
  EXPECT_EQ(ReadAll(), expected_);
}

INSTANTIATE_TEST_SUITE_P(Logs, CompressedLogTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Mapped" : "Buffered"; });

}  // namespace
}  // namespace ashlar
