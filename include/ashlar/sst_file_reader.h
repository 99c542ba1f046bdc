// SPDX-License-Identifier: Apache-2.0
//
// SstFileReader reads a table file that need not belong to a database.
//
// Threads: after Open(), const members, NewIterator(), Get() and MultiGet() may be called from many
// threads. Iterators must be deleted before the reader.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/slice.h"
#include "ashlar/table_properties.h"
#include "ashlar/types.h"

namespace ashlar {

// Reads one table file.
class ASHLAR_EXPORT SstFileReader {
 public:
  // `options` should be those of the database that wrote the file; the comparator must be the same.
  explicit SstFileReader(const Options& options);
  ~SstFileReader();
  SstFileReader(const SstFileReader&) = delete;
  SstFileReader& operator=(const SstFileReader&) = delete;

  // Opens a file. Damage in a data block is reported by the call that reads it; but Open() itself
  // reads the first and the last data block, all of them in a table whose properties lack the range
  // of its sequence numbers, and reports their damage unless the comparator is the bytewise one.
  Status Open(const std::string& file_path);

  // Iterates over user keys and values, as in a database that consists of this file. If its keys
  // have timestamps, reads need ReadOptions::timestamp (else InvalidArgument). The caller deletes
  // the iterator.
  Iterator* NewIterator(const ReadOptions& options);

  // Point reads. NotFound if the key does not exist (at the timestamp of the read).
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<PinnableSlice>* values);
  Status Get(const ReadOptions& options, const Slice& key, std::string* value);
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value);

  // Iterates over all entries as stored. ParseTableIteratorKey() splits their keys into user key,
  // timestamp, sequence number and type; utilities/types_util.h makes keys to seek.
  std::unique_ptr<Iterator> NewTableIterator();
  Status ParseTableIteratorKey(const Slice& raw_table_key, ParsedEntryInfo* parsed_key) const;

  // The properties of the table.
  std::shared_ptr<const TableProperties> GetTableProperties() const;

  // Read the whole file. VerifyChecksum() verifies the checksum of every block; VerifyNumEntries()
  // compares the number of entries with the table's properties.
  Status VerifyChecksum(const ReadOptions& read_options);
  Status VerifyChecksum() { return VerifyChecksum(ReadOptions()); }
  Status VerifyNumEntries(const ReadOptions& read_options);

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace ashlar
