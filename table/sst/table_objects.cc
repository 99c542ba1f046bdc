// SPDX-License-Identifier: Apache-2.0
//
// Allocation of cached objects with their bytes behind them.
#include "table/sst/table_objects.h"

#include <new>

namespace ashlar {

DataBlock* DataBlock::Allocate(size_t bytes) {
  void* memory = ::operator new(sizeof(DataBlock) + bytes);
  return new (memory) DataBlock(bytes);
}

void DataBlock::Destroy(CachedObject* object) {
  auto* block = static_cast<DataBlock*>(object);
  block->~DataBlock();
  ::operator delete(block);
}

FilterBlock* FilterBlock::Allocate(size_t bytes) {
  void* memory = ::operator new(sizeof(FilterBlock) + bytes);
  return new (memory) FilterBlock(bytes);
}

void FilterBlock::Destroy(CachedObject* object) {
  auto* filter = static_cast<FilterBlock*>(object);
  filter->~FilterBlock();
  ::operator delete(filter);
}

IndexBlock::IndexBlock(std::unique_ptr<FlatIndex> flat_index, bool with_slots)
    : TableObject(&DestroyAs<IndexBlock>, kKind),
      index(std::move(flat_index)),
      slots(with_slots && !index->empty() ? SlotTable::Create(index->size()) : nullptr) {}

IndexBlock::~IndexBlock() {
  if (slots != nullptr) slots->Unref();
}

size_t IndexBlock::MemoryBytes() const {
  return sizeof(*this) + index->MemoryBytes() + (slots == nullptr ? 0 : slots->memory_bytes());
}

}  // namespace ashlar
