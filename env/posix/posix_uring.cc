// SPDX-License-Identifier: Apache-2.0
//
// The kernel writes into the buffers of reads that it has taken, whatever becomes of the ring. So a
// ring that fails waits for these first, and only then hands the rest back undone.
#include "env/posix/posix_uring.h"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <utility>

#include "util/threads/mutex.h"
#include "util/threads/thread_annotations.h"

#ifdef ASHLAR_WITH_URING
#include <liburing.h>
#endif

namespace ashlar {

#ifdef ASHLAR_WITH_URING

namespace {

class KernelRing final : public PosixUring {
 public:
  // Null if the kernel refuses.
  static std::shared_ptr<KernelRing> Open() {
    std::shared_ptr<KernelRing> ring(new KernelRing);
    MutexLock lock(&ring->mutex_);
    ring->is_open_ = io_uring_queue_init(kEntries, &ring->ring_, 0) == 0;
    exits_.load(std::memory_order_acquire);
    return ring;
  }
  ~KernelRing() override {
    MutexLock lock(&mutex_);
    assert(in_kernel_ == 0 || owner_ != getpid());
    if (is_open_) Exit();
  }
  // False in a child after fork(), which shares the memory of the parent's ring.
  bool IsMine() const { return owner_ == getpid(); }
  bool IsOpen() EXCLUDES(mutex_) {
    MutexLock lock(&mutex_);
    return is_open_;
  }

  bool Start(UringRead* read) override EXCLUDES(mutex_) {
    MutexLock lock(&mutex_);
    assert(!read->is_done);
    if (!is_open_ || queued_ + in_kernel_ == kEntries) return false;
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    if (entry == nullptr) return false;
    io_uring_prep_read(entry, read->fd, read->buffer, static_cast<unsigned>(read->n), read->offset);
    io_uring_sqe_set_data(entry, read);
    waiting_[queued_++] = read;
    return true;
  }

  void Submit() override EXCLUDES(mutex_) {
    MutexLock lock(&mutex_);
    if (queued_ != 0) SubmitLocked();
  }

  void Wait(const UringRead* read) override EXCLUDES(mutex_) {
    MutexLock lock(&mutex_);
    while (!read->is_done) {
      if (queued_ != 0) SubmitLocked();  // which may wait for the last one, or hand them back
      if (!read->is_done && in_kernel_ != 0) TakeOne();
    }
  }

 private:
  static constexpr unsigned kEntries = 64;

  KernelRing() = default;

  // Hands the queue to the kernel, which may take a part of it.
  void SubmitLocked() REQUIRES(mutex_) {
    const int taken = io_uring_submit(&ring_);
    if (taken > 0) {
      in_kernel_ += static_cast<unsigned>(taken);
      queued_ -= static_cast<unsigned>(taken);
      for (unsigned i = 0; i < queued_; ++i)
        waiting_[i] = waiting_[i + static_cast<unsigned>(taken)];
      return;
    }
    // It is short of something that reads under way may give back.
    if (taken == -EINTR) return;
    if (in_kernel_ != 0) return TakeOne();
    Close();
  }

  void TakeOne() REQUIRES(mutex_) {
    assert(in_kernel_ != 0);
    io_uring_cqe* done = nullptr;
    // Even if the kernel will not wait for us any more, what it has taken it does.
    while (io_uring_wait_cqe(&ring_, &done) != 0) sched_yield();
    auto* const read = static_cast<UringRead*>(io_uring_cqe_get_data(done));
    read->done_bytes = done->res > 0 ? static_cast<size_t>(done->res) : 0;
    read->is_done = true;
    io_uring_cqe_seen(&ring_, done);
    --in_kernel_;
  }

  // Gives up: nothing is under way, and what is queued is handed back.
  void Close() REQUIRES(mutex_) {
    assert(in_kernel_ == 0);
    for (unsigned i = 0; i < queued_; ++i) waiting_[i]->is_done = true;
    queued_ = 0;
    Exit();
  }

  void Exit() REQUIRES(mutex_) {
    exits_.fetch_add(1, std::memory_order_release);
    io_uring_queue_exit(&ring_);
    is_open_ = false;
  }

  // The kernel may give the memory of a ring that ended to one that begins: through this the second
  // thread knows that the first is done with it, which otherwise only the kernel does.
  inline static std::atomic<uint64_t> exits_{0};

  const pid_t owner_ = getpid();
  Mutex mutex_{LockRank::kLeaf};
  io_uring ring_ GUARDED_BY(mutex_);
  bool is_open_ GUARDED_BY(mutex_) = false;
  unsigned queued_ GUARDED_BY(mutex_) = 0;     // not seen by the kernel yet: the first of waiting_
  unsigned in_kernel_ GUARDED_BY(mutex_) = 0;  // taken by it and not done
  UringRead* waiting_[kEntries] GUARDED_BY(mutex_);
};

}  // namespace

// A ring that was refused or has failed is not asked for again by its thread.
const std::shared_ptr<PosixUring>& PosixUring::OfThread() {
  static const auto* const none = new std::shared_ptr<PosixUring>();
  thread_local std::shared_ptr<PosixUring> ring;
  thread_local KernelRing* kernel_ring = nullptr;  // the same
  thread_local pid_t tried_by = 0;
  if (tried_by != getpid()) {
    tried_by = getpid();
    std::shared_ptr<KernelRing> opened = KernelRing::Open();
    kernel_ring = opened.get();
    ring = std::move(opened);
  }
  return kernel_ring->IsOpen() ? ring : *none;
}

#else

const std::shared_ptr<PosixUring>& PosixUring::OfThread() {
  static const auto* const none = new std::shared_ptr<PosixUring>();
  return *none;
}

#endif

}  // namespace ashlar
