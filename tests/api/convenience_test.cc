// SPDX-License-Identifier: Apache-2.0
//
// The free functions of convenience.h that act on a database or a table file.
#include "ashlar/convenience.h"

#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class ConvenienceTest : public DbTest {
 protected:
  ConvenienceTest() {
    options_.write_buffer_size = 256 << 10;
    Open();
    Put("key", std::string(5000, 'v'));
    Put("other", std::string(5000, 'w'));
    Flush();
  }
};

TEST_F(ConvenienceTest, WithoutBackgroundWorkWritesGoOnUntilTheyWouldHaveToWait) {
  CancelAllBackgroundWork(db_.get(), /*wait=*/true);
  EXPECT_EQ(Get("key"), std::string(5000, 'v'));
  Put("key", "new");
  EXPECT_EQ(Get("key"), "new");
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsShutdownInProgress());
  const std::string big(options_.write_buffer_size / 2, 'x');
  Status status;
  for (int i = 0; i < 20 && status.ok(); i++) status = db_->Put(WriteOptions(), "big", big);
  EXPECT_TRUE(status.IsShutdownInProgress()) << status.ToString();
  EXPECT_OK(db_->Close());
  EXPECT_TRUE(db_->Put(WriteOptions(), "key", "closed").IsShutdownInProgress());
}

TEST_F(ConvenienceTest, WhatWasWrittenWithoutBackgroundWorkIsThereAfterwards) {
  CancelAllBackgroundWork(db_.get());
  Put("late", "kept");
  Drop();
  Open();
  EXPECT_EQ(Get("late"), "kept");
}

TEST_F(ConvenienceTest, CancelingKeepsWhatSkippedTheLog) {
  ASSERT_OK(db_->Put(Unlogged(), "unlogged", "kept"));
  CancelAllBackgroundWork(db_.get());
  Drop();
  Open();
  EXPECT_EQ(Get("unlogged"), "kept");
}

TEST_F(ConvenienceTest, ATableFileIsVerifiedWithoutItsDatabase) {
  const std::vector<LiveFileMetaData> files = Tables();
  ASSERT_EQ(files.size(), 1u);
  const std::string path = files[0].db_path + files[0].name;
  EXPECT_OK(VerifySstFileChecksum(options_, EnvOptions(), path));

  std::string bytes;
  ASSERT_OK(ReadFileToString(env_.get(), path, &bytes));
  bytes[1000] ^= 1;
  ASSERT_OK(WriteStringToFile(env_.get(), bytes, "/damaged.sst"));
  const Status status = VerifySstFileChecksum(options_, EnvOptions(), "/damaged.sst");
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find("/damaged.sst"), std::string::npos) << status.ToString();
  EXPECT_FALSE(VerifySstFileChecksum(options_, EnvOptions(), "/none.sst").ok());
}

}  // namespace
}  // namespace ashlar
