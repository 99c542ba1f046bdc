// SPDX-License-Identifier: Apache-2.0
//
// A database whose memory was damaged returns Corruption and not a wrong value:
// memtable_protection_bytes_per_key, block_protection_bytes_per_key.
#include "ashlar/cache.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class MemoryProtectionTest : public DbTest {
 protected:
  MemoryProtectionTest() {
    options_.compression = kNoCompression;
    table_.block_cache = NewLRUCache(8 << 20);
    table_.block_size = 16 << 10;
  }
  void Open() {
    options_.table_factory.reset(NewBlockBasedTableFactory(table_));
    DbTest::Open();
    for (const char* key : {"a", "b", "c"}) Put(key);
  }
  void Put(const std::string& key) { DbTest::Put(key, std::string(kBytes, key[0])); }
  Status Get(const std::string& key) {
    std::string value;
    const Status status = db_->Get(ReadOptions(), key, &value);
    if (status.ok()) {
      EXPECT_EQ(value, std::string(kBytes, key[0]));
    }
    return status;
  }
  Status GetTogether(const std::string& key) {
    const std::vector<Slice> keys{key};
    std::vector<std::string> values;
    return db_->MultiGet(ReadOptions(), keys, &values).front();
  }
  Status Scan(bool forward) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
         forward ? it->Next() : it->Prev()) {
      EXPECT_EQ(it->value(), std::string(kBytes, it->key()[0]));
    }
    return it->status();
  }
  // Changes a byte of the value in the memory of the database, since large values are not copied.
  void Damage(const std::string& key) {
    PinnableSlice value;
    ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), key, &value));
    ASSERT_TRUE(value.IsPinned());
    const_cast<char*>(value.data())[100] ^= 1;
  }
  void ExpectCorruption(const std::string& key) {
    for (int i = 0; i < 4; ++i) {  // blocks that are used often are decoded
      EXPECT_TRUE(Get(key).IsCorruption()) << Get(key).ToString();
      EXPECT_TRUE(GetTogether(key).IsCorruption());
      EXPECT_TRUE(Scan(true).IsCorruption());
      EXPECT_TRUE(Scan(false).IsCorruption());
    }
  }

  static constexpr size_t kBytes = 3000;
  BlockBasedTableOptions table_;
};

TEST_F(MemoryProtectionTest, AMemTableShowsNoOtherValueAndIsNotFlushed) {
  options_.memtable_protection_bytes_per_key = 4;
  Open();
  Damage("b");
  ExpectCorruption("b");
  EXPECT_OK(Get("a"));
  const Status status = db_->Flush(FlushOptions());
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_EQ(TableCount(0), 0);
  // The log has the entries.
  Drop();
  DbTest::Open();
  EXPECT_OK(Get("b"));
}

// The change holds for later memtables.
TEST_F(MemoryProtectionTest, TheOptionOfMemTablesMayChange) {
  Open();
  ASSERT_OK(db_->SetOptions({{"memtable_protection_bytes_per_key", "8"}}));
  Flush();
  Put("b");
  Damage("b");
  EXPECT_TRUE(Get("b").IsCorruption());
  EXPECT_OK(Get("a"));
}

TEST_F(MemoryProtectionTest, ACachedBlockShowsNoOtherValue) {
  options_.block_protection_bytes_per_key = 1;
  Open();
  Flush();
  EXPECT_OK(Scan(true));
  const size_t charged = table_.block_cache->GetUsage();
  Damage("b");
  ExpectCorruption("b");
  EXPECT_OK(Get("a"));
  EXPECT_EQ(table_.block_cache->GetUsage(), charged);
}

TEST_F(MemoryProtectionTest, ABlockThatCameWithTheFlushIsProtectedToo) {
  options_.block_protection_bytes_per_key = 8;
  table_.prepopulate_block_cache = BlockBasedTableOptions::PrepopulateBlockCache::kFlushOnly;
  Open();
  Flush();
  Damage("c");
  ExpectCorruption("c");
}

TEST_F(MemoryProtectionTest, TheOptionOfBlocksHoldsForTablesThatAreOpenedLater) {
  Open();
  Flush();
  EXPECT_OK(Get("b"));
  ASSERT_OK(db_->SetOptions({{"block_protection_bytes_per_key", "2"}}));
  Put("d");
  Flush();
  Damage("d");
  EXPECT_TRUE(Get("d").IsCorruption());
}

TEST_F(MemoryProtectionTest, OtherSizesAreRefused) {
  options_.memtable_protection_bytes_per_key = 3;
  Status status = TryOpen();
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_NE(status.ToString().find("memtable_protection_bytes_per_key"), std::string::npos);
  options_.memtable_protection_bytes_per_key = 0;
  options_.block_protection_bytes_per_key = 16;
  status = TryOpen();
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_NE(status.ToString().find("block_protection_bytes_per_key"), std::string::npos);
}

}  // namespace
}  // namespace ashlar
