// SPDX-License-Identifier: Apache-2.0
//
// verify_manifest_content_on_close: a MANIFEST that was damaged while the database was open is
// written again at the close.
#include "env/filename.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class ManifestAtCloseTest : public DbTest {
 protected:
  ManifestAtCloseTest() {
    options_.verify_manifest_content_on_close = true;
    options_.statistics = CreateDBStatistics();
  }
  void Open() {
    DbTest::Open();
    for (const char* key : {"a", "b"}) {
      Put(key, "value");
      Flush();
    }
    Put("c", "value");
  }
  std::string Manifest() {
    std::string current = memory_->AllFiles()["/db/CURRENT"];
    current.pop_back();
    return "/db/" + current;
  }
  void ExpectAll() {
    for (const char* key : {"a", "b", "c"}) EXPECT_EQ(Get(key), "value");
  }
  void Damage() {
    std::string bytes = memory_->AllFiles()[Manifest()];
    bytes[bytes.size() / 2] ^= 0x55;
    memory_->PutFile(Manifest(), bytes);
  }
};

TEST_F(ManifestAtCloseTest, AWholeOneStays) {
  Open();
  const std::string manifest = Manifest();
  const std::string contents = memory_->AllFiles()[manifest];
  Close();
  EXPECT_EQ(Manifest(), manifest);
  EXPECT_EQ(memory_->AllFiles()[manifest], contents);
}

TEST_F(ManifestAtCloseTest, ADamagedOneIsWrittenAnew) {
  Open();
  const std::string manifest = Manifest();
  Damage();
  Close();
  EXPECT_EQ(Ticks(MANIFEST_VALIDATION_FAILURE_COUNT), 1u);
  EXPECT_NE(Manifest(), manifest);
  EXPECT_FALSE(memory_->AllFiles().contains(manifest)) << "the damaged one is gone";
  DbTest::Open();
  ExpectAll();
}

TEST_F(ManifestAtCloseTest, SoIsOneThatIsGoneOrCut) {
  for (const bool is_cut : {false, true}) {
    Open();
    const std::string manifest = Manifest();
    const std::string contents = memory_->AllFiles()[manifest];
    ASSERT_OK(memory_->DeleteFile(manifest, IOOptions(), nullptr));
    if (is_cut) memory_->PutFile(manifest, contents.substr(0, contents.size() - 3));
    Close();
    DbTest::Open();
    ExpectAll();
    Close();
  }
}

TEST_F(ManifestAtCloseTest, WithoutTheOptionTheNextOpeningFails) {
  Open();
  ASSERT_OK(db_->SetDBOptions({{"verify_manifest_content_on_close", "false"}}));
  Damage();
  Close();
  EXPECT_TRUE(TryOpen().IsCorruption());
}

}  // namespace
}  // namespace ashlar
