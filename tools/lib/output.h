// SPDX-License-Identifier: Apache-2.0
//
// What the tools print: results on stdout, everything else on stderr, and signs of life during long
// work when a person is watching.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "ashlar/status.h"

namespace ashlar {

// To stdout. Bytes are written as they are, so that results may be piped.
void Print(std::string_view text);
void PrintLine(std::string_view text);
// IOError if anything printed so far did not arrive, as when a disk is full.
Status FlushOutput();

// Progress counts entries and says so on stderr every other second, if stderr is a terminal and
// stdout is not (on a terminal the entries themselves are the progress). Threads: one at a time.
class Progress {
 public:
  explicit Progress(const char* what);

  void Add() {
    if (++count_ % kEntriesBetweenLooks == 0 && is_wanted_) [[unlikely]]
      Look();
  }
  uint64_t count() const { return count_; }

 private:
  // Reading the clock for each entry would cost more than printing it.
  static constexpr uint64_t kEntriesBetweenLooks = 4096;
  void Look();

  const char* const what_;
  const bool is_wanted_;
  uint64_t count_ = 0;
  std::chrono::steady_clock::time_point next_report_;
};

// FileProgress says on stderr which of many files is being worked on, at most every other second
// and under the same conditions. Threads: one at a time.
class FileProgress {
 public:
  explicit FileProgress(size_t file_count);
  void Begin(const std::string& path);

 private:
  const size_t file_count_;
  const bool is_wanted_;
  size_t begun_ = 0;
  std::chrono::steady_clock::time_point next_report_;
};

// Heartbeat says every other second, from a thread of its own, that a call is still at work. Silent
// if stderr is no terminal. It ends with the object.
class Heartbeat {
 public:
  explicit Heartbeat(std::string what);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void Run();

  const std::string what_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool is_stopped_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace ashlar
