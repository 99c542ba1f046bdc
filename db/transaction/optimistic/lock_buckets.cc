// SPDX-License-Identifier: Apache-2.0
//
// A bucket is 0, free; 1, held; or 2, held and perhaps waited for.
#include "db/transaction/optimistic/lock_buckets.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>

#include "util/threads/epoch.h"

namespace ashlar {
namespace {

constexpr size_t kFewest = 16;
constexpr size_t kWordsInLine = 64 / sizeof(uint32_t);

}  // namespace

// Where the memory is not to be had, fewer serve as well, only with more waiting.
LockBuckets::LockBuckets(size_t count, bool is_aligned)
    : mask_(std::bit_ceil(std::clamp(count, kFewest, size_t{1} << 31)) - 1),
      stride_(is_aligned ? kWordsInLine : 1) {
  // calloc() gives zeroed pages that the system supplies when they are first touched, so a large
  // array that is hardly used costs little memory.
  while (words_ == nullptr) {
    assert(std::has_single_bit(mask_ + 1));
    words_.reset(static_cast<Word*>(std::calloc((mask_ + 1) * stride_, sizeof(Word))));
    if (words_ == nullptr) mask_ /= 2;
  }
}

// Acquire: what the last holder has written before Unlock() is seen.
bool LockBuckets::TryLock(uint32_t index) {
  assert(index <= mask_);
  const std::atomic_ref<Word> word(words_[index * stride_]);
  Word free = 0;
  return word.compare_exchange_strong(free, 1, std::memory_order_acquire);
}

void LockBuckets::Lock(uint32_t index) {
  assert(!InEpoch());
  // A bucket is usually held for microseconds, so a short spin avoids most sleeps.
  constexpr int kSpins = 100;
  for (int i = 0; i < kSpins; ++i) {
    if (TryLock(index)) return;
  }
  const std::atomic_ref<Word> word(words_[index * stride_]);
  // The word becomes 2 also if it was free: this thread cannot know whether others still wait, so
  // its Unlock() must wake one.
  while (word.exchange(2, std::memory_order_acquire) != 0) word.wait(2, std::memory_order_relaxed);
}

void LockBuckets::Unlock(uint32_t index) {
  assert(index <= mask_);
  const std::atomic_ref<Word> word(words_[index * stride_]);
  const Word before = word.exchange(0, std::memory_order_release);
  assert(before != 0);
  if (before == 2) word.notify_one();
}

void HeldBuckets::Lock() {
  assert(!are_held_);
  // Ascending and without duplicates: two commits then cannot wait for each other in a circle, and
  // a bucket that two keys share is taken once.
  std::sort(indexes_.begin(), indexes_.end());
  indexes_.erase(std::unique(indexes_.begin(), indexes_.end()), indexes_.end());
  for (const uint32_t index : indexes_) buckets_->Lock(index);
  are_held_ = true;
}

void HeldBuckets::Unlock() {
  if (are_held_) {
    for (const uint32_t index : indexes_) buckets_->Unlock(index);
  }
  are_held_ = false;
  indexes_.clear();
}

}  // namespace ashlar
