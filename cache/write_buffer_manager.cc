// SPDX-License-Identifier: Apache-2.0
//
// The limit is checked without a lock: memtables report in steps of arena blocks, so a sum that is
// out of date is wrong by one or two blocks. Only one thread at a time changes the charge of a
// cache, and no write waits for that. The queue of stalled databases has a lock.
//
// No stalled database misses its signal. BeginWriteStall() sets stall_active_ and then checks the
// sums and the limit; whoever frees memory or raises the limit does that first and then reads
// stall_active_. All of these operations are sequentially consistent, so at least one of the two
// threads sees what the other one did.
#include "ashlar/write_buffer_manager.h"

#include <algorithm>
#include <cassert>
#include <list>
#include <new>
#include <utility>

#include "cache/cache_charge.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

// Memtables may stay mutable until mutable ones have 7/8 of the limit; the rest is for memtables
// that are being flushed.
size_t MutableLimit(size_t buffer_size) { return buffer_size * 7 / 8; }

}  // namespace

// The charge to a cache: the most that memtables use from one flush to the next, in steps. Memory
// that a flush frees will be used by memtables again soon. If the cache filled it in between, it
// would have to evict the same amount later; but blocks are freed one by one, and the memory
// between the remaining ones cannot be used for anything else, so the process would need both.
struct WriteBufferManager::CacheCharge {
  explicit CacheCharge(std::shared_ptr<Cache> target)
      : cache(std::move(target)), charge(cache.get(), CacheEntryRole::kWriteBuffer) {}

