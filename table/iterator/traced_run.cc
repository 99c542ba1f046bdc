// SPDX-License-Identifier: Apache-2.0
//
// The wrapper of the points has no cursor, so every step of the merge is a virtual call here.
#include "table/iterator/traced_run.h"

#include <cassert>
#include <new>
#include <utility>

#include "table/iterator/read_trace.h"
#include "util/memory/arena.h"

namespace ashlar {
namespace {

class TracedPoints final : public InternalIterator {
 public:
  TracedPoints(InternalIterator* points, IteratorHome home, size_t index, ReadTrace* trace)
      : points_(points), home_(home), index_(index), trace_(trace) {
    assert(points != nullptr);
    assert(trace != nullptr);
  }
  ~TracedPoints() override { DestroyIterator(points_, home_); }

  ValuePin PinOfValue() const override { return points_->PinOfValue(); }

  void SeekToFirst() override {
    Move([](InternalIterator* points) { points->SeekToFirst(); });
  }
  void SeekToLast() override {
    Move([](InternalIterator* points) { points->SeekToLast(); });
  }
  void Seek(const Slice& internal_key) override {
    Move([&](InternalIterator* points) { points->Seek(internal_key); });
  }
  void BeginSeek(const Slice& internal_key, SeekStep step) override {
    trace_->EnterRun(index_);
    points_->BeginSeek(internal_key, step);
  }
  void EndSeek(const Slice& internal_key) override {
    Move([&](InternalIterator* points) { points->EndSeek(internal_key); });
  }
  void SeekForPrev(const Slice& internal_key) override {
    Move([&](InternalIterator* points) { points->SeekForPrev(internal_key); });
  }

 private:
  void NextSlow() override {
    Move([](InternalIterator* points) { points->Next(); });
  }
  void PrevSlow() override {
    Move([](InternalIterator* points) { points->Prev(); });
  }

  // Does one move of the run and reports it.
  template <typename Step>
  void Move(const Step& step) {
    trace_->EnterRun(index_);
    if (points_->Valid()) trace_->OnEntryLeft(points_->key());
    step(points_);
    status_ = points_->status();
    valid_ = points_->Valid();
    if (!valid_) return;
    key_ = points_->key();
    value_ = points_->value();
    trace_->OnEntryShown(key_);
  }

  InternalIterator* const points_;  // owned
  const IteratorHome home_;
  const size_t index_;
  ReadTrace* const trace_;
};

class TracedTombstones final : public RunTombstones {
 public:
  TracedTombstones(RunTombstones* tombstones, IteratorHome home, size_t index, ReadTrace* trace)
      : tombstones_(tombstones), home_(home), index_(index), trace_(trace) {
    assert(tombstones != nullptr);
    assert(trace != nullptr);
  }
  ~TracedTombstones() override { DestroyRun(SortedRun(nullptr, tombstones_), home_); }

  void Restart() override { tombstones_->Restart(); }
  Stretch StretchFrom(const KeyPosition& from) override {
    const Stretch stretch = tombstones_->StretchFrom(from);
    Report(from.user_key, stretch.has_end ? stretch.end.user_key : Slice(), stretch);
    return stretch;
  }
  Stretch StretchBefore(const KeyPosition& before) override {
    const Stretch stretch = tombstones_->StretchBefore(before);
    Report(stretch.has_end ? stretch.end.user_key : Slice(), before.user_key, stretch);
    return stretch;
  }
  bool HasAny() const override { return tombstones_->HasAny(); }
  void Watch(TombstoneWatcher* watcher) override { tombstones_->Watch(watcher); }
  std::string DebugString() const override { return tombstones_->DebugString(); }

 private:
  // Reports the tombstone of a stretch.
  void Report(const Slice& begin, const Slice& end, const Stretch& stretch) {
    if (stretch.seqno == 0) return;
    trace_->EnterRun(index_);
    trace_->OnTombstone({.begin = begin, .end = end, .seqno = stretch.seqno});
  }

  RunTombstones* const tombstones_;  // owned
  const IteratorHome home_;
  const size_t index_;
  ReadTrace* const trace_;
};

// Constructs a T in the arena, or on the heap if that is null.
template <typename T, typename... Arguments>
T* New(Arena* arena, Arguments&&... arguments) {
  if (arena == nullptr) return new T(std::forward<Arguments>(arguments)...);
  return new (arena->AllocateAligned(sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

}  // namespace

SortedRun Traced(const SortedRun& run, size_t index, ReadTrace* trace, Arena* arena) {
  assert(run.points != nullptr);
  assert(trace != nullptr);
  const IteratorHome home = HomeOf(arena);
  SortedRun traced(New<TracedPoints>(arena, run.points, home, index, trace));
  if (run.tombstones != nullptr) {
    traced.tombstones = New<TracedTombstones>(arena, run.tombstones, home, index, trace);
  }
  return traced;
}

}  // namespace ashlar
