// SPDX-License-Identifier: Apache-2.0
//
// stdout is buffered by the C library, so a failed write is noticed when it is flushed. std::cin
// reads from stdin, which remembers errors that std::cin does not report.
#include "tools/lib/console.h"

#include <unistd.h>

#include <cassert>
#include <cstdio>
#include <iostream>
#include <utility>

namespace ashlar {
namespace {

constexpr std::chrono::seconds kReportInterval{2};

bool IsTerminal(int descriptor) { return isatty(descriptor) == 1; }

// Whether a person is watching who does not see the results themselves.
bool IsProgressWanted() { return IsTerminal(STDERR_FILENO) && !IsTerminal(STDOUT_FILENO); }

}  // namespace

bool ReadInputLine(std::string* line) {
  assert(line != nullptr);
  return std::getline(std::cin, *line) && InputStatus().ok();
}

Status InputStatus() {
  if (!std::cin.bad() && std::ferror(stdin) == 0) return Status::OK();
  return Status::IOError("reading standard input failed");
}

void Print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void PrintLine(std::string_view text) {
  Print(text);
  std::fputc('\n', stdout);
}

Status FlushOutput() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return Status::OK();
  return Status::IOError("stdout: some output could not be written");
}

Progress::Progress(const char* what)
    : what_(what),
      is_wanted_(IsProgressWanted()),
      next_report_(std::chrono::steady_clock::now() + kReportInterval) {
  assert(what_ != nullptr);
}

void Progress::ReportIfDue() {
  assert(is_wanted_);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_report_) return;
  next_report_ = now + kReportInterval;
  std::fprintf(stderr, "%s: %llu so far\n", what_, static_cast<unsigned long long>(count_));
}

// A single file needs no progress by files.
FileProgress::FileProgress(size_t file_count)
    : file_count_(file_count),
      is_wanted_(file_count > 1 && IsProgressWanted()),
      next_report_(std::chrono::steady_clock::now() + kReportInterval) {}

void FileProgress::Begin(const std::string& path) {
  ++begun_;
  assert(begun_ <= file_count_);
  const auto now = std::chrono::steady_clock::now();
  if (!is_wanted_ || now < next_report_) return;
  next_report_ = now + kReportInterval;
  std::fprintf(stderr, "file %zu of %zu: %s\n", begun_, file_count_, path.c_str());
}

Heartbeat::Heartbeat(std::string what) : what_(std::move(what)) {
  if (IsTerminal(STDERR_FILENO)) thread_ = std::thread([this] { Run(); });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_stopped_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Heartbeat::Run() {
  const auto start = std::chrono::steady_clock::now();
  // The thread holds the mutex except while it waits, so the destructor's change of is_stopped_
  // cannot fall between the check and the wait.
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopped_.wait_for(lock, kReportInterval, [this] { return is_stopped_; })) {
    const auto elapsed = std::chrono::steady_clock::now() - start;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(elapsed).count();
    std::fprintf(stderr, "%s: at work for %lld s\n", what_.c_str(),
                 static_cast<long long>(seconds));
  }
}

}  // namespace ashlar
