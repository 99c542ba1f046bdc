// SPDX-License-Identifier: Apache-2.0
//
// The memory of cached objects. Their bytes follow the object in the same allocation.
#include "table/sst/read/table_objects.h"

#include <bit>
#include <cassert>
#include <new>

#include "table/block/entry_checksums.h"
#include "util/memory/page_allocator.h"
#include "util/memory/page_buffer.h"
#include "util/memory/slab_heap.h"

namespace ashlar {

namespace {

// The heap of all databases in the process. It is never destroyed, because cached blocks may be
// freed late and by any thread.
SlabHeap* BlockHeap() {
  static SlabHeap* const heap = new SlabHeap;
  return heap;
}

// The memory that a data block of `bytes` bytes takes, including the object. Large blocks do not
// fit into slabs. They are rounded up by at most a quarter of their size, so that their memory can
// be reused.
size_t RoundUp(size_t bytes) {
  if (bytes <= SlabHeap::kMaxPieceBytes) return SlabHeap::RoundUp(bytes);
  const size_t step = std::bit_floor(bytes) / 4;
  return (bytes + step - 1) / step * step;
}

// With a heap checker (kHeapIsWatched) every block is allocated on its own, so that the checker
// knows its bounds.
bool LivesInSlab(size_t bytes) { return !kHeapIsWatched && bytes <= SlabHeap::kMaxPieceBytes; }

}  // namespace

DataBlock* DataBlock::Allocate(size_t bytes) {
  // The heap may give more than requested; `allocated_bytes` records it all.
  const size_t total = RoundUp(sizeof(DataBlock) + bytes);
  assert(total >= sizeof(DataBlock) + bytes);
  const SlabHeap::Piece piece =
      LivesInSlab(total) ? BlockHeap()->Allocate(total)
                         : SlabHeap::Piece{.data = ::operator new(total), .bytes = total};
  return new (piece.data) DataBlock(piece.bytes - sizeof(DataBlock));
}

// Makes a decoded copy of a block. Null: the copy is not worth its memory, or could not be made.
DataBlock* DataBlock::Decode(const Block& block, KeyOrder order) {
  const DecodedBlock::Plan plan = DecodedBlock::Prepare(block, order);
  if (!plan.is_worthwhile) return nullptr;
  auto decoded = ObjectRef<DataBlock>::Own(Allocate(plan.memory_bytes));
  DecodedBlock contents;
  if (!DecodedBlock::Build(block, plan, order, decoded->bytes(), &contents)) return nullptr;
  decoded->is_decoded = true;
  new (&decoded->decoded) DecodedBlock(contents);
  return decoded.Leave();
}

BlockHeapUse DataBlock::HeapUse() {
  return {.held_bytes = BlockHeap()->HeldBytes(), .used_bytes = BlockHeap()->UsedBytes()};
}

size_t DataBlock::MemoryBytes() const {
  const size_t checksum_bytes = checksums() == nullptr ? 0 : checksums()->MemoryBytes();
  return sizeof(*this) + allocated_bytes + checksum_bytes;
}

void DataBlock::Protect(size_t checksum_bytes) {
  if (checksum_bytes == 0) return;
  assert(!is_decoded);
  assert(block.checksums() == nullptr);
  block.SetChecksums(EntryChecksums::Of(block, checksum_bytes).release());
}

void DataBlock::Destroy(CachedObject* object) {
  assert(static_cast<TableObject*>(object)->kind == kKind);
  auto* block = static_cast<DataBlock*>(object);
  const bool lives_in_slab = LivesInSlab(sizeof(DataBlock) + block->allocated_bytes);
  delete block->checksums();
  block->~DataBlock();
  lives_in_slab ? SlabHeap::Free(block) : ::operator delete(block);
}

FilterBlock* FilterBlock::Allocate(size_t bytes) {
  void* memory = AllocatePages(sizeof(FilterBlock) + bytes);
  return new (memory) FilterBlock(bytes);
}

void FilterBlock::Destroy(CachedObject* object) {
  assert(static_cast<TableObject*>(object)->kind == kKind);
  auto* filter = static_cast<FilterBlock*>(object);
  const size_t bytes = sizeof(FilterBlock) + filter->allocated_bytes;
  filter->~FilterBlock();
  FreePages(filter, bytes);
}

IndexBlock::IndexBlock(std::unique_ptr<FlatIndex> flat_index, bool with_slots)
    : TableObject(&DestroyAs<IndexBlock>, kKind),
      index(std::move(flat_index)),
      slots(with_slots && !index->empty() ? SlotTable::Create(index->size()) : nullptr) {
  assert(slots == nullptr || slots->size() == index->size());
}

IndexBlock::~IndexBlock() {
  if (slots != nullptr) slots->Retire();
}

DictionaryBlock::DictionaryBlock(const Slice& contents)
    : TableObject(&DestroyAs<DictionaryBlock>, kKind), dictionary(contents) {}

size_t IndexBlock::MemoryBytes() const {
  return sizeof(*this) + index->MemoryBytes() + (slots == nullptr ? 0 : slots->memory_bytes());
}

}  // namespace ashlar
