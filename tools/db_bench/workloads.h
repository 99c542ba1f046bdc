// SPDX-License-Identifier: Apache-2.0
//
// The benchmarks by name. A workload is a function that every thread of a benchmark runs; what
// surrounds it (opening, threads, timing, the result line) is in runner.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/generators.h"
#include "tools/db_bench/stats.h"

namespace ashlar {
namespace bench {

// What one thread of a workload is given.
struct ThreadContext {
  DB* db = nullptr;
  int index = 0;  // 0-based
  Random random;
  Stats stats;
  std::atomic<int>* threads_reading = nullptr;  // readwhilewriting: 0 ends the writer
};

struct Workload {
  const char* name;
  void (*run)(ThreadContext*);
  bool wants_empty_db = false;
  int extra_threads = 0;       // beside --threads
  bool single_thread = false;  // whatever --threads says
};

// Null if there is no workload of that name.
const Workload* FindWorkload(const std::string& name);

// Prints what failed and ends the process: a benchmark that goes on after an error measures
// nothing.
void RequireOk(const Status& status, const char* what);

inline int64_t ReadCount() { return FLAGS_reads < 0 ? FLAGS_num : FLAGS_reads; }
inline int64_t WriteCount() { return FLAGS_writes < 0 ? FLAGS_num : FLAGS_writes; }
inline int64_t DeleteCount() { return FLAGS_deletes < 0 ? FLAGS_num : FLAGS_deletes; }

// workloads_write.cc
void FillSequential(ThreadContext* thread);
void FillRandom(ThreadContext* thread);
void FillUniqueRandom(ThreadContext* thread);
void FillSync(ThreadContext* thread);
void FillBatch(ThreadContext* thread);
void DeleteSequential(ThreadContext* thread);
void DeleteRandom(ThreadContext* thread);
// Random writes until the readers of `thread` are done; not part of the result.
void WriteWhileReading(ThreadContext* thread);

// workloads_read.cc
void ReadSequential(ThreadContext* thread);
void ReadToCache(ThreadContext* thread);
void ReadReverse(ThreadContext* thread);
void ReadRandom(ThreadContext* thread);
void ReadMissing(ThreadContext* thread);
void ReadHot(ThreadContext* thread);
void SeekRandom(ThreadContext* thread);
void ReadWhileWriting(ThreadContext* thread);
void CompactAll(ThreadContext* thread);

}  // namespace bench
}  // namespace ashlar
