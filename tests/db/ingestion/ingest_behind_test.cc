// SPDX-License-Identifier: Apache-2.0
//
// Files that are ingested behind all other data: existing entries and tombstones hide their
// entries, also after compactions.
#include "ashlar/compaction_filter.h"
#include "tests/db/ingestion/ingest_fixture.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class IngestBehindTest : public IngestTest {
 protected:
  IngestBehindTest() {
    options_.allow_ingest_behind = true;
    options_.num_levels = 4;
    behind_.ingest_behind = true;
  }
  Status IngestBehind(const std::vector<std::string>& files) { return Ingest(files, behind_); }

  IngestExternalFileOptions behind_;
};

TEST_F(IngestBehindTest, ShowsOnlyWhereNothingIs) {
  Open();
  Put(1, "memtable");
  Flush();
  Put(2, "table");
  Flush();
  Put(3, "newer");
  const Snapshot* before = db_->GetSnapshot();
  const SequenceNumber last = db_->GetLatestSequenceNumber();
  ASSERT_OK(IngestBehind({File("/b.sst", 0, 6, "behind")}));
  EXPECT_EQ(db_->GetLatestSequenceNumber(), last);
  EXPECT_EQ(Levels(), "2,0,0,1") << "no memtable was flushed for it";
  const std::string all =
      "k0000=behind k0001=memtable k0002=table k0003=newer k0004=behind k0005=behind";
  EXPECT_EQ(Scan(), all);
  EXPECT_EQ(Scan(before), all) << "its entries have sequence number 0";
  EXPECT_EQ(Get(4), "behind");
  EXPECT_EQ(Get(3), "newer");
  db_->ReleaseSnapshot(before);
  EXPECT_EQ(FileOn(3).largest_seqno, 0u);
  Reopen();
  EXPECT_EQ(Scan(), all);
}

TEST_F(IngestBehindTest, NoOtherWayLeadsToTheLastLevel) {
  Open();
  Put(1, "v");
  Flush();
  const Status promoted = db_->PromoteL0(db_->DefaultColumnFamily(), /*target_level=*/3);
  EXPECT_TRUE(promoted.IsInvalidArgument()) << promoted.ToString();
  const Status compacted = db_->CompactFiles(CompactionOptions(), {FileOn(0).name}, 3);
  EXPECT_TRUE(compacted.IsInvalidArgument()) << compacted.ToString();
  CompactRangeOptions options;
  options.change_level = true;
  options.target_level = 3;
  const Status changed = db_->CompactRange(options, nullptr, nullptr);
  EXPECT_TRUE(changed.IsInvalidArgument()) << changed.ToString();
  ASSERT_OK(db_->PromoteL0(db_->DefaultColumnFamily(), 2));
  EXPECT_EQ(Levels(), "0,0,1,0");
}

TEST_F(IngestBehindTest, WhatAFilterHasRemovedHidesWhatComesBehind) {
  class Remover final : public CompactionFilter {
   public:
    const char* Name() const override { return "Remover"; }
    bool Filter(int, const Slice&, const Slice& value, std::string*, bool*) const override {
      return value == "old";
    }
  };
  const Remover filter;
  options_.compaction_filter = &filter;
  Open();
  Put(1, "old");
  Put(2, "new");
  CompactAndRewrite();
  ASSERT_EQ(Get(1), "-");
  ASSERT_OK(IngestBehind({File("/b.sst", 0, 4, "b")}));
  CompactAndRewrite();
  EXPECT_EQ(Scan(), "k0000=b k0002=new k0003=b");
  Close();  // before the filter ends
}

TEST_F(IngestBehindTest, DeletesAndMergesOfBeforeHoldThroughCompactions) {
  Open();
  for (int i = 0; i < 8; i++) Put(i, "v");
  Flush();
  Delete(1);
  DeleteRange(Key(3), Key(5));
  Merge(Key(9), "m");
  CompactAndRewrite();
  CompactAndRewrite();
  EXPECT_EQ(Levels(), "0,0,1,0") << "the last level is reserved";
  ASSERT_OK(IngestBehind({File("/b.sst", 0, 11, "b")}));
  const std::string all = "k0000=v k0002=v k0005=v k0006=v k0007=v k0008=b k0009=b,m k0010=b";
  EXPECT_EQ(Scan(), all);
  CompactAndRewrite();
  EXPECT_EQ(Levels(), "0,0,1,1");
  EXPECT_EQ(Scan(), all);
  Delete(8);
  CompactAndRewrite();
  EXPECT_EQ(Get(8), "-");
  EXPECT_EQ(Levels(), "0,0,1,1");
}

TEST_F(IngestBehindTest, KeepsTheNumbersOfWhatIsAbove) {
  Open();
  Put(1, "v");
  CompactAndRewrite();
  EXPECT_GT(FileOn(2).smallest_seqno, 0u);
  ASSERT_OK(Ingest({File("/front.sst", 20, 22, "front")}));
  EXPECT_EQ(Levels(), "0,0,2,0");
  ASSERT_OK(IngestBehind({File("/behind.sst", 20, 23, "behind")}))
      << "the file in front has number 0 too";
  EXPECT_EQ(Get(21) + Get(22), "frontbehind");
}

