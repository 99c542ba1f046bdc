// SPDX-License-Identifier: Apache-2.0
//
// ScannedBlocks reads blocks in advance for an iterator that will scan several known ranges
// (Iterator::Prepare, MultiScan), in all tables of a version.
//
// When the iterator seeks to a range that was not read yet, the blocks of this range and of the
// following ranges are read together, up to the limit of held bytes. They are held, inside or
// outside the block cache, until the next such read. For a range without an end only the first
// blocks of each run are read; ordinary readahead continues from there. A read error is ignored
// here: the iterator reads the block again when it needs it, and reports the error.
//
// Not inside an EpochGuard. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "table/sst/read/scan_blocks.h"
#include "util/keys/file_number.h"

namespace ashlar {

class InternalKeyComparator;
class MultiScanArgs;
class TableHandle;
class Version;
struct ReadOptions;

class ScannedBlocks {
 public:
  // `options` outlives this object; the bounds in `args` are copied.
  ScannedBlocks(const MultiScanArgs& args, const ReadOptions* options);

  // Called before a seek to the user key `target` in the files of `version`. The ranges are visited
  // in their order.
  void Approach(const Version& version, const Slice& target);
  // The held blocks of the file with this number; later calls of Approach() update them. The
  // pointer is valid as long as this object.
  const HeldBlocks* Of(FileNumber file_number) { return &files_[file_number]; }
  // Releases all blocks.
  void Forget();

  // The current range, then one line for each file with the blocks that are held of it.
  std::string DebugString() const;

 private:
  struct ScanRange {
    std::string start;  // empty: from the first key, since the empty key sorts first
    std::optional<std::string> limit;
  };

  // Index of the first range, from range_ on, that contains the key; the number of ranges if there
  // is none.
  size_t FindRange(const InternalKeyComparator& comparator, const Slice& target) const;
  // Reads the blocks of the ranges from this one on, up to max_held_bytes_.
  void ReadFrom(const Version& version, size_t range);
  Status Note(const Version& version, const ScanRange& range, std::vector<TableHandle>* tables,
              ScanBlocks* batch);

  const ReadOptions* const options_;
  const uint64_t max_gap_bytes_;  // blocks with smaller gaps are read by one request
  const size_t max_held_bytes_;
  std::vector<ScanRange> ranges_;
  size_t range_ = 0;                        // index of the range of the last seek
  size_t read_until_ = 0;                   // ranges before this index have been read
  std::map<FileNumber, HeldBlocks> files_;  // by number
};

}  // namespace ashlar
