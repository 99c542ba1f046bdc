// SPDX-License-Identifier: Apache-2.0
//
// BlobFlow is what a flush or compaction, or a part of one, does about blob files: large values
// leave for new ones, values in old ones are moved, and what becomes garbage is counted.
//
//   EntryStream  NoteInput() of each blob index that is read; Load() of a value below operands
//   OutputWriter Pass() of each entry that is written, Finish() at the end
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "db/blob/blob_file.h"
#include "db/blob/blob_writer.h"
#include "db/output/table_output.h"
#include "util/keys/file_number.h"

namespace ashlar {

class BlobStore;

struct BlobFlowOptions {
  // Values of at least so many bytes, and of one, go to blob files. None: they stay in the tables.
  std::optional<uint64_t> least_separated_bytes;
  BlobWriterOptions writer;
  // Of the inputs; null: they have none. Both outlive the flow.
  const BlobFiles* files = nullptr;
  const BlobStore* store = nullptr;
  FileNumber relocated_end = 0;  // values in blob files below it are written anew
  size_t readahead_bytes = 0;    // of those files
};

// For outputs like this one. `files` are those of the inputs' version, or null.
struct BlobFlowRequest {
  const BlobFiles* files = nullptr;
  std::function<FileNumber()> new_file_number;
  BlobFileObserver* observer = nullptr;  // null: nobody is told
  // What of the oldest blob files is moved, 0 to 1 of their number. None: nothing.
  std::optional<double> relocated_share;
  size_t readahead_bytes = 0;
};
BlobFlowOptions BlobFlowOptionsFor(const TableOutputOptions& table, const BlobFlowRequest& request);

class BlobFlow {
 public:
  struct Counts {
    uint64_t relocated = 0;
    uint64_t relocated_bytes = 0;  // of the values
    uint64_t read = 0;
    uint64_t read_bytes = 0;  // of stored values
  };

  explicit BlobFlow(BlobFlowOptions options)
      : options_(std::move(options)), writer_(options_.writer) {}
  BlobFlow(const BlobFlow&) = delete;
  BlobFlow& operator=(const BlobFlow&) = delete;

  // False: nothing passes that it would have to look at.
  bool IsNeeded() const {
    return options_.least_separated_bytes.has_value() || options_.files != nullptr;
  }

  // Corruption if it is malformed.
  Status NoteInput(const Slice& user_key, const Slice& index);
  // What the index stands for, until the next call.
  Status Load(const Slice& user_key, const Slice& index, Slice* value);

  // An entry that is going to be written: both may be replaced, until the next call.
  Status Pass(Slice* internal_key, Slice* value);
  // Ends the last file.
  Status Finish() { return writer_.Finish(); }

  // Also after an error: finished ones that are nobody's.
  std::vector<BlobFileAddition> TakeFiles() { return writer_.TakeFiles(); }
  // Those files of the inputs to which fewer entries refer than before.
  std::vector<BlobFileGarbage> Garbage() const;
  const Counts& counts() const { return counts_; }

 private:
  // Of the blobs of one file: references read, and written again.
  struct Through {
    uint64_t in_count = 0, in_bytes = 0;
    uint64_t out_count = 0, out_bytes = 0;
  };

  Status Read(const Slice& user_key, const BlobIndex& index, const Slice& encoded,
              PinnableSlice* value);
  Status PassIndex(Slice* internal_key, Slice* value);
  Status Separate(Slice* internal_key, Slice* value);
  void Rewrite(Slice* internal_key, ValueType type);

  const BlobFlowOptions options_;
  BlobWriter writer_;
  std::map<FileNumber, Through> through_;  // files of the inputs
  FileNumber ahead_file_ = 0;              // read ahead in it up to ahead_end_
  uint64_t ahead_end_ = 0;
  Counts counts_;
  PinnableSlice loaded_;
  PinnableSlice moved_;
  std::string key_;
  std::string index_;
};

// Adds up garbage of parts; ascending by number.
void AddGarbage(const std::vector<BlobFileGarbage>& more, std::vector<BlobFileGarbage>* sum);

}  // namespace ashlar
