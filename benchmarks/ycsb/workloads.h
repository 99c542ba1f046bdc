// SPDX-License-Identifier: Apache-2.0
//
// The six core workloads of YCSB (Cooper et al., "Benchmarking cloud serving systems with YCSB"):
// the percentages of their operations, and the distribution by which these choose records.
#pragma once

#include <cstdint>

namespace ycsb {

enum class Operation : uint8_t { kRead, kUpdate, kInsert, kScan, kReadModifyWrite };
inline constexpr int kOperationCount = 5;
inline constexpr const char* kOperationNames[kOperationCount] = {"read", "update", "insert", "scan",
                                                                 "read-modify-write"};

enum class Chosen : uint8_t { kZipfian, kLatest };

struct Workload {
  char name;
  const char* like;
  int percent[kOperationCount];  // by Operation
  Chosen chosen;
};

inline constexpr Workload kWorkloads[] = {
    {'a', "a session store: half of it updates", {50, 50, 0, 0, 0}, Chosen::kZipfian},
    {'b', "tags of photographs: mostly reads", {95, 5, 0, 0, 0}, Chosen::kZipfian},
    {'c', "a cache of profiles: reads alone", {100, 0, 0, 0, 0}, Chosen::kZipfian},
    {'d', "status updates: the newest are read", {95, 0, 5, 0, 0}, Chosen::kLatest},
    {'e', "threaded conversations: short scans", {0, 0, 5, 95, 0}, Chosen::kZipfian},
    {'f', "a user database: read, change, write", {50, 0, 0, 0, 50}, Chosen::kZipfian},
};

}  // namespace ycsb
