// SPDX-License-Identifier: Apache-2.0
//
// Why a block of a table is read; stored in block cache traces. The numbers are part of the format.
#pragma once

namespace ashlar {

enum TableReaderCaller : char {
  kUserGet = 1,
  kUserMultiGet = 2,
  kUserIterator = 3,
  kUserApproximateSize = 4,
  kUserVerifyChecksum = 5,
  kSSTDumpTool = 6,
  kExternalSSTIngestion = 7,
  kRepair = 8,
  kPrefetch = 9,
  kCompaction = 10,
  kCompactionRefill = 11,
  kFlush = 12,
  kSSTFileReader = 13,
  kUncategorized = 14,
  kMaxBlockCacheLookupCaller
};

}  // namespace ashlar
