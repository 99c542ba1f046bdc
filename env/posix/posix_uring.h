// SPDX-License-Identifier: Apache-2.0
//
// PosixUring is the io_uring of one thread. With it, one system call hands several reads to the
// kernel, which carries them out in parallel. There is none if the kernel refuses it (it is too
// old, forbids it or has no locked memory left) or if the library was built without liburing.
// Callers then use pread.
//
// If the ring did not carry out a read, or only a part of it, the caller finishes the read with
// pread, which also finds the error. Therefore all reads fail in the same way.
//
// A read may be awaited by another thread than the one that started it, even after that one has
// ended. For this, the owner of a running read keeps a reference to the ring.
//
// Any thread. Threads that wait on the same ring wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ashlar {

// A read for the ring. This object and its buffer must stay valid and in place from Start() until
// the read is done.
struct UringRead {
  // Absolute offset in the file, and number of bytes to read; direct reads need both aligned to
  // pages.
  int fd = -1;
  uint64_t offset = 0;
  size_t n = 0;
  char* buffer = nullptr;
  // Set when the read is done: the number of bytes that were read from the front. It is less than n
  // at the end of the file, or after any error.
  size_t done_bytes = 0;
  bool is_done = false;
};

// One per thread. See the head of this file.
class PosixUring {
 public:
  // The ring of the calling thread, or null. The reference is valid until the thread ends; copy the
  // pointer to keep the ring longer. A child after fork() gets a ring of its own.
  static const std::shared_ptr<PosixUring>& OfThread();

  virtual ~PosixUring() = default;
  // Queues a read. The kernel gets it with the next Submit() or Wait(), or earlier. Returns false
  // if there is no room; then nothing has happened.
  virtual bool Start(UringRead* read) = 0;
  // Hands all queued reads to the kernel and does not wait for them.
  virtual void Submit() = 0;
  // Waits until the read is done. It must have been started on this ring.
  virtual void Wait(const UringRead* read) = 0;
};

}  // namespace ashlar
