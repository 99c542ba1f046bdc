// SPDX-License-Identifier: Apache-2.0
//
// The iterator over nothing.
#include "table/iterator/internal_iterator.h"

#include <new>

#include "util/arena.h"

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

InternalIterator* NewEmptyInternalIterator(Arena* arena, const Status& status) {
  if (arena == nullptr) return new EmptyIterator(status);
  return new (arena->AllocateAligned(sizeof(EmptyIterator))) EmptyIterator(status);
}

}  // namespace ashlar
