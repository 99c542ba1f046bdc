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

// A blob file that is open for reading.
// Shared by reads in progress, so that closing a file does not disturb them.
struct OpenBlobFile {
  std::unique_ptr<RandomReader> reader;
  CompressionType compression = kNoCompression;
};

// Pointers outlive the store.
struct BlobStoreOptions {
  FileSystem* fs = nullptr;  // outlives the store
  FileOptions file_options;
  std::string dir;               // of the blob files
  std::shared_ptr<Cache> cache;  // null: values are not cached
  Statistics* statistics = nullptr;
  SystemClock* clock = nullptr;  // for deadlines; null: the default clock
  // The maximal number of open files; negative, or a null pointer: unlimited. Outlives the store.
  // The number may change at any time, and is applied when the next file is opened.
  const std::atomic<int>* most_open = nullptr;
};

// The request for one value, and its result.
struct BlobRead {
  Slice user_key;
  Slice index;                     // as stored in the table; may point into `value`
  PinnableSlice* value = nullptr;  // gets the value
  Status status;
};

// One per column family. Knows directory and cache; the files of a version are passed to each call.
class BlobStore {
 public:
  explicit BlobStore(BlobStoreOptions options);
  BlobStore(const BlobStore&) = delete;
  BlobStore& operator=(const BlobStore&) = delete;

  // The path of the blob file with this number.
  std::string PathOf(FileNumber number) const;
  const std::shared_ptr<Cache>& cache() const { return options_.cache; }

  // Reads one value. `files`: the files of the reader's version, which the caller keeps alive;
  // null: none. Corruption names file, offset and key. Incomplete if the read tier forbids the
  // necessary read.
  Status Read(const BlobFiles* files, const ReadOptions& options, BlobRead* read) const;
  // The same for several values: values that are close together are read in one piece, and all
  // pieces at the same time. Each request gets its own status.
  void ReadMany(const BlobFiles* files, const ReadOptions& options,
                std::span<BlobRead> reads) const;

  // A hint to the file system that `n` bytes from the value on will be read.
  void Prefetch(const BlobFiles* files, const BlobIndex& index, size_t n) const;

  // Opens the file now, so that it can be read even after it is deleted. It stays open if the
  // number of open files is not limited.
  Status EnsureOpen(const std::shared_ptr<BlobFile>& file) const { return Open(file).status(); }

  // Puts a value that was just written into the cache, if there is one.
  void Prepopulate(FileNumber file, uint64_t offset, const Slice& value) const;

 private:
  class Value;
  struct Located;
  // A range of a file that is read at once: the requests with indexes from `first` to `last`.
  struct Piece {
    size_t first = 0, last = 0;
    uint64_t begin = 0, end = 0;
    std::unique_ptr<char[]> memory;
  };
  // The requests are sorted by file and offset.
  static std::vector<Piece> CutIntoPieces(const std::vector<Located>& wanted);
  // Decodes the index and finds the file in the version; needs no I/O.
  static Status Locate(const BlobFiles* files, const BlobRead& read, Located* located);
  // True if the value was found; it is then pinned in the request.
  bool FindInCache(const Located& located, BlobRead* read) const;
  // The open file; opens it if necessary.
  Result<std::shared_ptr<const OpenBlobFile>> Open(const std::shared_ptr<BlobFile>& file) const;
  // Opens a file and checks its header and footer.
  Result<std::shared_ptr<const OpenBlobFile>> OpenFile(const BlobFile& file) const;
  // Remembers that the file is open, and closes the oldest files beyond the limit.
  void NoteOpened(const std::shared_ptr<BlobFile>& file) const;
  // Opens the file of a request and checks that the index lies within it.
  Status OpenFor(Located* located, const BlobRead& read) const;
  Status Take(const Located& located, const Slice& bytes, std::unique_ptr<char[]> memory,
              const ReadOptions& options, BlobRead* read) const;
  // Gives the value to the request and, if `fills_cache`, to the cache as well.
  void HandOut(const Located& located, std::unique_ptr<Value> value, bool fills_cache,
               BlobRead* read) const;
  // Reads all located requests with as few reads as possible.
  void ReadPieces(std::vector<Located>* wanted, const ReadOptions& options,
                  std::span<BlobRead> reads) const;
  // 24 bytes: the id of the store, the file number and the offset.
  std::string CacheKey(FileNumber file, uint64_t offset) const;

  const BlobStoreOptions options_;
  const uint64_t cache_id_;  // distinguishes the values of this store in a shared cache
  mutable Mutex mutex_{LockRank::kTableCache};
  // Open files in the order in which they were opened; kept without a limit too, because one may be
  // set later.
  mutable std::vector<std::weak_ptr<BlobFile>> open_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
