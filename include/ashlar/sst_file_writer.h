// SPDX-License-Identifier: Apache-2.0
//
// SstFileWriter writes a table file that does not belong to a database yet; see
// DB::IngestExternalFile(). Of one key, the newest timestamp comes first.
//
//   SstFileWriter writer(EnvOptions(), options);
//   Status s = writer.Open("/tmp/new.sst");
//   for (...) s = writer.Put(key, value);  // in the order of the comparator, no key twice
//   s = writer.Finish();
//
// Threads: one at a time per writer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/options.h"
#include "ashlar/status.h"
#include "ashlar/table_properties.h"
#include "ashlar/types.h"
#include "ashlar/wide_columns.h"

namespace ashlar {

class ColumnFamilyHandle;
class Comparator;
struct PreparedFileInfo;

// Options for values that are stored in the same file but outside its blocks.
struct SstFileWriterEmbeddedBlobOptions {
  // Size in bytes from which a value is stored that way.
  uint64_t min_blob_size = 2048;
  // Compression of these values; kDisableCompressionOption = as for the table.
  CompressionType compression_type = kDisableCompressionOption;
  CompressionOptions compression_options;
};

// Facts about a finished file.
struct ExternalSstFileInfo {
  ExternalSstFileInfo()
      : file_path(""),
        smallest_key(""),
        largest_key(""),
        smallest_range_del_key(""),
        largest_range_del_key(""),
        file_checksum(""),
        file_checksum_func_name(""),
        sequence_number(0),
        file_size(0),
        num_entries(0),
        num_range_del_entries(0),
        version(0) {}
  ExternalSstFileInfo(const std::string& _file_path, const std::string& _smallest_key,
                      const std::string& _largest_key, SequenceNumber _sequence_number,
                      uint64_t _file_size, uint64_t _num_entries, int32_t _version)
      : file_path(_file_path),
        smallest_key(_smallest_key),
        largest_key(_largest_key),
        smallest_range_del_key(""),
        largest_range_del_key(""),
        file_checksum(""),
        file_checksum_func_name(""),
        sequence_number(_sequence_number),
        file_size(_file_size),
        num_entries(_num_entries),
        num_range_del_entries(0),
        version(_version) {}

  std::string file_path;
  // Smallest and largest user key of the point entries, both inclusive; empty if there are none.
  std::string smallest_key;
  std::string largest_key;
  // First begin and last end of the range tombstones; empty if there are none.
  std::string smallest_range_del_key;
  std::string largest_range_del_key;
  // Checksum of the whole file and the name of its function, if Options::file_checksum_gen_factory
  // is set.
  std::string file_checksum;
  std::string file_checksum_func_name;
  SequenceNumber sequence_number;  // of all entries
  uint64_t file_size;              // bytes
  uint64_t num_entries;
  uint64_t num_range_del_entries;
  int32_t version;
  // Facts with which an ingestion need not read the file; may be null.
  std::shared_ptr<const PreparedFileInfo> prepared_file_info;
};

// Writes one table file at a time.
class ASHLAR_EXPORT SstFileWriter {
 public:
  // `options` should be those of the database that will ingest the file; user_comparator, if
  // passed, replaces their comparator. If a column family is passed, it is recorded, and ingesting
  // the file into another family fails. invalidate_page_cache asks the operating system to drop the
  // pages of the file from its page cache.
  SstFileWriter(const EnvOptions& env_options, const Options& options,
                ColumnFamilyHandle* column_family = nullptr, bool invalidate_page_cache = true,
                Env::IOPriority io_priority = Env::IOPriority::IO_TOTAL)
      : SstFileWriter(env_options, options, options.comparator, column_family,
                      invalidate_page_cache, io_priority) {}
  SstFileWriter(const EnvOptions& env_options, const Options& options,
                const Comparator* user_comparator, ColumnFamilyHandle* column_family = nullptr,
                bool invalidate_page_cache = true,
                Env::IOPriority io_priority = Env::IOPriority::IO_TOTAL);
  // If Finish() has not been called, deletes the file.
  ~SstFileWriter();
  SstFileWriter(const SstFileWriter&) = delete;
  SstFileWriter& operator=(const SstFileWriter&) = delete;

  // Begins a file. `temp` is a hint without effect.
  Status Open(const std::string& file_path, Temperature temp = Temperature::kUnknown);
  // NotSupported so far. The same, with large values outside the blocks.
  Status OpenWithEmbeddedBlobs(const std::string& file_path,
                               const SstFileWriterEmbeddedBlobOptions& embedded_blob_options,
                               Temperature temp = Temperature::kUnknown);

  // Add an entry. InvalidArgument if no file is open, or if the key does not sort after all
  // previous keys.
  Status Put(const Slice& user_key, const Slice& value);
  Status Put(const Slice& user_key, const Slice& timestamp, const Slice& value);
  Status PutEntity(const Slice& user_key, const WideColumns& columns);
  Status Merge(const Slice& user_key, const Slice& value);
  Status Delete(const Slice& user_key);
  Status Delete(const Slice& user_key, const Slice& timestamp);

  // Add a tombstone for [begin_key, end_key). Tombstones may be added in any order. They do not
  // hide entries of this file.
  Status DeleteRange(const Slice& begin_key, const Slice& end_key);
  Status DeleteRange(const Slice& begin_key, const Slice& end_key, const Slice& timestamp);

  // Completes and syncs the file. InvalidArgument if it has no entries. file_info, if not null,
  // receives facts about the file.
  Status Finish(ExternalSstFileInfo* file_info = nullptr);

  // Number of bytes written so far.
  uint64_t FileSize();

  // Whether the properties are those of a file that was made by an SstFileWriter.
  static bool CreatedBySstFileWriter(const TableProperties& table_properties);

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace ashlar
