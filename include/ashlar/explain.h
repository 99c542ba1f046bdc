// SPDX-License-Identifier: Apache-2.0
//
// Explains why a read took as long as it did: lists every memtable and table that was searched, in
// order, with the answer of its filter, where each block came from, and what was found there.
//
//   ashlar::ReadExplanation explanation;
//   ashlar::Status status = ashlar::ExplainGet(db, ashlar::ReadOptions(),
//                                              db->DefaultColumnFamily(), "key", &explanation);
//   std::puts(explanation.ToString().c_str());
//
// The read executes the same code as any other read, so it opens tables and fills caches. It is
// counted in the statistics of the database, but not in the PerfContext of the thread. Thread safe.
// The times include the cost of observing: about 0.1 microseconds for each place and each block,
// and more for each entry that an explained seek passes.
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

// Which call is explained.
enum class ExplainedRead : uint8_t { kGet, kSeek, kSeekForPrev };

// One access to a block. The index and the filter of a table are read when it is opened, so they
// are listed only if they are partitioned.
struct ASHLAR_EXPORT ExplainedBlock {
  enum class Kind : uint8_t { kData, kIndex, kFilter };
  enum class Origin : uint8_t {
    kSlot,   // in memory, reached by a pointer in the table reader
    kCache,  // in memory, found in the block cache
    kFile,   // read from the file
  };
  Kind kind = Kind::kData;
  Origin origin = Origin::kSlot;
  uint64_t offset = 0;  // in the file
  uint64_t bytes = 0;   // in the file, as compressed there
  double micros = 0;    // time to get the block, including reading, verifying and decompressing it

  std::string ToString() const;
};

// A range tombstone that covers the key, or keys that a seek passed.
struct ASHLAR_EXPORT ExplainedTombstone {
  std::string begin;  // user keys, [begin, end); both are empty if unknown
  std::string end;
  SequenceNumber seqno = 0;  // older entries are hidden

  std::string ToString() const;
};

// A memtable or a table that the read searched.
struct ASHLAR_EXPORT ExplainedPlace {
  enum class Kind : uint8_t { kMemTable, kImmutableMemTable, kTable };
  enum class Filter : uint8_t { kNotAsked, kRejected, kLetThrough };
  enum class Found : uint8_t {
    kNothing,
    kValue,
    kTombstone,
    kRangeTombstone,
    kMergeOperands,  // the value that they are merged with is in an older place
    kFailure,
  };

  Kind kind = Kind::kMemTable;
  uint64_t number = 0;       // number of the file; of a memtable, its position in order of creation
  int level = -1;            // only for tables, like the following three
  std::string smallest_key;  // user keys, inclusive
  std::string largest_key;
  uint64_t file_bytes = 0;
  bool was_opened = false;  // the table had to be opened
  // Answer of the filter; memtables may have a filter too. Seeks ask only the filters of tables,
  // with the prefix, and only if their options restrict them to one prefix.
  Filter filter = Filter::kNotAsked;
  bool is_prefix_filter = false;  // a seek asked for its prefix
  Found found = Found::kNothing;
  SequenceNumber seqno = 0;  // of the entry found; 0 if it is older than all readers
  std::vector<ExplainedTombstone> tombstones;
  uint64_t merge_operands = 0;
  // Seeks only: number of entries that were passed and are not part of the result, because they are
  // too new, hidden by newer entries, or deleted.
  uint64_t entries_skipped = 0;

  bool was_in_row_cache = false;       // if true, nothing else was searched
  std::vector<ExplainedBlock> blocks;  // in order of access
  uint64_t bytes_read = 0;             // from the file, including those for opening the table
  double micros = 0;

  std::string ToString() const;
};

// The explanation of one read.
struct ASHLAR_EXPORT ReadExplanation {
  ExplainedRead read = ExplainedRead::kGet;
  std::string key;           // or the target of the seek
  SequenceNumber seqno = 0;  // newer entries are not visible to the read
  Status status;             // of the read; may be NotFound
  bool is_valid = false;     // seeks only: whether an entry was found
  std::string found_key;     // seeks only: its key
  size_t value_bytes = 0;
  std::vector<ExplainedPlace> places;  // in the order of the search
  uint64_t table_count = 0;            // number of tables of the family
  // Seeks only: the number of sorted runs (memtables, tables of level 0, levels with tables), and
  // how many of them were not searched because range tombstones hide all their entries.
  size_t run_count = 0;
  size_t runs_hidden = 0;
  uint64_t merge_operands = 0;  // number of operands that were merged
  double merge_micros = 0;
  double micros = 0;  // of the whole read

  // Returns one line for the read, and one for each place, block and tombstone.
  std::string ToString() const;
};

// Perform a DB::Get(), or a Seek() or SeekForPrev() of a new iterator, and explain it. OK if the
// explanation is complete, whatever the result of the read. NotSupported if `db` is not a database
// of this library. If the options are refused, the status is that of the read.
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
