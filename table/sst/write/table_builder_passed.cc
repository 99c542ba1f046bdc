// SPDX-License-Identifier: Apache-2.0
//
// Blocks that other tables have already. A new block begins with the first entry of one that is
// offered, so that both may be the same, and ends when it is as large. If it has the same bytes by
// then, what is stored there is stored here.
//
//   open block | offered block, entry by entry | ...
//              ^ ends early                    ^ ends here, whatever comes next
//
// Blocks that end early are small, and many small blocks make a large index and compress badly. So
// they live on what full ones put aside: all in all blocks lack an eighth of their bytes at most.
#include <algorithm>
#include <cassert>
#include <utility>

#include "table/sst/write/table_builder_rep.h"

namespace ashlar {
namespace {

constexpr size_t kSpareShare = 8;
constexpr size_t kMostSpareBlocks = 2;

}  // namespace

void TableBuilder::Rep::OfferBlock(PassedBlock* block) {
  assert(!is_closed && block->raw().size() > 0);
  assert(block->type() == kNoCompression || block->type() == options.compression);
  if (!status.ok() || flush_policy != nullptr || !writer.compresses()) return;
  if (buffered != nullptr || !dictionary.empty()) return;
  const bool ends_early = !data_block.empty() && data_block.CurrentBytes() < cut_bytes;
  const size_t lack =
      LackOf(block->raw().size()) + (ends_early ? LackOf(data_block.CurrentBytes()) : 0);
  if (lack > spare_bytes) return;
  spare_bytes -= lack;
  std::swap(next_offer.block, *block);
  next_offer.is_set = true;
  if (data_block.empty()) return BeginPassed();
  cut_bytes = 0;
}

// The block that is begun now may be the one on offer. It ends no later than it would without.
void TableBuilder::Rep::BeginPassed() {
  assert(next_offer.is_set);
  std::swap(open_offer.block, next_offer.block);
  open_offer.is_set = true;
  next_offer.is_set = false;
  cut_bytes = std::min(block_bytes, open_offer.block.raw().size());
}

bool TableBuilder::Rep::IsPassed(const Slice& contents, StoredBlock* stored) {
  assert(open_offer.is_set);
  const PassedBlock& block = open_offer.block;
  if (contents != block.raw()) return false;
  ++passed_blocks;
  *stored = {.bytes = block.stored(),
             .raw_bytes = contents.size(),
             .type = block.type(),
             .was_rejected = block.type() == kNoCompression,
             .was_passed = true};
  return true;
}

// A block of so many bytes has been cut.
void TableBuilder::Rep::EndPassed(size_t contents_bytes) {
  spare_bytes =
      std::min(spare_bytes + contents_bytes / kSpareShare, kMostSpareBlocks * block_bytes);
  open_offer.is_set = false;
  cut_bytes = block_bytes;
  if (next_offer.is_set) BeginPassed();
}

}  // namespace ashlar
