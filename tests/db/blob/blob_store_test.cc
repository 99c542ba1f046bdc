// SPDX-License-Identifier: Apache-2.0
//
// What a BlobWriter has written a BlobStore reads: alone, together, cached, damaged.
#include "db/blob/blob_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "db/blob/blob_files_builder.h"
#include "db/blob/blob_writer.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

struct Stored {
  std::string key, value, index;
};

class BlobStoreTest : public testing::Test {
 protected:
  void SetUp() override { fs_.PutFile("/db/CURRENT", ""); }

  void OpenStore(std::shared_ptr<Cache> cache = nullptr, int most_open = -1) {
    BlobStoreOptions options;
    options.fs = &fs_;
    options.dir = "/db";
    options.cache = std::move(cache);
    options.statistics = statistics_.get();
    most_open_ = most_open;
    options.most_open = &most_open_;
    store_ = std::make_unique<BlobStore>(options);
  }

  // Values of 10 to 19 'a' to 'j', and larger ones.
  void Write(CompressionType compression = kNoCompression, uint64_t file_bytes = 1 << 20) {
    uint64_t next_number = 10;
    BlobWriterOptions options;
    options.fs = &fs_;
    options.dir = "/db";
    options.family_id = 5;
    options.file_bytes = file_bytes;
    options.compression = compression;
    options.new_file_number = [&next_number] { return FileNumber{next_number++}; };
    BlobWriter writer(options);
    for (size_t i = 0; i < 20; i++) {
      Stored stored;
      stored.key = "key" + std::to_string(100 + i);
      stored.value = std::string(10 + (i % 2 == 0 ? i : 100 * i), static_cast<char>('a' + i));
      BlobIndex index;
      bool is_stored = false;
      ASSERT_OK(writer.Add(stored.key, stored.value, &index, &is_stored));
      ASSERT_TRUE(is_stored);
      index.AppendTo(&stored.index);
      values_.push_back(std::move(stored));
    }
    ASSERT_OK(writer.Finish());
    OpenStore();
    BlobFilesBuilder builder(nullptr, store_.get());
    builder.Link(FileNumber{10});
    ASSERT_OK(builder.Apply(writer.files(), {}, /*family_id=*/5));
    ASSERT_OK(builder.Build(&files_));
  }

  Status Read(const Stored& stored, std::string* value, const ReadOptions& options = {}) {
    PinnableSlice pinned;
    BlobRead read{.user_key = stored.key, .index = stored.index, .value = &pinned, .status = {}};
    const Status status = store_->Read(files_.get(), options, &read);
    *value = pinned.ToString();
    return status;
  }

  std::string FileBytes(uint64_t number) {
    return fs_.AllFiles().at(store_->PathOf(FileNumber{number}));
  }
  uint64_t Ticks(uint32_t ticker) const { return statistics_->getTickerCount(ticker); }
  int OpenFileCount() const {
    int open = 0;
    for (const BlobFiles::Live& live : files_->all()) open += live.file->opened() != nullptr;
    return open;
  }

  std::atomic<int> most_open_{-1};
  MemoryFileSystem fs_;
  std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  std::vector<Stored> values_;
  std::shared_ptr<const BlobFiles> files_;
  std::unique_ptr<BlobStore> store_;
};

TEST_F(BlobStoreTest, ReadsWhatWasWritten) {
  for (const CompressionType compression :
       {kNoCompression, kSnappyCompression, kZlibCompression, kBZip2Compression, kLZ4Compression,
        kLZ4HCCompression, kZSTD}) {
    if (!IsCompressionSupported(compression)) continue;
    SCOPED_TRACE(static_cast<int>(compression));
    values_.clear();
    Write(compression);
    for (const bool verifies : {true, false}) {
      ReadOptions options;
      options.verify_checksums = verifies;
      for (const Stored& stored : values_) {
        std::string value;
        ASSERT_OK(Read(stored, &value, options));
        EXPECT_EQ(value, stored.value);
      }
    }
  }
}

TEST_F(BlobStoreTest, AFileEndsWhenItHasReachedItsSize) {
  Write(kNoCompression, /*file_bytes=*/1000);
  EXPECT_GT(files_->all().size(), 5u);
  uint64_t count = 0;
  for (const BlobFiles::Live& live : files_->all()) {
    EXPECT_EQ(live.file->meta.file_bytes(), FileBytes(live.file->meta.number.value()).size());
    count += live.file->meta.blob_count;
  }
  EXPECT_EQ(count, values_.size());
  for (const Stored& stored : values_) {
    std::string value;
    ASSERT_OK(Read(stored, &value));
    EXPECT_EQ(value, stored.value);
  }
}

