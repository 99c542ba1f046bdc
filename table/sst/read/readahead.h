// SPDX-License-Identifier: Apache-2.0
//
// Readahead: the private buffer of one iterator, through which it reads a file in larger pieces
// when it moves forwards. A fixed distance larger than a piece is left to the file system, which
// fetches ahead into the page cache: a compaction of many files need not hold it all itself. Direct
// I/O, and file systems that cannot fetch ahead, read the whole distance.
//
// One that is asynchronous has the next piece read while the present one is used: into a second
// buffer where the file system can start reads, else by its fetching ahead. Threads: one at a time;
// not before reads of its file have ended may that be closed.
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
    size_t fixed_bytes = 0;         // always be this far ahead; 0 = find out
    size_t initial_bytes = 8192;    // of the automatic readahead; doubles with each read
    size_t max_bytes = 256 * 1024;  // 0 = no automatic readahead
    uint64_t reads_before = 2;      // sequential reads before it starts
    bool is_async = false;          // the file system fetches the next piece meanwhile
    // Where what the reader wants ends in the file; asked at the first read. Null: at its end.
    uint64_t (*find_end)(const void* context) = nullptr;
    const void* context = nullptr;
  };
  explicit Readahead(const Options& options) : options_(options) {}
  ~Readahead() { EndNext(); }
  Readahead(const Readahead&) = delete;
  Readahead& operator=(const Readahead&) = delete;

  // How far the automatic readahead has come, for one that goes on in another file; 0: nowhere.
  size_t pace() const { return next_bytes_; }
  void ContinueAt(size_t pace) {
    next_bytes_ = pace;
    sequential_reads_ = pace == 0 ? 0 : options_.reads_before;
  }

  // `n` bytes from `offset`, in `scratch` (n bytes), in the buffer, or in the file's own memory.
  // The result is valid until the next call.
  Status Read(const RandomReader& file, uint64_t offset, size_t n, char* scratch, Slice* result,
              const IOOptions& io = IOOptions());

  // What was read before and is still in the buffer, until the next call; null: not all of it is.
  const char* Find(uint64_t offset, size_t n) const {
    const bool is_held = offset >= begin_ && offset + n <= begin_ + size_;
    return is_held ? buffer_.data() + (offset - begin_) : nullptr;
  }

  // What it holds, where it expects the next read and what it has under way; one line.
  std::string DebugString() const;

 private:
  size_t BytesToRead(uint64_t offset, size_t n);
  uint64_t EndIn(const RandomReader& file);
  Status Fill(const RandomReader& file, uint64_t offset, size_t bytes, const IOOptions& io);
  void PrefetchBehind(const RandomReader& file, uint64_t end);
  void PrefetchNext(const RandomReader& file, uint64_t end, const IOOptions& io);
  size_t NextBytes() const {
    return options_.fixed_bytes != 0 ? options_.fixed_bytes : next_bytes_;
  }
  // The piece that was started: begun, taken behind what the buffer keeps, given up.
  void StartNext(const RandomReader& file, uint64_t begin, size_t bytes, const IOOptions& io);
  bool TakeNext(const RandomReader& file, uint64_t offset, size_t n, const IOOptions& io);
  void EndNext();
  Slice TakeFromBuffer(const RandomReader& file, uint64_t offset, size_t n);
  // Makes room for `bytes` from `offset` on, and says how many of them are there.
  size_t KeepFrom(uint64_t offset, size_t bytes);
  void Prefetch(const RandomReader& file, uint64_t begin, uint64_t end);

  const Options options_;
  uint64_t begin_ = 0;  // buffer_ holds [begin_, begin_ + size_) of the file
  size_t size_ = 0;
  PageBuffer buffer_;              // grows to the largest read
  size_t next_bytes_ = 0;          // of the next automatic readahead; 0 = not started
  uint64_t sequential_reads_ = 0;  // in a row
  uint64_t expected_ = 0;          // where a sequential read starts
  uint64_t prefetched_end_ = 0;    // the file system was asked for what lies before
  uint64_t end_ = 0;               // as find_end() says; 0: it was not asked
  // Under way, or done and not taken.
  struct NextPiece {
    uint64_t begin = 0;
    size_t bytes = 0;  // 0: there is none
    PageBuffer buffer;
    FSReadRequest request;
    FileSystem* fs = nullptr;  // where it is waited for
    void* handle = nullptr;    // null: it is done
    IOHandleDeleter deleter;
    Statistics* statistics = nullptr;
  };
  NextPiece next_;
  bool can_prefetch_ = true;  // until the file system says that it cannot
};

}  // namespace ashlar
