// SPDX-License-Identifier: Apache-2.0
//
// ThreadTeam is a few threads with one task, for the lifetime of an object. Background work of a
// database uses the pools of its Env; this class is for helpers within one task. Threads: one at a
// time.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace ashlar {

// The body must not throw. It must end by itself, or when its owner tells it to.
class ThreadTeam {
 public:
  ThreadTeam() = default;
  // Waits for all threads. They must have been told to end.
  ~ThreadTeam() { Join(); }
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  // Starts threads that run body(0) to body(count - 1). If the system refuses a thread, the last
  // ones are missing. In a simulation none is started, because one thread does everything. At most
  // once.
  void Start(size_t count, const std::function<void(size_t)>& body);
  // Waits for all threads. Afterwards the team is empty.
  void Join();
  // How many threads were started, which may be fewer than asked for.
  size_t size() const { return threads_.size(); }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace ashlar
