// SPDX-License-Identifier: Apache-2.0
//
// The free functions of convenience.h that act on a database or a table file.
#include "ashlar/convenience.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/metadata.h"
#include "ashlar/options.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class ConvenienceTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.write_buffer_size = 256 << 10;
    DB* raw = nullptr;
    ASSERT_OK(DB::Open(options_, "/db", &raw));
    db_.reset(raw);
    ASSERT_OK(db_->Put(WriteOptions(), "key", std::string(5000, 'v')));
    ASSERT_OK(db_->Put(WriteOptions(), "other", std::string(5000, 'w')));
    ASSERT_OK(db_->Flush(FlushOptions()));
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(ConvenienceTest, WithoutBackgroundWorkWritesGoOnUntilTheyWouldHaveToWait) {
  CancelAllBackgroundWork(db_.get(), /*wait=*/true);
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), "key", &value));
  EXPECT_EQ(value.size(), 5000u);
  ASSERT_OK(db_->Put(WriteOptions(), "key", "new"));
  ASSERT_OK(db_->Get(ReadOptions(), "key", &value));
  EXPECT_EQ(value, "new");
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
  ASSERT_OK(db_->Put(WriteOptions(), "late", "kept"));
  db_.reset();
  DB* raw = nullptr;
  ASSERT_OK(DB::Open(options_, "/db", &raw));
  db_.reset(raw);
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), "late", &value));
  EXPECT_EQ(value, "kept");
}

TEST_F(ConvenienceTest, CancelingKeepsWhatSkippedTheLog) {
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_OK(db_->Put(unlogged, "unlogged", "kept"));
  CancelAllBackgroundWork(db_.get());
  db_.reset();
  DB* raw = nullptr;
  ASSERT_OK(DB::Open(options_, "/db", &raw));
  db_.reset(raw);
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), "unlogged", &value));
  EXPECT_EQ(value, "kept");
}

TEST_F(ConvenienceTest, ATableFileIsVerifiedWithoutItsDatabase) {
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
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
