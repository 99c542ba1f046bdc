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

TEST_F(ConvenienceTest, ADatabaseWithoutBackgroundWorkServesReadsOnly) {
  CancelAllBackgroundWork(db_.get(), /*wait=*/true);
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), "key", &value));
  EXPECT_EQ(value.size(), 5000u);
  EXPECT_TRUE(db_->Put(WriteOptions(), "key", "new").IsShutdownInProgress());
  EXPECT_OK(db_->Close());
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
