// SPDX-License-Identifier: Apache-2.0
//
// Explain tells why a read took the time it took: every place that was looked at, in order, with
// what its filter said, where each block came from, and what was found there.
//
//   ashlar::ReadExplanation explanation;
//   ashlar::Status status = ashlar::ExplainGet(db, ashlar::ReadOptions(),
//                                              db->DefaultColumnFamily(), "key", &explanation);
//   std::puts(explanation.ToString().c_str());
//
// The read goes through the same code as any other one, so it opens tables and fills caches as that
// would; it is counted by the database, but not in the perf context of the thread. Any thread.
// Microseconds include what observing costs, about a tenth of one for each place and block, more
// for each entry that an explained seek passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"

namespace ashlar {

class ColumnFamilyHandle;
class DB;
struct ReadOptions;

enum class ExplainedRead : uint8_t { kGet, kSeek, kSeekForPrev };

// One use of a block. The index and the filter of a table are read when it is opened and stay with
// it, so they appear only where they are partitioned.
struct ASHLAR_EXPORT ExplainedBlock {
  enum class Kind : uint8_t { kData, kIndex, kFilter };
  enum class Origin : uint8_t {
    kSlot,   // in memory, and its table pointed to it
    kCache,  // in memory, found in the block cache
    kFile,
  };
  Kind kind = Kind::kData;
  Origin origin = Origin::kSlot;
  uint64_t offset = 0;  // in the file
  uint64_t bytes = 0;   // there: compressed
  double micros = 0;    // to get hold of it, with reading, verifying and uncompressing

  std::string ToString() const;
};

// A range tombstone that covers the key, or a stretch of keys that a seek went through.
struct ASHLAR_EXPORT ExplainedTombstone {
  std::string begin;  // user keys, [begin, end); both empty: not known
  std::string end;
  SequenceNumber seqno = 0;  // hides what is older

  std::string ToString() const;
};

// A memtable or a table that a read has looked into.
struct ASHLAR_EXPORT ExplainedPlace {
  enum class Kind : uint8_t { kMemTable, kSealedMemTable, kTable };
  enum class Filter : uint8_t { kNotAsked, kRejected, kLetThrough };
  enum class Found : uint8_t {
    kNothing,
    kValue,
    kTombstone,
    kRangeTombstone,
    kMergeOperands,  // and what they are merged into lies deeper
    kFailure,
  };

  Kind kind = Kind::kMemTable;
  uint64_t number = 0;       // of the file, or of the memtable in the order of their beginnings
  int level = -1;            // tables only, as are the following three
  std::string smallest_key;  // user keys, inclusive
  std::string largest_key;
  uint64_t file_bytes = 0;
  bool was_opened = false;  // the table had to be opened
  // Of memtables too, if they have one. Seeks ask tables alone, and for the prefix, where their
  // options want entries of one prefix only.
  Filter filter = Filter::kNotAsked;
  bool is_prefix_filter = false;  // it was asked for the prefix by a seek
  Found found = Found::kNothing;
  SequenceNumber seqno = 0;  // of what was found; 0 also for what is older than all readers
  std::vector<ExplainedTombstone> tombstones;
  uint64_t merge_operands = 0;
  // Seeks: of the entries that the place showed those that are not part of the answer, because they
  // are too new, hidden by newer ones, or deleted.
  uint64_t entries_skipped = 0;

  bool was_in_row_cache = false;       // then nothing else was asked
  std::vector<ExplainedBlock> blocks;  // in the order of their use
  uint64_t bytes_read = 0;             // from the file, also to open the table
  double micros = 0;

  std::string ToString() const;
};

struct ASHLAR_EXPORT ReadExplanation {
  ExplainedRead read = ExplainedRead::kGet;
  std::string key;           // or the target of the seek
  SequenceNumber seqno = 0;  // newer entries do not count
  Status status;             // of the read: NotFound is an answer, too
  bool is_valid = false;     // seeks: there is an entry
  std::string found_key;     // seeks: its key
  size_t value_bytes = 0;
  std::vector<ExplainedPlace> places;  // in the order of the search
  uint64_t table_count = 0;            // of the family; most of them are known not to matter
  // Seeks: memtables, tables of level 0 and levels with tables, and how many of them were left
  // alone because range tombstones hide all that they could show.
  size_t run_count = 0;
  size_t runs_hidden = 0;
  uint64_t merge_operands = 0;  // that were merged
  double merge_micros = 0;
  double micros = 0;  // the whole read

  // A line for the read and one for each place, block and tombstone.
  std::string ToString() const;
};

// Reads the key as DB::Get does, or seeks as a new iterator does, one way or the other, and says
// how. OK if the
// explanation is complete, whatever the read came to; NotSupported for a database that is not of
// this library; else as the read for options that are refused.
ASHLAR_EXPORT Status ExplainGet(DB* db, const ReadOptions& options,
                                ColumnFamilyHandle* column_family, const Slice& key,
                                ReadExplanation* explanation);
ASHLAR_EXPORT Status ExplainSeek(DB* db, const ReadOptions& options,
                                 ColumnFamilyHandle* column_family, const Slice& target,
                                 ReadExplanation* explanation);
ASHLAR_EXPORT Status ExplainSeekForPrev(DB* db, const ReadOptions& options,
                                        ColumnFamilyHandle* column_family, const Slice& target,
                                        ReadExplanation* explanation);

}  // namespace ashlar
