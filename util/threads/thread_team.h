// SPDX-License-Identifier: Apache-2.0
//
// ThreadTeam is a few threads with one task, for as long as somebody's object lives. Background
// work of a database belongs to the pools of its Env; this is for helpers within one piece of it.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace ashlar {

class ThreadTeam {
 public:
  ThreadTeam() = default;
  // Waits for all of them: who ends the team has told them to end.
  ~ThreadTeam() { Join(); }
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  // Starts threads that run body(0) to body(count - 1); the last ones are missing if the system
  // gives no more, and all of them in a simulation, where one thread does everything. Once.
  void Start(size_t count, const std::function<void(size_t)>& body);
  void Join();
  size_t size() const { return threads_.size(); }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace ashlar
