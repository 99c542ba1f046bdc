// SPDX-License-Identifier: Apache-2.0
//
// Readahead: the private buffer of one iterator, through which it reads a file in larger pieces
// when it moves forwards. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "env/random_reader.h"

namespace ashlar {

class Readahead {
 public:
  struct Options {
    size_t fixed_bytes = 0;         // always read this much; 0 = find out
    size_t initial_bytes = 8192;    // of the automatic readahead; doubles with each read
    size_t max_bytes = 256 * 1024;  // 0 = no automatic readahead
    uint64_t reads_before = 2;      // sequential reads before it starts
  };
  explicit Readahead(const Options& options) : options_(options) {}

  // `n` bytes from `offset`, in `scratch` (n bytes), in the buffer, or in the file's own memory.
  // The result is valid until the next call.
  Status Read(const RandomReader& file, uint64_t offset, size_t n, char* scratch, Slice* result);

 private:
  size_t BytesToRead(uint64_t offset, size_t n);
  Status Fill(const RandomReader& file, uint64_t offset, size_t bytes);

  const Options options_;
  uint64_t begin_ = 0;  // buffer_ holds [begin_, begin_ + size_) of the file
  size_t size_ = 0;
  size_t capacity_ = 0;
  std::unique_ptr<char[]> buffer_;
  size_t next_bytes_ = 0;  // of the next automatic readahead; 0 = not started
  uint64_t sequential_reads_ = 0;
  uint64_t expected_ = 0;  // where a sequential read starts
};

}  // namespace ashlar
