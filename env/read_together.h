// SPDX-License-Identifier: Apache-2.0
//
// ReadTogether makes several reads, of any files, side by side: those of one file by the batching
// of its file system, those of several by its asynchronous reads, if it has any. It returns when
// all are done. Not inside an EpochGuard; any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

class RandomReader;

struct FileRead {
  const RandomReader* file = nullptr;  // outlives the read
  uint64_t offset = 0;
  size_t n = 0;
  char* scratch = nullptr;  // n bytes
  // The answer: exactly n bytes, in scratch or in memory of the file; or what went wrong.
  Slice result{};
  Status status{};
};

// Reads of one file should be neighbours.
void ReadTogether(std::span<FileRead> reads, const IOOptions& io = IOOptions());

}  // namespace ashlar