TEST_F(BlobStoreTest, ReadsManyAtOnceInAnyOrder) {
  Write(kNoCompression, /*file_bytes=*/4000);
  std::vector<PinnableSlice> values(values_.size());
  std::vector<BlobRead> reads;
  for (size_t i = 0; i < values_.size(); i++) {
    const size_t place = i * 7 % values_.size();  // each once
    reads.push_back({.user_key = values_[place].key,
                     .index = values_[place].index,
                     .value = &values[place],
                     .status = {}});
  }
  reads[3].index = "nonsense";
  store_->ReadMany(files_.get(), ReadOptions(), reads);
  for (size_t i = 0; i < reads.size(); i++) {
    const size_t place = i * 7 % values_.size();
    if (i == 3) {
      EXPECT_TRUE(reads[i].status.IsCorruption());
      EXPECT_EQ(values[place].size(), 0u);
    } else {
      ASSERT_OK(reads[i].status);
      EXPECT_EQ(values[place].ToString(), values_[place].value);
    }
  }
}

TEST_F(BlobStoreTest, ACachedValueNeedsNoFile) {
  Write();
  OpenStore(NewLRUCache(1 << 20));
  std::string value;
  ReadOptions memory_only;
  memory_only.read_tier = kBlockCacheTier;
  EXPECT_TRUE(Read(values_[3], &value, memory_only).IsIncomplete());
  ReadOptions leaves_no_trace;
  leaves_no_trace.fill_cache = false;
  ASSERT_OK(Read(values_[3], &value, leaves_no_trace));
  EXPECT_TRUE(Read(values_[3], &value, memory_only).IsIncomplete());
  ASSERT_OK(Read(values_[3], &value));
  ASSERT_OK(Read(values_[3], &value, memory_only));
  EXPECT_EQ(value, values_[3].value);
  EXPECT_EQ(Ticks(BLOB_DB_CACHE_ADD), 1u);
  EXPECT_EQ(Ticks(BLOB_DB_CACHE_HIT), 1u);
  EXPECT_EQ(Ticks(BLOB_DB_CACHE_MISS), 4u);
}

TEST_F(BlobStoreTest, APinnedValueOutlivesItsPlaceInTheCache) {
  Write();
  const std::shared_ptr<Cache> cache = NewLRUCache(1 << 20);
  OpenStore(cache);
  PinnableSlice pinned;
  BlobRead read{
      .user_key = values_[5].key, .index = values_[5].index, .value = &pinned, .status = {}};
  ASSERT_OK(store_->Read(files_.get(), ReadOptions(), &read));
  cache->EraseUnRefEntries();
  cache->SetCapacity(0);
  EXPECT_EQ(pinned.ToString(), values_[5].value);
  pinned.Reset();
  EXPECT_EQ(cache->GetUsage(), 0u);
}

TEST_F(BlobStoreTest, FewFilesStayOpenIfThatIsTheLimit) {
  Write(kNoCompression, /*file_bytes=*/1);  // one value each
  OpenStore(nullptr, /*most_open=*/2);
  for (int round = 0; round < 2; round++) {
    for (const Stored& stored : values_) {
      std::string value;
      ASSERT_OK(Read(stored, &value));
      EXPECT_EQ(value, stored.value);
      EXPECT_LE(OpenFileCount(), 2);
    }
  }
}

TEST_F(BlobStoreTest, ALimitThatComesLaterClosesWhatIsOpen) {
  Write(kNoCompression, /*file_bytes=*/1);
  OpenStore();
  std::string value;
  for (size_t i = 0; i + 1 < values_.size(); i++) ASSERT_OK(Read(values_[i], &value));
  EXPECT_EQ(OpenFileCount(), static_cast<int>(values_.size()) - 1);
  most_open_ = 3;
  ASSERT_OK(Read(values_.back(), &value));
  EXPECT_EQ(OpenFileCount(), 3);
  EXPECT_EQ(value, values_.back().value);
  for (const Stored& stored : values_) {
    ASSERT_OK(Read(stored, &value));
    EXPECT_EQ(value, stored.value);
    EXPECT_LE(OpenFileCount(), 3);
  }
}