  // Adjusts the charge to the memory in use. `reserved`: the bytes that were just added. No lock is
  // held while the cache is called, because it may free objects of epochs, even memtables, and
  // these call this class again. If another thread, or an earlier call of the same thread, is
  // already adjusting the charge, the work is left to it.
  void Update(const std::atomic<size_t>& memory_used, size_t reserved) {
    reserved_bytes.fetch_add(reserved, std::memory_order_relaxed);
    requests.fetch_add(1);
    for (;;) {
      if (is_busy.exchange(true)) return;
      uint64_t seen = 0;
      {
        const Leave leave(&is_busy);
        seen = requests.load();
        UpdateAlone(memory_used.load(std::memory_order_relaxed));
      }
      if (requests.load() == seen) return;
    }
  }
  // Raises the charge to `used` at once. Lowers it only to the peak of the recent past, in which a
  // few times the charge was written; or at once if less than a step is used.
  void UpdateAlone(size_t used) {
    assert(is_busy.load(std::memory_order_relaxed));
    constexpr size_t kStepBytes = ashlar::CacheCharge::kStepBytes;
    constexpr size_t kTimesWritten = 4;
    if (used < kStepBytes) {
      earlier_peak = peak = used;
    } else if (reserved_bytes.load(std::memory_order_relaxed) > kTimesWritten * charge.bytes()) {
      earlier_peak = std::exchange(peak, used);
      reserved_bytes.store(0, std::memory_order_relaxed);
    }
    peak = std::max(peak, used);
    while (charge.bytes() < used && GrowByStep()) {
    }
    charge.ShrinkTo(std::max(peak, earlier_peak));
    charged.store(charge.bytes(), std::memory_order_relaxed);
  }
  // False if the cache is full and strict, or there is no memory for its entry: the memory is used
  // but not charged. An exception would be too late, because the memory is counted already, and
  // memtables give theirs back in destructors.
  bool GrowByStep() {
    try {
      return charge.GrowTo(charge.bytes() + ashlar::CacheCharge::kStepBytes).ok();
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  // Resets is_busy, even after an exception for lack of memory; the next call does the work then.
  class Leave {
   public:
    explicit Leave(std::atomic<bool>* is_busy) : is_busy_(is_busy) { assert(is_busy != nullptr); }
    ~Leave() { is_busy_->store(false); }
    Leave(const Leave&) = delete;
    Leave& operator=(const Leave&) = delete;

   private:
    std::atomic<bool>* const is_busy_;
  };
  size_t charged_bytes() const { return charged.load(std::memory_order_relaxed); }

  const std::shared_ptr<Cache> cache;
  std::atomic<uint64_t> requests{0};      // number of calls of Update()
  std::atomic<size_t> reserved_bytes{0};  // bytes reserved in the present period
  std::atomic<bool> is_busy{false};
  // Only for the thread that has set is_busy. The peaks are those of the present and of the
  // previous period.
  ashlar::CacheCharge charge;
  size_t peak = 0;
  size_t earlier_peak = 0;
  std::atomic<size_t> charged{0};
};

struct WriteBufferManager::StallQueue {
  // Waiting databases are released under it, so none of them can be destroyed in between.
  Mutex mutex{LockRank::kTableCache};
  std::list<StallInterface*> waiting GUARDED_BY(mutex);
};

WriteBufferManager::WriteBufferManager(size_t _buffer_size, std::shared_ptr<Cache> cache,
                                       bool allow_stall)
    : buffer_size_(_buffer_size),
      mutable_limit_(MutableLimit(_buffer_size)),
      allow_stall_(allow_stall),
      charge_(cache != nullptr ? new CacheCharge(std::move(cache)) : nullptr),
      queue_(new StallQueue) {}

WriteBufferManager::~WriteBufferManager() {
#ifndef NDEBUG
  MutexLock lock(&queue_->mutex);
  assert(queue_->waiting.empty());
#endif
}

std::shared_ptr<Cache> WriteBufferManager::cache() const {
  return charge_ != nullptr ? charge_->cache : nullptr;
}

size_t WriteBufferManager::dummy_entries_in_cache_usage() const {
  return charge_ != nullptr ? charge_->charged_bytes() : 0;
}

void WriteBufferManager::SetBufferSize(size_t new_size) {
  assert(new_size > 0);
  buffer_size_.store(new_size);
  mutable_limit_.store(MutableLimit(new_size), std::memory_order_relaxed);
  MaybeEndWriteStall();
}

void WriteBufferManager::SetAllowStall(bool new_allow_stall) {
  allow_stall_.store(new_allow_stall);
  MaybeEndWriteStall();
}

bool WriteBufferManager::ShouldFlush() const {
  if (!enabled()) return false;
  const size_t active = mutable_memtable_memory_usage();
  if (active > mutable_limit_.load(std::memory_order_relaxed)) return true;
  const size_t limit = buffer_size();
  // A flush helps only if enough of the excess memory is still mutable.
  return memory_usage() >= limit && active >= limit / 2;
}

bool WriteBufferManager::MayStall() const { return allow_stall_.load() && enabled(); }

bool WriteBufferManager::ShouldStall() const {
  return MayStall() && (IsStallActive() || IsStallThresholdExceeded());
}

// memory_active_ is raised first, and IsFreeing() reads it later: between the two additions, memory
// that nobody frees must not look like memory of immutable memtables.
void WriteBufferManager::ReserveMem(size_t mem) {
  memory_active_.fetch_add(mem);
  memory_used_.fetch_add(mem);
  if (charge_ != nullptr) charge_->Update(memory_used_, mem);
}

void WriteBufferManager::ScheduleFreeMem(size_t mem) {
  assert(mutable_memtable_memory_usage() >= mem);
  memory_active_.fetch_sub(mem);
}

void WriteBufferManager::FreeMem(size_t mem) {
  assert(memory_usage() >= mem);
  memory_used_.fetch_sub(mem);
  if (charge_ != nullptr) charge_->Update(memory_used_, 0);
  MaybeEndWriteStall();
}

// The caller waits for Signal() afterwards. If there is no reason to wait any more, it is signalled
// at once.
void WriteBufferManager::BeginWriteStall(StallInterface* wbm_stall) {
  assert(wbm_stall != nullptr);
  {
    MutexLock lock(&queue_->mutex);
    const bool was_active = stall_active_.exchange(true);
    // Memory may have been freed since the caller checked.
    if (MayStall() && (was_active || IsStallThresholdExceeded()) && IsFreeing()) {
      queue_->waiting.push_back(wbm_stall);
      return;
    }
    stall_active_.store(!queue_->waiting.empty());
  }
  wbm_stall->Signal();
}

// Called whenever memory is freed, so the first check must be cheap.
void WriteBufferManager::MaybeEndWriteStall() {
  if (!IsStallActive()) return;
  if (MayStall() && IsStallThresholdExceeded() && IsFreeing()) return;
  MutexLock lock(&queue_->mutex);
  stall_active_.store(false);
  for (StallInterface* stall : queue_->waiting) stall->Signal();
  queue_->waiting.clear();
}

// Called by a database that closes. After this call no other thread signals the database.
void WriteBufferManager::RemoveDBFromQueue(StallInterface* wbm_stall) {
  assert(wbm_stall != nullptr);
  {
    MutexLock lock(&queue_->mutex);
    queue_->waiting.remove(wbm_stall);
    if (queue_->waiting.empty()) stall_active_.store(false);
  }
  wbm_stall->Signal();
}

}  // namespace ashlar
