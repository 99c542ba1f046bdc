// SPDX-License-Identifier: Apache-2.0
//
// DBOptions::wal_compression: a compressed log is read by the next open, whatever its options,
// after a kill, from damaged logs, and by WAL iterators.
#include <thread>

#include "ashlar/wal_iterator.h"
#include "ashlar/write_batch.h"
#include "env/file_util.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class CompressedLogTest : public DbTestWith<bool> {
 protected:
  CompressedLogTest() : DbTestWith(TestFiles::kSim) {
    sim_->OfferMappedLogs(GetParam());
    options_.wal_compression = kZSTD;
    options_.avoid_flush_during_shutdown = true;
  }
  static std::string ValueOf(int i) { return StrCat(std::string(200, 'v'), i); }
  void Put(int i) {
    DbTest::Put(StrCat("key", i), ValueOf(i));
    expected_["default"][StrCat("key", i)] = ValueOf(i);
  }
  std::string LogPath() {
    VectorWalPtr logs;
    EXPECT_OK(db_->GetSortedWalFiles(logs));
    return "/db" + logs.back()->PathName();
  }

  Contents expected_;
};

TEST_P(CompressedLogTest, IsReadWhateverTheNextOpenAsksFor) {
  for (int round = 0; round < 4; round++) {
    options_.wal_compression = round % 2 == 0 ? kZSTD : kNoCompression;
    options_.avoid_flush_during_recovery = round >= 1;  // a compressed log and a plain one together
    OpenAll();
    if (round == 0) {
      CreateFamily("second");
      expected_["default"];
      expected_["second"];
    }
    EXPECT_EQ(ReadAll(), expected_) << round;
    for (int i = 0; i < 50; i++) Put(round * 30 + i);
    WriteBatch batch;
    for (ColumnFamilyHandle* family : handles_) {
      ASSERT_OK(batch.Put(family, StrCat("both", round), ValueOf(round)));
      ASSERT_OK(batch.PutLogData("a remark"));
    }
    Write(&batch);
    for (auto& [name, rows] : expected_) rows[StrCat("both", round)] = ValueOf(round);
    Kill();
  }
  OpenAll();
  EXPECT_EQ(ReadAll(), expected_);
}

// Only the record of the compression type is synced.
TEST_P(CompressedLogTest, MayBeSyncedWithoutABatch) {
  for (const bool is_killed : {false, true}) {
    OpenAll();
    ASSERT_OK(db_->SyncWAL());
    CreateFamily(StrCat("family", is_killed));  // the MANIFEST records the sync
    expected_[StrCat("family", is_killed)];
    if (is_killed) {
      Kill();
    } else {
      Close();
    }
    OpenAll();
    expected_["default"];
    EXPECT_EQ(ReadAll(), expected_);
    Put(1);
    Close();
  }
}

TEST_P(CompressedLogTest, IsShorterThanWhatItHolds) {
  OpenAll();
  for (int i = 0; i < 100; i++) Put(i);
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  EXPECT_LT(logs.back()->SizeFileBytes(), 100 * 200 / 2);
}

TEST_P(CompressedLogTest, LeavesOutWhatStandsBehindTheTerminationPoint) {
  OpenAll();
  WriteBatch batch;
  ASSERT_OK(batch.Put("logged", ValueOf(1)));
  batch.MarkWalTerminationPoint();
  ASSERT_OK(batch.Put("not logged", ValueOf(2)));
  Write(&batch);
  Kill();
  OpenAll();
  EXPECT_EQ(ReadAll()["default"], (Rows{{"logged", ValueOf(1)}}));
}

TEST_P(CompressedLogTest, IsFollowedWhileItIsWritten) {
  OpenAll();
  for (int i = 0; i < 10; i++) Put(i);
  std::unique_ptr<WalIterator> updates;
  ASSERT_OK(db_->GetUpdatesSince(1, &updates));
  for (int i = 0; i < 10; i++) {
    ASSERT_TRUE(updates->Valid()) << i << updates->status().ToString();
    EXPECT_EQ(updates->GetBatch().sequence, static_cast<uint64_t>(i + 1));
    updates->Next();
  }
  EXPECT_FALSE(updates->Valid());
  Flush();  // switches to another log
  Put(10);
  updates->Next();
  ASSERT_TRUE(updates->Valid()) << updates->status().ToString();
  EXPECT_EQ(updates->GetBatch().sequence, 11u);
}

TEST_P(CompressedLogTest, OpensAsAPrefixWhereverItIsCut) {
  OpenAll();
  std::vector<Contents> prefixes{{{"default", {}}}};
  for (int i = 0; i < 8; i++) {
    Put(i);
    prefixes.push_back(expected_);
  }
  const std::string path = LogPath();
  Kill();
  auto bytes = ReadWholeFile(sim_.get(), path);
  ASSERT_OK(bytes);
  size_t least = 0;
  for (size_t size = 0; size <= bytes->size(); size++) {
    const std::shared_ptr<SimFS> cut = CrashImage(CrashPolicy::kAll);
    ASSERT_OK(WriteStringToFile(cut.get(), Slice(bytes->data(), size), path));
    TestDb opened(cut, options_);
    ASSERT_OK(opened.TryOpenAll()) << size;
    const Contents contents = opened.ReadAll();
    while (least < prefixes.size() && contents != prefixes[least]) least++;
    ASSERT_LT(least, prefixes.size()) << "at " << size << " not a prefix, or shorter than before";
  }
  EXPECT_EQ(least + 1, prefixes.size());
}

TEST_P(CompressedLogTest, IsWrittenByManyThreads) {
  OpenAll();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; thread++) {
    for (int i = 0; i < 200; i++) expected_["default"][StrCat(thread, ".", i)] = ValueOf(i);
    threads.emplace_back([this, thread] {
      for (int i = 0; i < 200; i++) {
        WriteOptions write;
        write.sync = i % 50 == 49;
        ASSERT_OK(db_->Put(write, StrCat(thread, ".", i), ValueOf(i)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Kill();
  OpenAll();
  EXPECT_EQ(ReadAll(), expected_);
}

INSTANTIATE_TEST_SUITE_P(Logs, CompressedLogTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Mapped" : "Buffered"; });

}  // namespace
}  // namespace ashlar