// Each flipped byte gives the right value or an error that names the file.
TEST_F(BlobStoreTest, DamageIsTold) {
  for (const CompressionType compression : {kNoCompression, kZSTD}) {
    if (!IsCompressionSupported(compression)) continue;
    values_.clear();
    Write(compression);
    const std::string path = store_->PathOf(FileNumber{10});
    const std::string good = FileBytes(10);
    for (size_t offset = 0; offset < good.size(); offset++) {
      std::string damaged = good;
      damaged[offset] = static_cast<char>(damaged[offset] ^ 0x41);
      fs_.PutFile(path, damaged);
      for (const BlobFiles::Live& live : files_->all()) live.file->SetOpened(nullptr);
      for (const size_t i : {size_t{0}, size_t{7}, values_.size() - 1}) {
        std::string value;
        const Status status = Read(values_[i], &value);
        if (status.ok()) {
          ASSERT_EQ(value, values_[i].value) << "offset " << offset;
        } else {
          ASSERT_NE(status.ToString().find(path), std::string::npos) << status.ToString();
          ASSERT_EQ(value, "");
        }
      }
    }
    fs_.PutFile(path, good);
  }
}

TEST_F(BlobStoreTest, CutFilesAreRefused) {
  Write();
  const std::string path = store_->PathOf(FileNumber{10});
  const std::string good = FileBytes(10);
  for (size_t n = 0; n < good.size(); n += 13) {
    fs_.PutFile(path, good.substr(0, n));
    for (const BlobFiles::Live& live : files_->all()) live.file->SetOpened(nullptr);
    std::string value;
    const Status status = Read(values_[0], &value);
    EXPECT_TRUE(status.IsCorruption()) << n << ": " << status.ToString();
  }
}

// An index of a foreign table: no place that it names may be believed.
TEST_F(BlobStoreTest, WrongIndexesAreRefused) {
  Write();
  BlobIndex good;
  ASSERT_OK(good.DecodeFrom(values_[4].index));
  std::vector<BlobIndex> wrong(7, good);
  wrong[0].file = FileNumber{99};
  wrong[1].offset = 0;
  wrong[2].offset = UINT64_MAX - 5;
  wrong[3].size = UINT64_MAX;
  wrong[4].size += 1;
  wrong[5].offset += 1;
  wrong[6].compression = kLZ4Compression;
  for (const BlobIndex& index : wrong) {
    Stored stored = values_[4];
    stored.index.clear();
    index.AppendTo(&stored.index);
    std::string value;
    EXPECT_TRUE(Read(stored, &value).IsCorruption()) << index.DebugString();
  }
  Stored other_key = values_[4];
  other_key.key = "key999";
  std::string value;
  EXPECT_TRUE(Read(other_key, &value).IsCorruption());
}

TEST_F(BlobStoreTest, AFileOfAnotherFamilyIsRefused) {
  Write();
  BlobFilesBuilder builder(nullptr, store_.get());
  builder.Link(FileNumber{10});
  ASSERT_OK(builder.Apply({files_->all()[0].file->meta}, {}, /*family_id=*/6));
  ASSERT_OK(builder.Build(&files_));
  std::string value;
  EXPECT_TRUE(Read(values_[0], &value).IsCorruption());
}

TEST_F(BlobStoreTest, WrittenValuesMayBeCachedAtOnce) {
  OpenStore(NewLRUCache(1 << 20));
  BlobWriterOptions options;
  options.fs = &fs_;
  options.dir = "/db";
  options.file_bytes = 1 << 20;
  options.new_file_number = [] { return FileNumber{30}; };
  options.prepopulated = store_.get();
  BlobWriter writer(options);
  BlobIndex index;
  bool is_stored = false;
  ASSERT_OK(writer.Add("key", "value", &index, &is_stored));
  ASSERT_OK(writer.Finish());
  BlobFilesBuilder builder(nullptr, store_.get());
  builder.Link(FileNumber{30});
  ASSERT_OK(builder.Apply(writer.files(), {}, 0));
  ASSERT_OK(builder.Build(&files_));
  Stored stored{.key = "key", .value = "value", .index = {}};
  index.AppendTo(&stored.index);
  ReadOptions memory_only;
  memory_only.read_tier = kBlockCacheTier;
  std::string value;
  ASSERT_OK(Read(stored, &value, memory_only));
  EXPECT_EQ(value, "value");
}

TEST_F(BlobStoreTest, AnUnfinishedFileIsDeleted) {
  {
    BlobWriterOptions options;
    options.fs = &fs_;
    options.dir = "/db";
    options.file_bytes = 1 << 20;
    options.new_file_number = [] { return FileNumber{30}; };
    BlobWriter writer(options);
    BlobIndex index;
    bool is_stored = false;
    ASSERT_OK(writer.Add("key", "value", &index, &is_stored));
    EXPECT_TRUE(fs_.AllFiles().contains("/db/000030.blob"));
  }
  EXPECT_FALSE(fs_.AllFiles().contains("/db/000030.blob"));
}

}  // namespace
}  // namespace ashlar
