// SPDX-License-Identifier: Apache-2.0
//
// A disk that fills up: writes fail by name, what was acknowledged stays, and room heals.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "env/sim/sim_fs.h"
#include "tests/support/sample_database.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string Key(int i) { return StrCat("key", 10000 + i); }
std::string Value(int i) { return StrCat("value ", i, std::string(200, 'v')); }

class FullDisk : public testing::Test {
 protected:
  FullDisk() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.max_bgerror_resume_count = 0;  // only a call resumes
  }

  Status Open() { return DB::Open(options_, "/db", &db_); }
  testing::AssertionResult Holds(const Entries& expected) {
    return HoldsExactly(db_.get(), db_->DefaultColumnFamily(), expected);
  }

  const std::shared_ptr<SimFS> sim_ = SimFS::Create();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(sim_);
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(FullDisk, KeepsWhatWasAcknowledged) {
  options_.write_buffer_size = 64 << 10;
  ASSERT_OK(Open());
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
  db_.reset();

  sim_->SetByteQuota(uint64_t{1} << 40);
  ASSERT_OK(Open());
  EXPECT_TRUE(Holds(expected)) << "with room again";
  ASSERT_OK(db_->Put(WriteOptions(), "zzz", "goes on"));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
}

TEST_F(FullDisk, ResumesWhenThereIsRoom) {
  ASSERT_OK(Open());
  for (int i = 0; i < 1000; i++) ASSERT_OK(db_->Put(WriteOptions(), Key(i), Value(i)));
  sim_->SetByteQuota(sim_->UsedBytes() + 1000);
  EXPECT_FALSE(db_->Flush(FlushOptions()).ok());
  sim_->SetByteQuota(uint64_t{1} << 40);
  EXPECT_OK(db_->Resume());
  EXPECT_OK(db_->Put(WriteOptions(), Key(1000), Value(1000)));
  EXPECT_OK(db_->Flush(FlushOptions()));
  Entries expected;
  for (int i = 0; i <= 1000; i++) expected.emplace_back(Key(i), Value(i));
  EXPECT_TRUE(Holds(expected));
}

TEST_F(FullDisk, OpeningLosesNothing) {
  ASSERT_OK(Open());
  Entries expected;
  for (int i = 0; i < 1000; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), Key(i), Value(i)));
    expected.emplace_back(Key(i), Value(i));
  }
  db_.reset();
  for (const uint64_t room : {0, 100, 1000, 10000}) {
    sim_->SetByteQuota(sim_->UsedBytes() + room);
    const Status status = Open();
    EXPECT_TRUE(status.IsNoSpace()) << room << ": " << status.ToString();
    db_.reset();
  }
  sim_->SetByteQuota(uint64_t{1} << 40);
  ASSERT_OK(Open());
  EXPECT_TRUE(Holds(expected));
}

}  // namespace
}  // namespace ashlar
