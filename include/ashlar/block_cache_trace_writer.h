// SPDX-License-Identifier: Apache-2.0
//
// Traces of accesses to the block cache, see DB::StartBlockCacheTrace().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/export.h"
#include "ashlar/options.h"
#include "ashlar/table_reader_caller.h"
#include "ashlar/trace_reader_writer.h"
#include "ashlar/trace_record.h"

namespace ashlar {

class Slice;
class SystemClock;

// One access to a block.
struct BlockCacheTraceRecord {
  uint64_t access_timestamp = 0;  // microseconds since 1970
  // In a record that is being written the three strings are empty: they are arguments of
  // WriteBlockAccess().
  std::string block_key;  // the key of the block in the cache
  TraceType block_type = TraceType::kTraceMax;
  uint64_t block_size = 0;  // bytes of the block in memory; 0: unknown
  uint64_t cf_id = 0;
  std::string cf_name;
  uint32_t level = 0;
  uint64_t sst_fd_number = 0;  // the number of the table
  TableReaderCaller caller = TableReaderCaller::kMaxBlockCacheLookupCaller;
  bool is_cache_hit = false;
  bool no_insert = false;  // a block that was not found was not put into the cache

  // For the callers kUserGet and kUserMultiGet. All accesses of one call have the same id.
  uint64_t get_id = kReservedGetId;
  bool get_from_user_specified_snapshot = false;
  std::string referenced_key;  // the internal key that was searched

  // For these callers on data blocks.
  uint64_t referenced_data_size = 0;  // bytes of key and value that were found
  uint64_t num_keys_in_block = 0;     // 0: unknown
  bool referenced_key_exist_in_block = false;

  // No call has this id.
  ASHLAR_EXPORT static const uint64_t kReservedGetId;

  BlockCacheTraceRecord() {}
  BlockCacheTraceRecord(uint64_t _access_timestamp, std::string _block_key, TraceType _block_type,
                        uint64_t _block_size, uint64_t _cf_id, std::string _cf_name,
                        uint32_t _level, uint64_t _sst_fd_number, TableReaderCaller _caller,
                        bool _is_cache_hit, bool _no_insert, uint64_t _get_id,
                        bool _get_from_user_specified_snapshot = false,
                        std::string _referenced_key = "", uint64_t _referenced_data_size = 0,
                        uint64_t _num_keys_in_block = 0,
                        bool _referenced_key_exist_in_block = false)
      : access_timestamp(_access_timestamp),
        block_key(std::move(_block_key)),
        block_type(_block_type),
        block_size(_block_size),
        cf_id(_cf_id),
        cf_name(std::move(_cf_name)),
        level(_level),
        sst_fd_number(_sst_fd_number),
        caller(_caller),
        is_cache_hit(_is_cache_hit),
        no_insert(_no_insert),
        get_id(_get_id),
        get_from_user_specified_snapshot(_get_from_user_specified_snapshot),
        referenced_key(std::move(_referenced_key)),
        referenced_data_size(_referenced_data_size),
        num_keys_in_block(_num_keys_in_block),
        referenced_key_exist_in_block(_referenced_key_exist_in_block) {}
};

// Receives the trace records. Threads: the database calls one at a time.
class ASHLAR_EXPORT BlockCacheTraceWriter {
 public:
  virtual ~BlockCacheTraceWriter() {}

  // Records one access to a block. The slices are valid during the call. `referenced_key` is empty
  // unless the caller is kUserGet or kUserMultiGet. An error ends the trace.
  virtual Status WriteBlockAccess(const BlockCacheTraceRecord& record, const Slice& block_key,
                                  const Slice& cf_name, const Slice& referenced_key) = 0;
  // Called once, before the first record.
  virtual Status WriteHeader() = 0;
};

// Options of DB::StartBlockCacheTrace().
struct BlockCacheTraceOptions {
  // Trace one block out of this many. The key of a block decides, so all accesses to a block are in
  // the trace or none is. 0 counts as 1.
  uint64_t sampling_frequency = 1;
};

// Options of a writer that stores the trace in a file.
struct BlockCacheTraceWriterOptions {
  // Bytes after which no more records are written. That is not an error.
  uint64_t max_trace_file_size = uint64_t{64} * 1024 * 1024 * 1024;
};

// A writer in RocksDB's format. `clock` is used for the time of the header and outlives the writer.
ASHLAR_EXPORT std::unique_ptr<BlockCacheTraceWriter> NewBlockCacheTraceWriter(
    SystemClock* clock, const BlockCacheTraceWriterOptions& trace_options,
    std::unique_ptr<TraceWriter>&& trace_writer);

}  // namespace ashlar
