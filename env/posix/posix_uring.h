// SPDX-License-Identifier: Apache-2.0
//
// PosixUring is the io_uring of one thread, through which several reads go to the kernel with one
// call and are done side by side. Where the kernel refuses it (old, forbidden, out of locked
// memory) or the library was built without liburing, there is none, and callers use pread.
//
// A read that the ring did not do, or not to its end, is for the caller to finish by pread, which
// also tells what is wrong: so there is one way in which reads fail.
//
// Reads may be waited for in another thread than the one that started them, which may have ended:
// whoever has a read under way holds on to the ring. Threads: any; reads of a thread wait for each
// other, and for those that others wait for on the same ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ashlar {

// From Start() until it is done it stays in its place, and so does the buffer.
struct UringRead {
  int fd = -1;
  uint64_t offset = 0;
  size_t n = 0;
  char* buffer = nullptr;
  // Set when it is done: what was read, from the front. Fewer than n at the end of the file, or if
  // anything went wrong.
  size_t done_bytes = 0;
  bool is_done = false;
};

class PosixUring {
 public:
  // The ring of this thread, or null. A child after fork() gets one of its own.
  static const std::shared_ptr<PosixUring>& OfThread();

  virtual ~PosixUring() = default;
  // Queues a read. The kernel sees it with the next Submit() or Wait(), or earlier. False: there is
  // no room; the read is as it was.
  virtual bool Start(UringRead* read) = 0;
  // Hands to the kernel what is queued, and waits for none of it.
  virtual void Submit() = 0;
  // Returns when the read, which was started here, is done.
  virtual void Wait(const UringRead* read) = 0;
};

}  // namespace ashlar