TEST_F(IngestBehindTest, IsRefusedWhereItDoesNotFit) {
  Open();
  ASSERT_OK(IngestBehind({File("/a.sst", 0, 5, "a"), File("/b.sst", 7, 9, "b")}));
  EXPECT_TRUE(IngestBehind({File("/c.sst", 4, 6, "c")}).IsInvalidArgument());
  EXPECT_TRUE(
      IngestBehind({File("/d.sst", 20, 25, "d"), File("/e.sst", 24, 26, "e")}).IsInvalidArgument());
  ASSERT_OK(IngestBehind({File("/f.sst", 5, 7, "f")}));
  EXPECT_EQ(Levels(), "0,0,0,3");
  behind_.allow_db_generated_files = true;
  EXPECT_TRUE(IngestBehind({File("/g.sst", 30, 31, "g")}).IsInvalidArgument());
}

TEST_F(IngestBehindTest, IsRefusedWhereTablesWereWrittenWithoutTheOption) {
  options_.allow_ingest_behind = false;
  Open();
  Put(1, "v");
  ASSERT_OK(Ingest({File("/a.sst", 5, 6, "a")}));  // has sequence number 0
  EXPECT_TRUE(IngestBehind({File("/b.sst", 0, 5, "b")}).IsInvalidArgument());
  Close();
  options_.allow_ingest_behind = true;
  options_.num_levels = 5;
  Open();
  EXPECT_TRUE(IngestBehind({File("/c.sst", 0, 5, "c")}).IsInvalidArgument());
}

TEST_F(IngestBehindTest, IsAllowedForOneFamilyAndStaysOutOfTheOthers) {
  options_.allow_ingest_behind = false;
  Options reserved = options_;
  reserved.cf_allow_ingest_behind = true;
  Open();
  ColumnFamilyHandle* const handle = CreateFamily("reserved", reserved);
  Put(handle, Key(1), "v");
  ASSERT_OK(db_->IngestExternalFile(handle, {File("/a.sst", 0, 3, "a")}, behind_));
  EXPECT_TRUE(IngestBehind({File("/b.sst", 0, 5, "b")}).IsInvalidArgument());
  EXPECT_EQ(DbTest::Get(handle, Key(2)), "a");
  EXPECT_EQ(DbTest::Get(handle, Key(1)), "v");
}

TEST_F(IngestBehindTest, WorksWithUniversalCompaction) {
  options_.compaction_style = kCompactionStyleUniversal;
  options_.num_levels = 1;  // the option makes it three
  Open();
  for (int i = 0; i < 3; i++) {
    Put(i, "v");
    Delete(5 + i);
    Flush();
  }
  CompactAndRewrite();
  EXPECT_EQ(Levels(), "0,1,0");
  ASSERT_OK(IngestBehind({File("/a.sst", 0, 10, "b")}));
  Put(9, "new");
  CompactAndRewrite();
  EXPECT_EQ(Levels(), "0,1,1");
  EXPECT_EQ(Scan(), "k0000=v k0001=v k0002=v k0003=b k0004=b k0008=b k0009=new");
}

// It counts for no compaction, so a stop that it causes would never end.
TEST_F(IngestBehindTest, DoesNotStopWritesWithUniversalCompaction) {
  options_.compaction_style = kCompactionStyleUniversal;
  options_.disable_auto_compactions = false;  // without compactions no table stops writes
  options_.level0_file_num_compaction_trigger = 4;
  options_.level0_slowdown_writes_trigger = 4;
  options_.level0_stop_writes_trigger = 4;
  Open();
  ASSERT_OK(IngestBehind({File("/b.sst", 0, 4, "b")}));
  FlushOptions flush;
  flush.allow_write_stall = true;  // the flush must not wait for what is examined
  for (int i = 0; i < 3; i++) {
    Put(i, "v");
    ASSERT_OK(db_->Flush(flush));
  }
  WaitForJobs();
  EXPECT_EQ(Levels(), "3,0,0,1");
  EXPECT_EQ(Property("rocksdb.is-write-stopped"), "0");
}

// Files ingested behind, at any time among writes and compactions, have the effect of files that
// were ingested first.
TEST_F(IngestBehindTest, InAnyOrderIsAsIfItHadComeFirst) {
  options_.disable_auto_compactions = false;
  options_.write_buffer_size = 64 << 10;
  options_.level0_file_num_compaction_trigger = 2;
  for (uint32_t seed = 1; seed <= 5; seed++) {
    Open();
    Random64 random(seed);
    constexpr int kKeys = 200, kFiles = 10;
    std::vector<std::string> state(kKeys, "?");  // "?": nothing was written
    std::vector<std::string> ingested(kKeys, "-");
    int next_file = 0;
    for (int step = 0; step < 600; step++) {
      const int key = static_cast<int>(random.Uniform(kKeys));
      const auto what = random.Uniform(20);
      if (what < 10) {
        state[key] = StrCat("v", step);
        Put(key, state[key]);
      } else if (what < 16) {
        state[key] = "-";
        Delete(key);
      } else if (what == 16) {
        Flush();
      } else if (what == 17 && next_file < kFiles) {
        const int begin = next_file++ * (kKeys / kFiles), end = begin + kKeys / kFiles;
        ASSERT_OK(IngestBehind({File(StrCat("/r", seed, "_", next_file), begin, end, "b")}));
        for (int i = begin; i < end; i++) ingested[i] = "b";
      } else if (what == 18) {
        CompactAndRewrite();
      }
    }
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < kKeys; i++) {
        ASSERT_EQ(Get(i), state[i] == "?" ? ingested[i] : state[i]) << "seed " << seed;
      }
      if (round == 0) Reopen();
    }
    CheckWhole();
    Close();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

}  // namespace
}  // namespace ashlar
