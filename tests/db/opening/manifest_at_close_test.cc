// SPDX-License-Identifier: Apache-2.0
//
// verify_manifest_content_on_close: a MANIFEST that was damaged while the database was open is
// written anew when it closes.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/statistics.h"
#include "env/env_adaptors.h"
#include "env/filename.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class ManifestAtCloseTest : public testing::Test {
 protected:
  ManifestAtCloseTest() {
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.verify_manifest_content_on_close = true;
    options_.statistics = CreateDBStatistics();
  }
  void Open() {
    ASSERT_OK(DB::Open(options_, "/db", &db_));
    for (const char* key : {"a", "b"}) {
      ASSERT_OK(db_->Put(WriteOptions(), key, "value"));
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
    ASSERT_OK(db_->Put(WriteOptions(), "c", "value"));
  }
  std::string Manifest() {
    std::string current = memory_->AllFiles()["/db/CURRENT"];
    current.pop_back();
    return "/db/" + current;
  }
  void ExpectAll() {
    std::string value;
    for (const char* key : {"a", "b", "c"}) EXPECT_OK(db_->Get(ReadOptions(), key, &value)) << key;
  }
  void Damage() {
    std::string bytes = memory_->AllFiles()[Manifest()];
    bytes[bytes.size() / 2] ^= 0x55;
    memory_->PutFile(Manifest(), bytes);
  }

  const std::shared_ptr<MemoryFileSystem> memory_ = std::make_shared<MemoryFileSystem>();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(memory_);
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(ManifestAtCloseTest, AWholeOneStays) {
  Open();
  const std::string manifest = Manifest();
  const std::string contents = memory_->AllFiles()[manifest];
  ASSERT_OK(db_->Close());
  EXPECT_EQ(Manifest(), manifest);
  EXPECT_EQ(memory_->AllFiles()[manifest], contents);
}

TEST_F(ManifestAtCloseTest, ADamagedOneIsWrittenAnew) {
  Open();
  const std::string manifest = Manifest();
  Damage();
  ASSERT_OK(db_->Close());
  EXPECT_EQ(options_.statistics->getTickerCount(MANIFEST_VALIDATION_FAILURE_COUNT), 1u);
  EXPECT_NE(Manifest(), manifest);
  EXPECT_FALSE(memory_->AllFiles().contains(manifest)) << "the damaged one is gone";
  ASSERT_OK(DB::Open(options_, "/db", &db_));
  ExpectAll();
}

TEST_F(ManifestAtCloseTest, SoIsOneThatIsGoneOrCut) {
  for (const bool is_cut : {false, true}) {
    Open();
    const std::string manifest = Manifest();
    const std::string contents = memory_->AllFiles()[manifest];
    ASSERT_OK(memory_->DeleteFile(manifest, IOOptions(), nullptr));
    if (is_cut) memory_->PutFile(manifest, contents.substr(0, contents.size() - 3));
    ASSERT_OK(db_->Close());
    ASSERT_OK(DB::Open(options_, "/db", &db_)) << is_cut;
    ExpectAll();
    db_.reset();
  }
}

TEST_F(ManifestAtCloseTest, WithoutTheOptionTheNextOpeningFails) {
  Open();
  ASSERT_OK(db_->SetDBOptions({{"verify_manifest_content_on_close", "false"}}));
  Damage();
  ASSERT_OK(db_->Close());
  EXPECT_TRUE(DB::Open(options_, "/db", &db_).IsCorruption());
}

}  // namespace
}  // namespace ashlar
