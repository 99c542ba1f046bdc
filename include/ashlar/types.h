// SPDX-License-Identifier: Apache-2.0
//
// Small types that many interfaces use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "ashlar/slice.h"

namespace ashlar {

struct TableProperties;

// Number of a column family, which is stored in the files; the default family has 0.
using ColumnFamilyId = uint32_t;

// Position of an update in the history of the database. At most 2^56 - 1.
using SequenceNumber = uint64_t;

// Table properties by file name.
using TablePropertiesCollection =
    std::unordered_map<std::string, std::shared_ptr<const TableProperties>>;

// Updates with sequence numbers below this one are always committed.
const SequenceNumber kMinUnCommittedSeq = 1;

// Why a table file was made.
enum class TableFileCreationReason {
  kFlush,
  kCompaction,
  kRecovery,  // while opening a database
  kMisc,      // ingestion, SstFileWriter and the like
};

// Why a blob file was made.
enum class BlobFileCreationReason {
  kFlush,
  kCompaction,
  kRecovery,
};

// The types of files in the directory of a database.
enum FileType {
  kWalFile,
  kDBLockFile,
  kTableFile,
  kDescriptorFile,  // MANIFEST
  kCurrentFile,
  kTempFile,
  kInfoLogFile,
  kMetaDatabase,
  kIdentityFile,
  kOptionsFile,
  kBlobFile,
  kCompactionProgressFile,
};

// The type of a table entry, as table property collectors see it.
enum EntryType {
  kEntryPut,
  kEntryDelete,
  kEntrySingleDelete,
  kEntryMerge,
  kEntryRangeDeletion,
  kEntryBlobIndex,
  kEntryDeleteWithTimestamp,
  kEntryWideColumnEntity,
  kEntryTimedPut,
  kEntryOther,
};

// The parts of an internal key. The slices point into the key.
struct ParsedEntryInfo {
  Slice user_key;   // without the timestamp
  Slice timestamp;  // empty if the comparator has none
  SequenceNumber sequence;
  EntryType type;
};

// What slows down or stops writes. The causes before kCFScopeWriteStallCauseEnumMax concern one
// column family; the next one concerns the whole database.
enum class WriteStallCause {
  kMemtableLimit,
  kL0FileCountLimit,
  kPendingCompactionBytes,
  kCFScopeWriteStallCauseEnumMax,
  kWriteBufferManagerLimit,
  kDBScopeWriteStallCauseEnumMax,
  kNone,
};

// The state of writes.
enum class WriteStallCondition {
  kDelayed,  // writes are slowed down
  kStopped,  // writes wait
  kNormal,
};

// The storage tier of a file. Higher numbers are colder; they are stored in the MANIFEST.
enum class Temperature : uint8_t {
  kUnknown = 0,
  kHot = 0x04,
  kWarm = 0x08,
  kCool = 0x0A,
  kCold = 0x0C,
  kIce = 0x10,
  kLastTemperature,
};

}  // namespace ashlar
