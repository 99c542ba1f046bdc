// SPDX-License-Identifier: Apache-2.0
//
// ScannedBlocks reads ahead what an iterator is going to scan: the blocks of several ranges, which
// it was told of beforehand (Iterator::Prepare, MultiScan), in all tables of a version.
//
// When the iterator comes to a range that was not read yet, the blocks of this one and of the next
// ones are read together, as many as may be held at a time; they are held, in or outside of the
// block cache, until the next such turn. Of ranges without an end these are the first blocks of
// each run; readahead goes on from there. What cannot be read here is read again, and told, by who
// needs it.
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
  // The options outlive this; the bounds in the arguments are copied.
  ScannedBlocks(const MultiScanArgs& args, const ReadOptions* options);

  // A seek to the user key comes next, among the files of the version. Ranges are come to in their
  // order.
  void Approach(const Version& version, const Slice& target);
  // The blocks of the file with this number, now and after later approaches. Lives as long as this.
  const HeldBlocks* Of(FileNumber file_number) { return &files_[file_number]; }
  // Lets go of all blocks: of ranges that were passed, too, nothing is held any more.
  void Forget();

  // How far it has come, and the files it has heard of with the blocks it holds of each; a line
  // each.
  std::string DebugString() const;

 private:
  struct ScanRange {
    std::string start;  // empty: the beginning of everything, which is what it sorts as
    std::optional<std::string> limit;
  };

  // The first range from range_ on that the key lies in; the number of ranges if there is none.
  size_t FindRange(const InternalKeyComparator& comparator, const Slice& target) const;
  void ReadFrom(const Version& version, size_t range);
  Status Note(const Version& version, const ScanRange& range, std::vector<TableHandle>* tables,
              ScanBlocks* batch);

  const ReadOptions* const options_;
  const uint64_t max_gap_bytes_;
  const size_t max_held_bytes_;
  std::vector<ScanRange> ranges_;
  size_t range_ = 0;                        // the one that was come to last
  size_t read_until_ = 0;                   // what of the ranges before it is to be held, is
  std::map<FileNumber, HeldBlocks> files_;  // by number
};

}  // namespace ashlar
