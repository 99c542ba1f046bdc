// SPDX-License-Identifier: Apache-2.0
//
// The kernel writes into the buffers of the reads that it has accepted, even after the ring failed.
// Therefore a ring that fails first waits for these reads, and only then marks the others as done
// without having read anything.
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

// The mutex protects the ring, because a thread may wait for a read that another thread started. It
// is held while the kernel is waited for.
class KernelRing final : public PosixUring {
 public:
  // Never null. The ring is not open if the kernel refuses it.
  static std::shared_ptr<KernelRing> Open() {
    std::shared_ptr<KernelRing> ring(new KernelRing);
    MutexLock lock(&ring->mutex_);
    ring->is_open_ = io_uring_queue_init(kEntries, &ring->ring_, 0) == 0;
    // See exits_.
    exits_.load(std::memory_order_acquire);
    return ring;
  }
  ~KernelRing() override {
    MutexLock lock(&mutex_);
    // A child after fork() inherits the count of its parent's reads and never waits for them.
    assert(in_kernel_ == 0 || owner_ != getpid());
    if (is_open_) Exit();
  }
  bool IsOpen() EXCLUDES(mutex_) {
    MutexLock lock(&mutex_);
    return is_open_;
  }

  // Only puts the read into the submission queue; the kernel gets it when the queue is submitted.
  // False if the ring is full or closed: the caller then reads without the ring.
  bool Start(UringRead* read) override EXCLUDES(mutex_) {
    MutexLock lock(&mutex_);
    assert(read != nullptr);
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
    assert(read != nullptr);
    MutexLock lock(&mutex_);
    while (!read->is_done) {
      // This may take a completion, or mark the queued reads as done.
      if (queued_ != 0) SubmitLocked();
      if (!read->is_done && in_kernel_ != 0) TakeOne();
    }
  }

 private:
  static constexpr unsigned kEntries = 64;

  KernelRing() = default;

  // Hands the queued reads to the kernel, which may accept only some of them.
  void SubmitLocked() REQUIRES(mutex_) {
    assert(queued_ != 0);
    assert(queued_ + in_kernel_ <= kEntries);
    const int taken = io_uring_submit(&ring_);
    if (taken > 0) {
      assert(static_cast<unsigned>(taken) <= queued_);
      in_kernel_ += static_cast<unsigned>(taken);
      queued_ -= static_cast<unsigned>(taken);
      // The kernel takes the reads in the order of the queue.
      for (unsigned i = 0; i < queued_; ++i)
        waiting_[i] = waiting_[i + static_cast<unsigned>(taken)];
      return;
    }
    // The kernel lacks some resource, which the completion of a running read may free.
    if (taken == -EINTR) return;
    if (in_kernel_ != 0) return TakeOne();
    Close();
  }

  // Waits for one completion, of any read of this ring.
  void TakeOne() REQUIRES(mutex_) {
    assert(in_kernel_ != 0);
    io_uring_cqe* done = nullptr;
    // Even if the kernel refuses to wait, it still completes the reads that it has accepted.
    while (io_uring_wait_cqe(&ring_, &done) != 0) sched_yield();
    auto* const read = static_cast<UringRead*>(io_uring_cqe_get_data(done));
    read->done_bytes = done->res > 0 ? static_cast<size_t>(done->res) : 0;
    read->is_done = true;
    io_uring_cqe_seen(&ring_, done);
    --in_kernel_;
  }

  // Closes the ring. No read is running in the kernel; the queued reads are marked as done.
  void Close() REQUIRES(mutex_) {
    assert(in_kernel_ == 0);
    for (unsigned i = 0; i < queued_; ++i) waiting_[i]->is_done = true;
    queued_ = 0;
    Exit();
  }

  // Closes the ring. Start() returns false from now on.
  void Exit() REQUIRES(mutex_) {
    exits_.fetch_add(1, std::memory_order_release);
    io_uring_queue_exit(&ring_);
    is_open_ = false;
  }

  // The kernel may reuse the memory of a closed ring for a new one. Only the kernel knows that the
  // first thread is finished with it. This counter makes the order visible to the memory model.
  inline static std::atomic<uint64_t> exits_{0};

  const pid_t owner_ = getpid();  // a child after fork() shares the memory of the parent's ring
  Mutex mutex_{LockRank::kLeaf};
  io_uring ring_ GUARDED_BY(mutex_);
  bool is_open_ GUARDED_BY(mutex_) = false;
  // The first elements of waiting_, which the kernel has not seen yet.
  unsigned queued_ GUARDED_BY(mutex_) = 0;
  unsigned in_kernel_ GUARDED_BY(mutex_) = 0;  // accepted by the kernel and not completed
  UringRead* waiting_[kEntries] GUARDED_BY(mutex_);
};

}  // namespace

// The ring is opened by the first read of a thread. A thread whose ring was refused or has failed
// does not try to open another, so that a missing io_uring costs one system call per thread.
const std::shared_ptr<PosixUring>& PosixUring::OfThread() {
  static const auto* const none = new std::shared_ptr<PosixUring>();
  thread_local std::shared_ptr<PosixUring> ring;
  thread_local KernelRing* kernel_ring = nullptr;  // the same object
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
