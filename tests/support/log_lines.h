// SPDX-License-Identifier: Apache-2.0
//
// LogLines is an info log that keeps its lines in memory. Any thread.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "util/threads/mutex.h"

namespace ashlar {

class LogLines final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char text[40000];
    std::vsnprintf(text, sizeof(text), format, arguments);
    MutexLock lock(&mutex_);
    lines_.emplace_back(text);
  }
  // The first line that contains all of these parts; empty if there is none.
  std::string LineWith(const std::vector<std::string>& parts) {
    MutexLock lock(&mutex_);
    for (const std::string& line : lines_) {
      bool has_all = true;
      for (const std::string& part : parts) has_all &= line.find(part) != std::string::npos;
      if (has_all) return line;
    }
    return "";
  }
  // How often this occurs in all lines.
  size_t Count(const std::string& part) {
    MutexLock lock(&mutex_);
    size_t count = 0;
    for (const std::string& line : lines_) {
      for (size_t at = line.find(part); at != std::string::npos; at = line.find(part, at + 1)) {
        count++;
      }
    }
    return count;
  }

 private:
  Mutex mutex_{LockRank::kLogger};
  std::vector<std::string> lines_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
