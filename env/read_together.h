// SPDX-License-Identifier: Apache-2.0
//
// ReadTogether makes several reads of any files in parallel: reads of one file with the batching of
// its file system, reads of several files with asynchronous reads, if the file system has them. It
// returns when all are done. Not inside an EpochGuard; any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

class RandomReader;

// One read and its result. The memory belongs to the caller, and must stay valid until
// ReadTogether() returns.
struct FileRead {
  const RandomReader* file = nullptr;  // outlives the read
  uint64_t offset = 0;
  size_t n = 0;
  char* scratch = nullptr;  // n bytes
  // The result: exactly n bytes, in scratch or in memory of the file; or an error.
  Slice result{};
  Status status{};
};

// Makes all reads and waits for them. Each gets a status of its own; one that fails does not affect
// the others. Reads of one file should be neighbours in `reads`.
void ReadTogether(std::span<FileRead> reads, const IOOptions& io = IOOptions());

}  // namespace ashlar
