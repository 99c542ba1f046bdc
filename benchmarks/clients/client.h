// SPDX-License-Identifier: Apache-2.0
//
// Shared by the benchmark programs that are written for librocksdb: flags, result lines that
// benchmarks/compare/clients.py reads, random numbers.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "rocksdb/status.h"

namespace client {

using Clock = std::chrono::steady_clock;

[[noreturn]] inline void Fail(const std::string& why) {
  std::fprintf(stderr, "benchmark: %s\n", why.c_str());
  std::exit(1);
}

inline void Require(const rocksdb::Status& status, const char* what) {
  if (!status.ok()) Fail(std::string(what) + ": " + status.ToString());
}

// Flags of the form --name=number, and --db=folder.
class Flags {
 public:
  Flags(std::map<std::string, uint64_t> defaults, int argc, char** argv) : numbers_(defaults) {
    for (int i = 1; i < argc; i++) {
      const std::string argument = argv[i];
      const size_t equals = argument.find('=');
      if (argument.rfind("--", 0) != 0 || equals == std::string::npos)
        Fail("not a flag: " + argument);
      const std::string name = argument.substr(2, equals - 2), value = argument.substr(equals + 1);
      if (name == "db") {
        db_ = value;
      } else if (numbers_.count(name) != 0) {
        numbers_[name] = std::strtoull(value.c_str(), nullptr, 10);
      } else {
        Fail("no such flag: " + argument);
      }
    }
    if (db_.empty()) Fail("--db=FOLDER is missing");
  }

  const std::string& db() const { return db_; }
  uint64_t operator[](const char* name) const { return numbers_.at(name); }

 private:
  std::map<std::string, uint64_t> numbers_;
  std::string db_;
};

inline void Report(const char* name, double value, const char* unit) {
  std::printf("%s: %.1f %s\n", name, value, unit);
}

inline uint64_t Micros(Clock::duration time) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

// The memory of this process.
inline uint64_t ResidentKiB() {
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) Fail("no /proc/self/status");
  char line[256];
  unsigned long long kib = 0;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::sscanf(line, "VmRSS: %llu", &kib) == 1) break;
  }
  std::fclose(file);
  return kib;
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2 + 1) {}
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t Uniform(uint64_t n) { return Next() % n; }

 private:
  uint64_t state_;
};

inline std::string KeyOf(uint64_t i) {
  char key[24];
  std::snprintf(key, sizeof(key), "key%013llu", static_cast<unsigned long long>(i));
  return key;
}

}  // namespace client
