// SPDX-License-Identifier: Apache-2.0
//
// The standard streams of the tools: lines from standard input, results on stdout, messages on
// stderr, and progress messages during long work when a person is watching.
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

// The next line of standard input, without its end. False if there is none or if a read failed,
// which InputStatus() distinguishes; a line that a failed read has cut short is not returned.
// Threads: one at a time.
bool ReadInputLine(std::string* line);
// IOError once a read of standard input has failed. To std::cin a failed read looks like the end of
// the input, so a program that does not check would report success after half of its input.
Status InputStatus();

// To stdout. Bytes are written unchanged, so that results may be piped.
void Print(std::string_view text);
void PrintLine(std::string_view text);
// IOError if anything printed so far could not be written, for example because a disk is full.
Status FlushOutput();

// Progress counts entries and prints the count on stderr every two seconds, if stderr is a terminal
// and stdout is not (on a terminal the entries themselves show the progress). Threads: one at a
// time.
class Progress {
 public:
  // `what` names the things that are counted, such as "keys", and outlives the object.
  explicit Progress(const char* what);

  void Add() {
    if (++count_ % kEntriesBetweenClockReads == 0 && is_wanted_) [[unlikely]]
      ReportIfDue();
  }
  uint64_t count() const { return count_; }

 private:
  // Reading the clock for each entry would cost more than printing it.
  static constexpr uint64_t kEntriesBetweenClockReads = 4096;
  void ReportIfDue();

  const char* const what_;
  const bool is_wanted_;
  uint64_t count_ = 0;
  std::chrono::steady_clock::time_point next_report_;
};

// FileProgress prints on stderr which of several files is being processed, at most every two
// seconds and under the same conditions. Threads: one at a time.
class FileProgress {
 public:
  explicit FileProgress(size_t file_count);
  // To be called before each file.
  void Begin(const std::string& path);

 private:
  const size_t file_count_;
  const bool is_wanted_;
  size_t begun_ = 0;
  std::chrono::steady_clock::time_point next_report_;
};

// Heartbeat prints every two seconds, from its own thread, that a long call is still running; until
// the object is destroyed. Silent if stderr is not a terminal.
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
