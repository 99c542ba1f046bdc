// SPDX-License-Identifier: Apache-2.0
//
// Readahead: the private buffer of one iterator, through which it reads a file in larger pieces
// when it moves forwards. A fixed distance larger than a piece is left to the file system, which
// fetches ahead into the page cache: a compaction of many files need not hold it all itself. Direct
// I/O, and file systems that cannot fetch ahead, read the whole distance. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "env/random_reader.h"
#include "util/page_buffer.h"

namespace ashlar {

class Readahead {
 public:
  struct Options {
    size_t fixed_bytes = 0;         // always be this far ahead; 0 = find out
    size_t initial_bytes = 8192;    // of the automatic readahead; doubles with each read
    size_t max_bytes = 256 * 1024;  // 0 = no automatic readahead
    uint64_t reads_before = 2;      // sequential reads before it starts
    bool is_async = false;          // the file system fetches the next piece meanwhile
  };
  explicit Readahead(const Options& options) : options_(options) {}

  // `n` bytes from `offset`, in `scratch` (n bytes), in the buffer, or in the file's own memory.
  // The result is valid until the next call.
  Status Read(const RandomReader& file, uint64_t offset, size_t n, char* scratch, Slice* result,
              const IOOptions& io = IOOptions());

 private:
  size_t BytesToRead(uint64_t offset, size_t n);
  Status Fill(const RandomReader& file, uint64_t offset, size_t bytes, const IOOptions& io);
  void PrefetchBehind(const RandomReader& file, uint64_t end);
  void PrefetchNext(const RandomReader& file, uint64_t end);
  void Prefetch(const RandomReader& file, uint64_t begin, uint64_t end);

  const Options options_;
  uint64_t begin_ = 0;  // buffer_ holds [begin_, begin_ + size_) of the file
  size_t size_ = 0;
  PageBuffer buffer_;              // grows to the largest read
  size_t next_bytes_ = 0;          // of the next automatic readahead; 0 = not started
  uint64_t sequential_reads_ = 0;  // in a row
  uint64_t expected_ = 0;          // where a sequential read starts
  uint64_t prefetched_end_ = 0;    // the file system was asked for what lies before
  bool can_prefetch_ = true;       // until the file system says that it cannot
};

}  // namespace ashlar
