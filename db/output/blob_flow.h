// SPDX-License-Identifier: Apache-2.0
//
// BlobFlow handles blob files for a flush or compaction, or for one part of it. It moves large
// values to new blob files, writes values of old blob files again, and counts the bytes that become
// garbage.
//
//   EntryStream   NoteInput() for each blob index that is read, Load() for a value below operands
//   OutputWriter  Pass() for each entry that is written, Finish() at the end
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
  // Values of at least this size, and of at least one byte, go to blob files. nullopt: no value
  // does.
  std::optional<uint64_t> least_separated_bytes;
  BlobWriterOptions writer;
  // The blob files of the inputs, and the object that reads them. Both outlive the flow. Null: the
  // inputs have none.
  const BlobFiles* files = nullptr;
  const BlobStore* store = nullptr;
  FileNumber relocated_end = 0;  // values in blob files with a lower number are written again
  size_t readahead_bytes = 0;    // for reads of those files; 0: no readahead
};

// A flow for outputs with the given table options. `files` belong to the version of the inputs;
// null: none.
struct BlobFlowRequest {
  const BlobFiles* files = nullptr;
  std::function<FileNumber()> new_file_number;
  BlobFileObserver* observer = nullptr;  // notified of new blob files; null: none
  // The share of the blob files, from the oldest on, whose values are written again: 0 to 1.
  // nullopt: no value is.
  std::optional<double> relocated_share;
  size_t readahead_bytes = 0;
};
BlobFlowOptions BlobFlowOptionsFor(const TableOutputOptions& table, const BlobFlowRequest& request);

class BlobFlow {
 public:
  // Work on values that were read; bytes of values that were written again are uncompressed.
  struct Counts {
    uint64_t relocated = 0;
    uint64_t relocated_bytes = 0;  // of the values
    uint64_t read = 0;
    uint64_t read_bytes = 0;  // of the values as stored
  };

  explicit BlobFlow(BlobFlowOptions options)
      : options_(std::move(options)), writer_(options_.writer) {}
  BlobFlow(const BlobFlow&) = delete;
  BlobFlow& operator=(const BlobFlow&) = delete;

  // False if neither inputs nor outputs have blob files, so that the flow need not be used.
  bool IsNeeded() const {
    return options_.least_separated_bytes.has_value() || options_.files != nullptr;
  }

  // Counts a reference of the inputs. Corruption if the index is malformed.
  Status NoteInput(const Slice& user_key, const Slice& index);
  // Reads the value of the index. *value is valid until the next call.
  Status Load(const Slice& user_key, const Slice& index, Slice* value);

  // Called for each entry that will be written. May replace key and value; the new ones are valid
  // until the next call.
  Status Pass(Slice* internal_key, Slice* value);
  // Completes the last new blob file.
  Status Finish() { return writer_.Finish(); }

  // The finished new blob files. After an error the caller has to delete them, because no version
  // names them.
  std::vector<BlobFileAddition> TakeFiles() { return writer_.TakeFiles(); }
  // For each blob file of the inputs: the references that were read and not written again, if any.
  std::vector<BlobFileGarbage> Garbage() const;
  const Counts& counts() const { return counts_; }

 private:
  // The references to one blob file that were read, and those that were written again.
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
  std::map<FileNumber, Through> through_;  // by blob file of the inputs
  // The file that was read ahead last, and the end of that range.
  FileNumber ahead_file_ = 0;
  uint64_t ahead_end_ = 0;
  Counts counts_;
  PinnableSlice loaded_;  // the value of the last Load()
  PinnableSlice moved_;   // the value of the last index that was replaced
  std::string key_;       // the last key that was rewritten
  std::string index_;     // the last index that was made
};

// Adds the garbage of one part of a job to the sum of the other parts, which is ascending by file
// number.
void AddGarbage(const std::vector<BlobFileGarbage>& more, std::vector<BlobFileGarbage>* sum);

}  // namespace ashlar
