// SPDX-License-Identifier: Apache-2.0
//
// Encrypted databases that we write and RocksDB reads, and the other way round, with the stock
// cipher. Skipped without RocksDB's library.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env_encryption.h"
#include "ashlar/merge_operator.h"
#include "tests/interop/utilities_theirs.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class EncryptionInterop : public UtilitiesInterop {
 protected:
  EncryptionInterop() : UtilitiesInterop("encryption_interop") {}
  void SetUp() override {
    UtilitiesInterop::SetUp();
    if (IsSkipped()) return;
    std::shared_ptr<EncryptionProvider> provider;
    ASSERT_OK(EncryptionProvider::CreateFromString(ConfigOptions(), "CTR://test", &provider));
    env_.reset(NewEncryptedEnv(Env::Default(), provider));
  }
  std::unique_ptr<DB> Open() {
    Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.write_compatible_with = "7.8";
    EXPECT_OK(
        MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options.merge_operator));
    std::unique_ptr<DB> db;
    EXPECT_OK(DB::Open(options, db_dir_, &db));
    return db;
  }

  std::unique_ptr<Env> env_;
};

TEST_F(EncryptionInterop, BothContinueOneDatabase) {
  Theirs("crypt-put", "a 1 b 2");
  {
    const std::unique_ptr<DB> db = Open();
    ASSERT_NE(db, nullptr);
    std::string value;
    ASSERT_OK(db->Get({}, "b", &value));
    EXPECT_EQ(value, "2");
    ASSERT_OK(db->Put({}, "c", "3"));
    ASSERT_OK(db->Flush({}));
    ASSERT_OK(db->Put({}, "d", "4"));
  }
  EXPECT_EQ(Theirs("crypt-rows"), "a 1\nb 2\nc 3\nd 4\n");
  Theirs("crypt-put", "e 5");
  const std::unique_ptr<DB> db = Open();
  std::string value;
  ASSERT_OK(db->Get({}, "e", &value));
  EXPECT_EQ(value, "5");
  ASSERT_OK(db->VerifyChecksum());
}

}  // namespace
}  // namespace ashlar
