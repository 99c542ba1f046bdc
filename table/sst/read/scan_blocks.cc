// SPDX-License-Identifier: Apache-2.0
//
// Only the separators in the index are compared with the range, so a noted block may turn out to
// have no key of it.
#include "table/sst/read/scan_blocks.h"

#include <cassert>
#include <string>
#include <utility>

#include "table/sst/read/index_cursor.h"
#include "table/sst/read/table_reader.h"
#include "util/result.h"
#include "util/threads/epoch.h"

namespace ashlar {

void HeldBlocks::Add(uint64_t offset, ObjectRef<DataBlock> block) {
  assert(block);
  assert(block.is_owned());
  blocks_.insert_or_assign(offset, std::move(block));
}

ObjectRef<DataBlock> HeldBlocks::Find(uint64_t offset) const {
  const auto found = blocks_.find(offset);
  if (found == blocks_.end() || !found->second) return {};
  found->second->Ref();
  return ObjectRef<DataBlock>::Own(found->second.get());
}

Status ScanBlocks::Note(const TableReader& table, const Slice& start, const Slice& limit,
                        size_t max_bytes, HeldBlocks* home) {
  assert(!InEpoch());
  assert(!how_.in_epoch);
  return table.NoteBlocks(start, limit, max_bytes, home, this);
}

Status TableReader::NoteBlocks(const Slice& start, const Slice& limit, size_t max_bytes,
                               HeldBlocks* home, ScanBlocks* batch) const {
  assert(home != nullptr);
  assert(batch != nullptr);
  BlockRead read = batch->how_;
  IndexCursor index(IndexSource());
  RETURN_IF_ERROR(index.Seek(SeekTarget(start, PackTrailer(kMaxSequenceNumber, kMaxValue)), &read));
  std::string separator;
  const IndexBlock* held_leaf = nullptr;
  while (index.Valid() && batch->noted_bytes_ < max_bytes) {
    const BlockHandle handle = index.handle();
    if (!home->Contains(handle.offset)) {
      batch->noted_bytes_ += static_cast<size_t>(handle.size);
      ObjectRef<DataBlock> found = store_.FindData(index.leaf(), index.entry(), &read);
      if (found) {
        ++batch->counts_.found;
        home->Add(handle.offset, std::move(found));
      } else {
        // A leaf that only the cursor holds must stay alive until Read().
        if (index.IsLeafHeldHere() && held_leaf != &index.leaf()) {
          held_leaf = &index.leaf();
          batch->leaves_.push_back(index.HoldLeaf());
        }
        batch->missing_.push_back(
            {.store = &store_, .index = &index.leaf(), .entry = index.entry()});
        batch->homes_.push_back(home);
        home->Expect(handle.offset);
      }
    }
    const Slice last = index.leaf().index->UserKey(index.entry(), &separator);
    if (icmp_.OrderWithoutTimestamp(last, limit) >= 0) break;
    RETURN_IF_ERROR(index.Next(&read));
  }
  return Status::OK();
}

// Reads the missing blocks, several neighbours with one read if the gaps between them are small. A
// block whose read failed is only left out: the iterator reads it again when it gets there, and
// reports the error then.
void ScanBlocks::Read() {
  assert(missing_.size() == homes_.size());
  if (missing_.empty() || how_.cache_only) return;
  ReadMissingBlocks(missing_, how_, max_gap_bytes_);
  for (size_t i = 0; i < missing_.size(); ++i) {
    if (!missing_[i].status.ok()) continue;
    ++counts_.read;
    counts_.read_bytes += missing_[i].handle().size;
    homes_[i]->Add(missing_[i].handle().offset, std::move(missing_[i].block));
  }
  missing_.clear();
  homes_.clear();
  leaves_.clear();
}

}  // namespace ashlar
