// SPDX-License-Identifier: Apache-2.0
//
// The empty iterator, and destruction of a run.
#include "table/iterator/internal_iterator.h"

#include <new>

#include "table/iterator/sorted_run.h"
#include "util/memory/arena.h"

namespace ashlar {
namespace {

class EmptyIterator final : public InternalIterator {
 public:
  explicit EmptyIterator(const Status& status) { status_ = status; }

  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void SeekForPrev(const Slice&) override {}

 private:
  void NextSlow() override {}
  void PrevSlow() override {}
};

}  // namespace

InternalIterator::~InternalIterator() = default;

void DestroyRun(const SortedRun& run, IteratorHome home) {
  DestroyIterator(run.points, home);
  if (home == IteratorHome::kHeap) {
    delete run.tombstones;
  } else if (run.tombstones != nullptr) {
    run.tombstones->~RunTombstones();
  }
}

InternalIterator* NewEmptyInternalIterator(Arena* arena, const Status& status) {
  if (arena == nullptr) return new EmptyIterator(status);
  return new (arena->AllocateAligned(sizeof(EmptyIterator))) EmptyIterator(status);
}

}  // namespace ashlar
