// SPDX-License-Identifier: Apache-2.0
//
// BlobStore reads the values of one column family out of its blob files: through the blob cache, if
// there is one, and through files that it opens on first use.
//
// A record is used only after its checksums are verified, unless the read options disable this. A
// returned value is independent: neither the file nor the version must outlive it, but the cache
// must. Threads: all functions from any thread; not inside an EpochGuard.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ashlar/advanced_cache.h"
#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "db/blob/blob_file.h"
#include "env/random_reader.h"
#include "util/result.h"
#include "util/threads/mutex.h"

namespace ashlar {

class Statistics;
class SystemClock;
struct ReadOptions;

struct OpenBlobFile {
  std::unique_ptr<RandomReader> reader;
  CompressionType compression = kNoCompression;
};

struct BlobStoreOptions {
  FileSystem* fs = nullptr;  // outlives the store
  FileOptions file_options;
  std::string dir;               // of the blob files
  std::shared_ptr<Cache> cache;  // null: values are not cached
  Statistics* statistics = nullptr;
  SystemClock* clock = nullptr;  // of deadlines; null: the default one
  // Files that stay open; negative, or null: all. Outlives the store, and may change at any moment:
  // then it holds from the next file on that is opened.
  const std::atomic<int>* most_open = nullptr;
};

// A value that is wanted.
struct BlobRead {
  Slice user_key;
  Slice index;                     // as the table has it; may be memory of `value`
  PinnableSlice* value = nullptr;  // is replaced
  Status status;
};

class BlobStore {
 public:
  explicit BlobStore(BlobStoreOptions options);
  BlobStore(const BlobStore&) = delete;
  BlobStore& operator=(const BlobStore&) = delete;

  std::string PathOf(FileNumber number) const;
  const std::shared_ptr<Cache>& cache() const { return options_.cache; }

  // `files` are those of the reader's version and stay while it reads; null: there are none.
  // Corruption names file, offset and key; Incomplete if the read tier forbids what is needed.
  Status Read(const BlobFiles* files, const ReadOptions& options, BlobRead* read) const;
  // The same for several at once: what lies close together is read in one piece, all pieces beside
  // each other. Each has its own status.
  void ReadMany(const BlobFiles* files, const ReadOptions& options,
                std::span<BlobRead> reads) const;

  // Tells the file system that `n` bytes from the value on are going to be read. A hint.
  void Prefetch(const BlobFiles* files, const BlobIndex& index, size_t n) const;

  // Puts a value into the cache that was just written. Nothing if there is none.
  void Prepopulate(FileNumber file, uint64_t offset, const Slice& value) const;

 private:
  class Value;
  struct Located;
  // What is read at once: the wanted ones from `first` to `last`.
  struct Piece {
    size_t first = 0, last = 0;
    uint64_t begin = 0, end = 0;
    std::unique_ptr<char[]> memory;
  };
  static std::vector<Piece> CutIntoPieces(const std::vector<Located>& wanted);
  static Status Locate(const BlobFiles* files, const BlobRead& read, Located* located);
  bool FindInCache(const Located& located, BlobRead* read) const;
  Result<std::shared_ptr<const OpenBlobFile>> Open(const std::shared_ptr<BlobFile>& file) const;
  Result<std::shared_ptr<const OpenBlobFile>> OpenFile(const BlobFile& file) const;
  void NoteOpened(const std::shared_ptr<BlobFile>& file) const;
  Status OpenFor(Located* located, const BlobRead& read) const;
  Status Take(const Located& located, const Slice& bytes, std::unique_ptr<char[]> memory,
              const ReadOptions& options, BlobRead* read) const;
  void HandOut(const Located& located, std::unique_ptr<Value> value, bool fills_cache,
               BlobRead* read) const;
  void ReadPieces(std::vector<Located>* wanted, const ReadOptions& options,
                  std::span<BlobRead> reads) const;
  std::string CacheKey(FileNumber file, uint64_t offset) const;

  const BlobStoreOptions options_;
  const uint64_t cache_id_;  // of this store's values in the cache
  mutable Mutex mutex_{LockRank::kTableCache};
  // In the order in which they were opened; a limit may come later.
  mutable std::vector<std::weak_ptr<BlobFile>> open_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
