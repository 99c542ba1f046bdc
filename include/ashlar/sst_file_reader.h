// SPDX-License-Identifier: Apache-2.0
//
// SstFileReader reads a table file without a database.
//
// Threads: after Open() const members, NewIterator, Get and MultiGet may be called from many
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

class ASHLAR_EXPORT SstFileReader {
 public:
  // Options as of the database the file belongs to; the comparator must be the same.
  explicit SstFileReader(const Options& options);
  ~SstFileReader();
  SstFileReader(const SstFileReader&) = delete;
  SstFileReader& operator=(const SstFileReader&) = delete;

  // A damaged data block is told of by what reads it; with another comparator than the bytewise
  // one, the first and the last one already by this.
  Status Open(const std::string& file_path);

  // User keys and values as a database with just this file would give them. The caller deletes it.
  Iterator* NewIterator(const ReadOptions& options);

  // Point reads; NotFound without the key.
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<PinnableSlice>* values);
  Status Get(const ReadOptions& options, const Slice& key, std::string* value);
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value);

  // All entries as stored; their keys are taken apart with ParseTableIteratorKey.
  std::unique_ptr<Iterator> NewTableIterator();
  Status ParseTableIteratorKey(const Slice& raw_table_key, ParsedEntryInfo* parsed_key) const;

  std::shared_ptr<const TableProperties> GetTableProperties() const;

  // Read the whole file: verify the checksum of every block, and compare the number of entries with
  // the properties.
  Status VerifyChecksum(const ReadOptions& read_options);
  Status VerifyChecksum() { return VerifyChecksum(ReadOptions()); }
  Status VerifyNumEntries(const ReadOptions& read_options);

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace ashlar
