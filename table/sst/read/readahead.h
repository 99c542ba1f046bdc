// SPDX-License-Identifier: Apache-2.0
//
// Readahead: the buffer of one iterator, through which it reads a file in larger pieces while it
// moves forwards. If a fixed distance is larger than a piece, the rest is left to the file system,
// which reads ahead into the page cache; so a compaction of many files does not need to hold
// everything in its own memory. With direct I/O, or if the file system cannot read ahead, the whole
// distance is read into the buffer.
//
// An asynchronous readahead reads the next piece while the present one is used: into a second
// buffer if the file system can start reads, else with the file system's own readahead. Threads:
// one at a time. The file must stay open until the Readahead is destroyed, because a started read
// must end first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "env/random_reader.h"
#include "util/memory/page_buffer.h"

namespace ashlar {

class Statistics;

class Readahead {
 public:
  struct Options {
    size_t fixed_bytes = 0;  // constant distance in bytes; 0: automatic
    // First distance of the automatic readahead; it doubles with each read.
    size_t initial_bytes = 8192;
    size_t max_bytes = 256 * 1024;  // largest automatic distance; 0: no automatic readahead
    uint64_t reads_before = 2;      // sequential reads before the automatic readahead starts
    bool is_async = false;          // the next piece is read while the present one is used
    // Returns the offset behind which the iterator needs nothing. Called at the first read. Null:
    // the end of the file.
    uint64_t (*find_end)(const void* context) = nullptr;
    const void* context = nullptr;
  };
  explicit Readahead(const Options& options) : options_(options) {}
  ~Readahead() { EndNext(); }
  Readahead(const Readahead&) = delete;
  Readahead& operator=(const Readahead&) = delete;

  // The distance that the automatic readahead has reached; 0: not started. ContinueAt() continues
  // with it in another file.
  size_t pace() const { return next_bytes_; }
  void ContinueAt(size_t pace) {
    next_bytes_ = pace;
    sequential_reads_ = pace == 0 ? 0 : options_.reads_before;
  }

  // Reads `n` bytes from `offset`. `result` lies in `scratch` (n bytes), in the buffer, or in
  // memory of the file, and is valid until the next call.
  Status Read(const RandomReader& file, uint64_t offset, size_t n, char* scratch, Slice* result,
              const IOOptions& io = IOOptions());

  // Bytes that were read before and are still in the buffer, valid until the next call; null: not
  // all of them are there.
  const char* Find(uint64_t offset, size_t n) const {
    const bool is_held = offset >= begin_ && offset + n <= begin_ + size_;
    return is_held ? buffer_.data() + (offset - begin_) : nullptr;
  }

  // One line: the contents of the buffer, the expected next read, and the read under way.
  std::string DebugString() const;

 private:
  // The bytes to read for a request of `n` bytes, with the readahead; also keeps track of
  // sequential reads.
  size_t BytesToRead(uint64_t offset, size_t n);
  // The offset behind which nothing is read ahead.
  uint64_t EndIn(const RandomReader& file);
  Status Fill(const RandomReader& file, uint64_t offset, size_t bytes, const IOOptions& io);
  void PrefetchBehind(const RandomReader& file, uint64_t end);
  void PrefetchNext(const RandomReader& file, uint64_t end, const IOOptions& io);
  size_t NextBytes() const {
    return options_.fixed_bytes != 0 ? options_.fixed_bytes : next_bytes_;
  }
  // Start a read of the next piece; wait for it and append it to the part of the buffer that is
  // still needed; wait for it and drop it.
  void StartNext(const RandomReader& file, uint64_t begin, size_t bytes, const IOOptions& io);
  bool TakeNext(const RandomReader& file, uint64_t offset, size_t n, const IOOptions& io);
  void EndNext();
  Slice TakeFromBuffer(const RandomReader& file, uint64_t offset, size_t n);
  // Makes room for `bytes` bytes from `offset` on, and returns how many of them the buffer had
  // already.
  size_t KeepFrom(uint64_t offset, size_t bytes);
  void Prefetch(const RandomReader& file, uint64_t begin, uint64_t end);

  const Options options_;
  uint64_t begin_ = 0;  // buffer_ holds [begin_, begin_ + size_) of the file
  size_t size_ = 0;
  PageBuffer buffer_;              // as large as the largest read
  size_t next_bytes_ = 0;          // of the next automatic readahead; 0: not started
  uint64_t sequential_reads_ = 0;  // in a row
  uint64_t expected_ = 0;          // where a read must start to count as sequential
  uint64_t prefetched_end_ = 0;    // the file system was asked for everything before this offset
  uint64_t end_ = 0;               // the value of find_end(); 0: not called yet
  // A piece whose read was started and not taken yet.
  struct NextPiece {
    uint64_t begin = 0;
    size_t bytes = 0;  // 0: there is none
    PageBuffer buffer;
    FSReadRequest request;
    FileSystem* fs = nullptr;  // the file system that is polled
    void* handle = nullptr;    // null: the read is done
    IOHandleDeleter deleter;
    Statistics* statistics = nullptr;
  };
  NextPiece next_;
  bool can_prefetch_ = true;  // until the file system answers that it cannot
};

}  // namespace ashlar
