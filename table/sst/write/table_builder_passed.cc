// SPDX-License-Identifier: Apache-2.0
//
// Block passing in the builder (see block_passing.h). A new block begins with the first entry of an
// offered block, so that both can become equal, and ends at the latest when it is as large as the
// offered block. If the bytes are equal then, the stored form of the offered block is written.
//
//   open block | offered block, entry by entry | ...
//              ^ ends early                    ^ ends here, whatever comes next
//
// Blocks that end early are small, and many small blocks make a large index and compress badly.
// Therefore every block adds to a budget (spare_bytes), and a block that ends early takes from it
// the bytes that it lacks: all blocks together lack at most about an eighth of their target size.
#include <algorithm>
#include <cassert>
#include <utility>

#include "table/sst/write/table_builder_rep.h"

namespace ashlar {
namespace {

// Every block adds an eighth of its size to the budget.
constexpr size_t kSpareShare = 8;
// Bound of the budget, in blocks, so that a long run of full blocks does not permit a long run of
// small ones.
constexpr size_t kMostSpareBlocks = 2;

}  // namespace

// The caller offers a block of an input whose entries it is going to add. The offer is taken only
// if the budget for short blocks allows it (see the top of this file). If other entries are open,
// their block is cut at the next entry, so that the offered block begins a block of its own.
void TableBuilder::Rep::OfferBlock(PassedBlock* block) {
  assert(block != nullptr);
  assert(!is_closed);
  assert(block->raw().size() > 0);
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

// The block that begins now may become equal to the offered one. It ends no later than it would
// without the offer.
void TableBuilder::Rep::BeginPassed() {
  assert(next_offer.is_set);
  std::swap(open_offer.block, next_offer.block);
  open_offer.is_set = true;
  next_offer.is_set = false;
  cut_bytes = std::min(block_bytes, open_offer.block.raw().size());
}

// True, and `stored` is set, if the finished block equals the offered one. `stored` points into the
// offer.
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

// Bookkeeping after a block of `contents_bytes` was cut; a waiting offer becomes the one of the
// next block.
void TableBuilder::Rep::EndPassed(size_t contents_bytes) {
  assert(spare_bytes <= kMostSpareBlocks * block_bytes);
  spare_bytes =
      std::min(spare_bytes + contents_bytes / kSpareShare, kMostSpareBlocks * block_bytes);
  open_offer.is_set = false;
  cut_bytes = block_bytes;
  if (next_offer.is_set) BeginPassed();
}

}  // namespace ashlar
