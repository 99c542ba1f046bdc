// SPDX-License-Identifier: Apache-2.0
//
// Facts about the files of a database, as of the call that returned them. Plain structs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/types.h"

namespace ashlar {

// The location and size of a file.
struct FileStorageInfo {
  // File name without directory, such as "000017.sst".
  std::string relative_filename;
  std::string directory;

  // The number in the file name; 0 if there is none.
  uint64_t file_number = 0;
  FileType file_type = kTempFile;

  // Size in bytes. If the file is still growing (see trim_to_size), the size at the time of the
  // call.
  uint64_t size = 0;
  Temperature temperature = Temperature::kUnknown;

  // Checksum of the whole file and the name of its function; if unknown, "" and "Unknown".
  std::string file_checksum;
  std::string file_checksum_func_name;
};

// A file that must be copied for a backup or checkpoint.
struct LiveFileStorageInfo : public FileStorageInfo {
  // If not empty, write this text to the copy instead of copying the file.
  std::string replacement_contents;
  // If true, the file may have grown since: copy only its first `size` bytes.
  bool trim_to_size = false;
  // For a table: its unique id as recorded in the MANIFEST (16 bytes), empty if unknown. RocksDB
  // does not have this field.
  std::string unique_id;
};

// A table file.
struct SstFileMetaData : public FileStorageInfo {
  SstFileMetaData() { file_type = kTableFile; }

  SstFileMetaData(const std::string& _file_name, uint64_t _file_number,
                  const std::string& _directory, uint64_t _size, SequenceNumber _smallest_seqno,
                  SequenceNumber _largest_seqno, const std::string& _smallestkey,
                  const std::string& _largestkey, uint64_t _num_reads_sampled,
                  bool _being_compacted, Temperature _temperature,
                  uint64_t _oldest_blob_file_number, uint64_t _oldest_ancester_time,
                  uint64_t _file_creation_time, uint64_t _epoch_number, std::string& _file_checksum,
                  std::string& _file_checksum_func_name)
      : smallest_seqno(_smallest_seqno),
        largest_seqno(_largest_seqno),
        smallestkey(_smallestkey),
        largestkey(_largestkey),
        num_reads_sampled(_num_reads_sampled),
        being_compacted(_being_compacted),
        oldest_blob_file_number(_oldest_blob_file_number),
        oldest_ancester_time(_oldest_ancester_time),
        file_creation_time(_file_creation_time),
        epoch_number(_epoch_number) {
    if (!_file_name.empty()) {
      relative_filename = _file_name[0] == '/' ? _file_name.substr(1) : _file_name;
      name = "/" + relative_filename;
    }
    directory = _directory;
    db_path = _directory;
    file_number = _file_number;
    file_type = kTableFile;
    size = _size;
    temperature = _temperature;
    file_checksum = _file_checksum;
    file_checksum_func_name = _file_checksum_func_name;
  }

  SequenceNumber smallest_seqno = 0;
  SequenceNumber largest_seqno = 0;
  // Smallest and largest user key, both inclusive.
  std::string smallestkey;
  std::string largestkey;
  uint64_t num_reads_sampled = 0;
  bool being_compacted = false;

  uint64_t num_entries = 0;
  uint64_t num_deletions = 0;

  // Number of the oldest blob file that the table refers to; 0 if it refers to none.
  uint64_t oldest_blob_file_number = 0;
  // In seconds since 1970; 0 if unknown.
  uint64_t oldest_ancester_time = 0;
  uint64_t file_creation_time = 0;
  // Order of the files of level 0: higher numbers are newer.
  uint64_t epoch_number = 0;

  // Smallest and largest internal key, as in the MANIFEST.
  std::string smallest{};
  std::string largest{};

  // Names of older releases for "/" + relative_filename and for the directory.
  std::string name;
  std::string db_path;
};

// A table file with its family and level.
struct LiveFileMetaData : public SstFileMetaData {
  std::string column_family_name;
  int level;

  LiveFileMetaData() : column_family_name(), level(0) {}
};

// A blob file.
struct BlobMetaData {
  BlobMetaData()
      : blob_file_number(0),
        blob_file_size(0),
        total_blob_count(0),
        total_blob_bytes(0),
        garbage_blob_count(0),
        garbage_blob_bytes(0) {}
  BlobMetaData(uint64_t _file_number, const std::string& _file_name, const std::string& _file_path,
               uint64_t _file_size, uint64_t _total_blob_count, uint64_t _total_blob_bytes,
               uint64_t _garbage_blob_count, uint64_t _garbage_blob_bytes,
               const std::string& _file_checksum, const std::string& _file_checksum_func_name)
      : blob_file_number(_file_number),
        blob_file_name(_file_name),
        blob_file_path(_file_path),
        blob_file_size(_file_size),
        total_blob_count(_total_blob_count),
        total_blob_bytes(_total_blob_bytes),
        garbage_blob_count(_garbage_blob_count),
        garbage_blob_bytes(_garbage_blob_bytes),
        checksum_method(_file_checksum),
        checksum_value(_file_checksum_func_name) {}

  uint64_t blob_file_number;
  std::string blob_file_name;
  std::string blob_file_path;
  uint64_t blob_file_size;
  uint64_t total_blob_count;
  uint64_t total_blob_bytes;
  uint64_t garbage_blob_count;
  uint64_t garbage_blob_bytes;
  std::string checksum_method;
  std::string checksum_value;
};

// The files of one level.
struct LevelMetaData {
  LevelMetaData(int _level, uint64_t _size, const std::vector<SstFileMetaData>&& _files)
      : level(_level), size(_size), files(std::move(_files)) {}

  const int level;
  const uint64_t size;  // bytes of all files
  const std::vector<SstFileMetaData> files;
};

// Selects the table files that GetColumnFamilyMetaData() returns and counts. Blob files have no
// level and no range: all of them are returned.
struct GetColumnFamilyMetaDataOptions {
  // Only files that overlap this range.
  RangeOpt range;
  // Only files of this level, which is then the only element of ColumnFamilyMetaData::levels; -1 =
  // all levels.
  int level = -1;

  GetColumnFamilyMetaDataOptions() = default;
  GetColumnFamilyMetaDataOptions(const OptSlice& _start_key, const OptSlice& _end_key,
                                 int _level = -1)
      : range(_start_key, _end_key), level(_level) {}
};

// The levels of a column family.
struct ColumnFamilyMetaData {
  ColumnFamilyMetaData() : size(0), file_count(0), name("") {}
  ColumnFamilyMetaData(const std::string& _name, uint64_t _size,
                       const std::vector<LevelMetaData>&& _levels)
      : size(_size), file_count(0), name(_name), levels(std::move(_levels)) {}

  uint64_t size;      // bytes of all table files
  size_t file_count;  // table files
  std::string name;
  std::vector<LevelMetaData> levels;

  uint64_t blob_file_size = 0;
  size_t blob_file_count = 0;
  std::vector<BlobMetaData> blob_files;
};

// Describes what Checkpoint::ExportColumnFamily() has written, for
// DB::CreateColumnFamilyWithImport().
struct ExportImportFilesMetaData {
  std::string db_comparator_name;
  std::vector<LiveFileMetaData> files;
};

}  // namespace ashlar
