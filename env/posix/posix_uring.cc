// SPDX-License-Identifier: Apache-2.0
//
// The kernel writes into the buffers of reads that it has taken, whatever becomes of the ring. So a
// ring that fails waits for these first, and only then hands the rest back undone.
#include "env/posix/posix_uring.h"

#include <sched.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>

#ifdef ASHLAR_WITH_URING
#include <liburing.h>
#endif

namespace ashlar {

#ifdef ASHLAR_WITH_URING

namespace {

class KernelRing final : public PosixUring {
 public:
  // Null if the kernel refuses.
  static std::unique_ptr<KernelRing> Open() {
    std::unique_ptr<KernelRing> ring(new KernelRing);
    ring->is_open_ = io_uring_queue_init(kEntries, &ring->ring_, 0) == 0;
    return ring->is_open_ ? std::move(ring) : nullptr;
  }
  ~KernelRing() override {
    assert(in_kernel_ == 0 || owner_ != getpid());
    if (is_open_) io_uring_queue_exit(&ring_);
  }
  // False in a child after fork(), which shares the memory of the parent's ring.
  bool IsMine() const { return owner_ == getpid(); }
  bool IsOpen() const { return is_open_; }

  bool Start(UringRead* read) override {
    assert(!read->is_done);
    if (!is_open_ || queued_ + in_kernel_ == kEntries) return false;
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    if (entry == nullptr) return false;
    io_uring_prep_read(entry, read->fd, read->buffer, static_cast<unsigned>(read->n), read->offset);
    io_uring_sqe_set_data(entry, read);
    waiting_[queued_++] = read;
    return true;
  }

  void Wait(const UringRead* read) override {
    while (!read->is_done) {
      if (queued_ != 0) Submit();
      if (read->is_done) break;  // handed back undone
      TakeOne();
    }
  }

 private:
  static constexpr unsigned kEntries = 64;

  KernelRing() = default;

  // Hands the queue to the kernel, which may take a part of it.
  void Submit() {
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

  void TakeOne() {
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
  void Close() {
    assert(in_kernel_ == 0);
    for (unsigned i = 0; i < queued_; ++i) waiting_[i]->is_done = true;
    queued_ = 0;
    io_uring_queue_exit(&ring_);
    is_open_ = false;
  }

  const pid_t owner_ = getpid();
  io_uring ring_;
  bool is_open_ = false;
  unsigned queued_ = 0;     // not seen by the kernel yet: the first of waiting_
  unsigned in_kernel_ = 0;  // taken by it and not done
  UringRead* waiting_[kEntries];
};

}  // namespace

// A ring that was refused or has failed is not asked for again by its thread.
PosixUring* PosixUring::OfThread() {
  thread_local std::unique_ptr<KernelRing> ring;
  thread_local pid_t tried_by = 0;
  if (tried_by != getpid()) {
    tried_by = getpid();
    ring = KernelRing::Open();
  }
  return ring != nullptr && ring->IsOpen() ? ring.get() : nullptr;
}

#else

PosixUring* PosixUring::OfThread() { return nullptr; }

#endif

}  // namespace ashlar
