// SPDX-License-Identifier: Apache-2.0
//
// A disk that fills up: writes fail with NoSpace, acknowledged entries stay, and the database works
// again once there is room. Also a directory in which no log can be created.
#include "tests/support/sample_database.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string Value(int i) { return StrCat("value ", i, std::string(200, 'v')); }

class FullDisk : public DbTest {
 protected:
  FullDisk() : DbTest(TestFiles::kSim) {
    options_.max_bgerror_resume_count = 0;  // only a call resumes
  }

  testing::AssertionResult Holds(const Entries& expected) {
    return HoldsExactly(db_.get(), db_->DefaultColumnFamily(), expected);
  }
};

TEST_F(FullDisk, KeepsWhatWasAcknowledged) {
  options_.write_buffer_size = 64 << 10;
  Open();
  sim_->SetByteQuota(sim_->UsedBytes() + (600 << 10));
  int count = 0;
  Status status;
  while (count < 100000) {
    status = db_->Put(WriteOptions(), Key(count), Value(count));
    if (!status.ok()) break;
    count++;
  }
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  Entries expected;
  for (int i = 0; i < count; i++) expected.emplace_back(Key(i), Value(i));
  EXPECT_TRUE(Holds(expected)) << "while full";
  Drop();

  sim_->SetByteQuota(uint64_t{1} << 40);
  Open();
  EXPECT_TRUE(Holds(expected)) << "with room again";
  Put("zzz", "goes on");
  Compact();
}

TEST_F(FullDisk, ResumesWhenThereIsRoom) {
  Open();
  for (int i = 0; i < 1000; i++) Put(Key(i), Value(i));
  sim_->SetByteQuota(sim_->UsedBytes() + 1000);
  EXPECT_FALSE(db_->Flush(FlushOptions()).ok());
  sim_->SetByteQuota(uint64_t{1} << 40);
  EXPECT_OK(db_->Resume());
  Put(Key(1000), Value(1000));
  Flush();
  Entries expected;
  for (int i = 0; i <= 1000; i++) expected.emplace_back(Key(i), Value(i));
  EXPECT_TRUE(Holds(expected));
}

TEST_F(FullDisk, OpeningLosesNothing) {
  Open();
  Entries expected;
  for (int i = 0; i < 1000; i++) {
    Put(Key(i), Value(i));
    expected.emplace_back(Key(i), Value(i));
  }
  Close();
  for (const uint64_t room : {0, 100, 1000, 10000}) {
    sim_->SetByteQuota(sim_->UsedBytes() + room);
    const Status status = TryOpen();
    EXPECT_TRUE(status.IsNoSpace()) << room << ": " << status.ToString();
  }
  sim_->SetByteQuota(uint64_t{1} << 40);
  Open();
  EXPECT_TRUE(Holds(expected));
}

// A full memtable is switched with a new log. Until there is one, it takes no entry: its memory
// does not grow without limit.
TEST_F(FullDisk, AFullMemTableDoesNotGrowWhileNoLogCanBeCreated) {
  options_.write_buffer_size = 64 << 10;
  Open();
  Fail(CallKind::kCreate, ".log", FaultMode::kSticky);
  int count = 0;
  Status status;
  while (count < 10000) {
    status = db_->Put(WriteOptions(), Key(count), Value(count));
    if (!status.ok()) break;
    count++;
  }
  ASSERT_TRUE(status.IsIOError()) << status.ToString();
  const uint64_t bytes = Number(DB::Properties::kCurSizeAllMemTables);
  for (int i = 0; i < 100; i++) {
    status = db_->Put(WriteOptions(), "refused", Value(i));
    EXPECT_TRUE(status.IsIOError()) << status.ToString();
  }
  EXPECT_EQ(Number(DB::Properties::kCurSizeAllMemTables), bytes);
  EXPECT_EQ(Get("refused"), "(none)");
  sim_->ClearFaults();
  Entries expected;
  for (int i = 0; i < 2 * count; i++) {
    if (i >= count) Put(Key(i), Value(i));
    expected.emplace_back(Key(i), Value(i));
  }
  EXPECT_TRUE(Holds(expected));
  Reopen();
  EXPECT_TRUE(Holds(expected));
}

}  // namespace
}  // namespace ashlar
