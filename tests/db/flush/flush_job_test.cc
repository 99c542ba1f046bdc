// SPDX-License-Identifier: Apache-2.0
//
// One flush of memtables, without a database.
#include "db/flush/flush_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"
#include "util/invariants.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

class FlushJobTest : public testing::Test {
 protected:
  FlushJobTest() {
    EXPECT_TRUE(fs_.CreateDir("/db", IOOptions(), nullptr).ok());
    context_.fs = &fs_;
    job_.table.context = &context_;
    job_.table.family_options = std::make_shared<const ColumnFamilyOptions>();
    job_.table.comparator = &comparator_;
    job_.table.dir = "/db";
    job_.table.file_number = 7;
    job_.table.epoch_number = 3;
    NewMemTable();
    NewMemTable();
  }
  ~FlushJobTest() override {
    for (MemTable* memtable : job_.memtables) memtable->Unref();
  }
  void NewMemTable() {
    const uint64_t id = job_.memtables.size() + 1;
    job_.memtables.push_back(new MemTable(comparator_, MemTableOptions(), id));
  }
  void Put(size_t memtable, SequenceNumber seqno, const std::string& key) {
    ASSERT_OK(job_.memtables[memtable]->Add(seqno, kTypeValue, key, "v"));
  }
  bool HasTable() { return fs_.FileExists("/db/000007.sst", IOOptions(), nullptr).ok(); }
  Status Run() { return FlushJob(job_).Run(&result_); }

  MemoryFileSystem fs_;
  const InternalKeyComparator comparator_{BytewiseComparator()};
  TableOutputContext context_;
  FlushJobOptions job_;
  OutputResult result_;
};

}  // namespace

TEST_F(FlushJobTest, AllMemTablesBecomeOneTable) {
  Put(0, 1, "a");
  Put(0, 2, "m");
  Put(1, 3, "a");
  Put(1, 4, "z");
  ASSERT_OK(Run());
  ASSERT_EQ(result_.tables.size(), 1u);
  const FileMetadata& table = result_.tables[0].meta;
  EXPECT_EQ(table.number.value(), 7u);
  EXPECT_EQ(table.epoch_number, 3u);
  EXPECT_EQ(table.smallest_user_key(), Slice("a"));
  EXPECT_EQ(table.largest_user_key(), Slice("z"));
  EXPECT_EQ(table.smallest_seqno, 2u);
  EXPECT_EQ(table.largest_seqno, 4u);
  EXPECT_EQ(result_.input_entries, 4u);
  EXPECT_EQ(result_.output_entries, 3u);
  EXPECT_EQ(result_.hidden_dropped, 1u);
  EXPECT_TRUE(HasTable());
}

TEST_F(FlushJobTest, KeepsWhatASnapshotSees) {
  Put(0, 1, "a");
  Put(1, 3, "a");
  job_.snapshots = {2};
  ASSERT_OK(Run());
  EXPECT_EQ(result_.output_entries, 2u);
}

TEST_F(FlushJobTest, EmptyMemTablesMakeNoTable) {
  ASSERT_OK(Run());
  EXPECT_TRUE(result_.tables.empty());
  EXPECT_FALSE(HasTable());
}

// As after an iterator that lost one.
TEST_F(FlushJobTest, AnEntryThatWasCountedAndIsNotThereIsCorruption) {
  if (kChecksInvariants) GTEST_SKIP() << "such a memtable stops the program";
  Put(0, 1, "a");
  InsertHint hint;
  hint.pending.entries = 1;
  hint.pending.smallest_seqno = hint.pending.largest_seqno = 1;
  job_.memtables[0]->AddCounters(&hint);
  const Status status = Run();
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_TRUE(result_.tables.empty());
  EXPECT_FALSE(HasTable());
}

TEST_F(FlushJobTest, ProgressGoesFromNothingToAll) {
  for (int i = 0; i < 200; i++) Put(0, static_cast<SequenceNumber>(i + 1), std::to_string(i));
  std::vector<double> progress;
  job_.on_progress = [&progress](double part) { progress.push_back(part); };
  ASSERT_OK(Run());
  ASSERT_GT(progress.size(), 10u);
  EXPECT_EQ(progress.front(), 0);
  EXPECT_EQ(progress.back(), 1);
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
}

}  // namespace ashlar
