// SPDX-License-Identifier: Apache-2.0
//
// The benchmarks by name. A workload is a function that every thread of a benchmark runs; what
// surrounds it (opening, threads, timing, the result line) is in runner.cc.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/generators.h"
#include "tools/db_bench/pace.h"
#include "tools/db_bench/stats.h"

namespace ashlar {
namespace bench {

// What one thread of a workload is given.
struct ThreadContext {
  DB* db = nullptr;
  int index = 0;  // 0-based
  Random random;
  Stats stats;
  Reporter* reporter = nullptr;
  Pace* read_pace = nullptr;   // operations a second, of all threads; null: as fast as they can
  Pace* write_pace = nullptr;  // bytes a second
  // Of --num_column_families, at least the default one.
  std::span<ColumnFamilyHandle* const> families;
  std::atomic<int>* threads_reading = nullptr;  // of those with extra_threads: 0 ends the writer

  // Where the pair of this number is.
  ColumnFamilyHandle* FamilyOf(uint64_t number) const {
    return families.size() == 1 ? families[0] : families[number % families.size()];
  }

  // Before so many reads, and before so many bytes are written: wait for their turn.
  void PaceReads(uint64_t operations) { WaitFor(read_pace, static_cast<double>(operations)); }
  void PaceWrites(uint64_t bytes) { WaitFor(write_pace, static_cast<double>(bytes)); }
  // The wait is no part of the operation's time. Null: no wait.
  void WaitFor(Pace* pace, double amount);
};

struct Workload {
  const char* name;
  void (*run)(ThreadContext*);
  bool wants_empty_db = false;
  int extra_threads = 0;       // beside --threads
  bool single_thread = false;  // whatever --threads says
  bool merges = false;         // needs --merge_operator
  bool spreads = false;        // over --num_column_families
};

// Null if there is no workload of that name.
const Workload* FindWorkload(const std::string& name);

// Prints what failed and ends the process: a benchmark that goes on after an error measures
// nothing.
void RequireOk(const Status& status, const char* what);

inline int64_t ReadCount() { return FLAGS_reads < 0 ? FLAGS_num : FLAGS_reads; }
inline int64_t WriteCount() { return FLAGS_writes < 0 ? FLAGS_num : FLAGS_writes; }
// What --merge_operator benchmarks count by.
inline int64_t ReadOrWriteCount() {
  return FLAGS_reads < 0 && FLAGS_writes < 0 ? FLAGS_num : std::max(FLAGS_reads, FLAGS_writes);
}
inline int64_t DeleteCount() { return FLAGS_deletes < 0 ? FLAGS_num : FLAGS_deletes; }

inline KeyShape ShapeOfKeys(int key_size = FLAGS_key_size) {
  return {.key_size = key_size,
          .prefix_size = FLAGS_prefix_size,
          .keys_per_prefix = FLAGS_keys_per_prefix,
          .key_count = FLAGS_num};
}

// --sine_a and the others: what is done a second, so many seconds after the beginning.
double SineRate(double seconds);
// What was done so far is no part of the result.
void RestartStats(ThreadContext* thread);
ReadOptions MakeReadOptions();
WriteOptions MakeWriteOptions(bool sync);
// "(3 of 4 found)" behind the result.
void AddFoundMessage(ThreadContext* thread, int64_t found, int64_t sought);

// workloads_write.cc
void FillSequential(ThreadContext* thread);
void FillRandom(ThreadContext* thread);
void FillUniqueRandom(ThreadContext* thread);
void FillSync(ThreadContext* thread);
void FillBatch(ThreadContext* thread);
void Fill100K(ThreadContext* thread);
void DeleteSequential(ThreadContext* thread);
void DeleteRandom(ThreadContext* thread);
void DeleteUntil(ThreadContext* thread);
// workloads_shape.cc
void FillSequentialDeterministic(ThreadContext* thread);
// workloads_read.cc
void ReadSequential(ThreadContext* thread);
void ReadToCache(ThreadContext* thread);
void ReadReverse(ThreadContext* thread);
void ReadRandom(ThreadContext* thread);
void ReadMissing(ThreadContext* thread);
void ReadHot(ThreadContext* thread);
void SeekRandom(ThreadContext* thread);
void ReadToRowCache(ThreadContext* thread);
void NewIteratorOnly(ThreadContext* thread);

// workloads_upkeep.cc
void CompactAll(ThreadContext* thread);
void CompactLevel(DB* db, size_t from);  // all its files; says what it found
void VerifyChecksums(ThreadContext* thread);
void VerifyFileChecksums(ThreadContext* thread);
void EstimateSizes(ThreadContext* thread);

// workloads_parts.cc
void SumCrc32c(ThreadContext* thread);
void SumXxHash(ThreadContext* thread);
void SumXxHash64(ThreadContext* thread);
void SumXxh3(ThreadContext* thread);
void CompressBlocks(ThreadContext* thread);
void UncompressBlocks(ThreadContext* thread);

// workloads_multi_get.cc
void MultiReadRandom(ThreadContext* thread);

// workloads_update.cc
void UpdateRandom(ThreadContext* thread);
void XorUpdateRandom(ThreadContext* thread);
void AppendRandom(ThreadContext* thread);
void ReadRandomWriteRandom(ThreadContext* thread);
void RandomReplaceKeys(ThreadContext* thread);
void FillSeekSequential(ThreadContext* thread);

// workloads_timeseries.cc
void TimeSeries(ThreadContext* thread);
// The compaction filter of --expire_style, if it says so; false if it says nothing that is known.
bool SetExpiry(Options* options);

// workloads_mixgraph.cc
void MixGraph(ThreadContext* thread);
bool AreMixRatiosValid();

// workloads_merge.cc
void MergeRandom(ThreadContext* thread);
void ReadRandomMergeRandom(ThreadContext* thread);
void ReadRandomOperands(ThreadContext* thread);
// workloads_lists.cc
void GetMergeOperandsOfLists(ThreadContext* thread);

// workloads_beside.cc: thread 0 does what the name says after "while", the others before it.
void ReadWhileWriting(ThreadContext* thread);
void ReadWhileMerging(ThreadContext* thread);
void MultiReadWhileWriting(ThreadContext* thread);
void ReadWhileScanning(ThreadContext* thread);
void SeekWhileWriting(ThreadContext* thread);
void SeekWhileMerging(ThreadContext* thread);
void NewIteratorWhileWriting(ThreadContext* thread);

}  // namespace bench
}  // namespace ashlar
