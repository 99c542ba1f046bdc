// SPDX-License-Identifier: Apache-2.0
//
// Allocation of cached objects with their bytes behind them.
#include "table/sst/table_objects.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>

namespace ashlar {

namespace {

// Sizes come in four steps a doubling, so that a decoded block fits where a raw one was: with exact
// sizes the holes that raw blocks leave would never be filled.
size_t RoundUpToStep(size_t bytes) {
  const size_t step = std::bit_floor(std::max<size_t>(bytes, 256)) / 4;
  assert(step != 0);
  return (bytes + step - 1) / step * step;
}

}  // namespace

DataBlock* DataBlock::Allocate(size_t bytes) {
  const size_t total = RoundUpToStep(sizeof(DataBlock) + bytes);
  assert(total >= sizeof(DataBlock) + bytes);
  void* memory = ::operator new(total);
  return new (memory) DataBlock(total - sizeof(DataBlock));
}

void DataBlock::Destroy(CachedObject* object) {
  assert(static_cast<TableObject*>(object)->kind == kKind);
  auto* block = static_cast<DataBlock*>(object);
  block->~DataBlock();
  ::operator delete(block);
}

FilterBlock* FilterBlock::Allocate(size_t bytes) {
  void* memory = ::operator new(sizeof(FilterBlock) + bytes);
  return new (memory) FilterBlock(bytes);
}

void FilterBlock::Destroy(CachedObject* object) {
  assert(static_cast<TableObject*>(object)->kind == kKind);
  auto* filter = static_cast<FilterBlock*>(object);
  filter->~FilterBlock();
  ::operator delete(filter);
}

IndexBlock::IndexBlock(std::unique_ptr<FlatIndex> flat_index, bool with_slots)
    : TableObject(&DestroyAs<IndexBlock>, kKind),
      index(std::move(flat_index)),
      slots(with_slots && !index->empty() ? SlotTable::Create(index->size()) : nullptr) {
  assert(slots == nullptr || slots->size() == index->size());
}

IndexBlock::~IndexBlock() {
  if (slots != nullptr) slots->Unref();
}

size_t IndexBlock::MemoryBytes() const {
  return sizeof(*this) + index->MemoryBytes() + (slots == nullptr ? 0 : slots->memory_bytes());
}

}  // namespace ashlar
