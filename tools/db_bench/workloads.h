// SPDX-License-Identifier: Apache-2.0
//
// The benchmarks. A workload is a function that every thread of a benchmark runs; runner.cc opens
// the database, starts the threads, measures the time and prints the result.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/generators.h"
#include "tools/db_bench/stats.h"

namespace ashlar {
namespace bench {

// The state of one thread of a workload.
struct ThreadContext {
  DB* db = nullptr;
  int index = 0;  // 0-based
  Random random;
  Stats stats;
  Reporter* reporter = nullptr;
  Pace* read_pace = nullptr;   // operations per second, shared by all threads; null: no limit
  Pace* write_pace = nullptr;  // bytes per second, shared by all threads; null: no limit
  Pace* mix_pace = nullptr;    // operations of mixgraph, shared by all threads; null: no limit
  // --num_column_families families, the default one first.
  std::span<ColumnFamilyHandle* const> families;
  std::atomic<int>* threads_reading = nullptr;  // with extra_threads: the writer ends at 0

  // The family of the pair with this number.
  ColumnFamilyHandle* FamilyOf(uint64_t number) const {
    return families.size() == 1 ? families[0] : families[number % families.size()];
  }

  // Wait until the rate limits allow this many reads, or writes of this many bytes.
  void PaceReads(uint64_t operations) { WaitFor(read_pace, static_cast<double>(operations)); }
  void PaceWrites(uint64_t bytes) { WaitFor(write_pace, static_cast<double>(bytes)); }
  // Waits, and excludes the wait from the time of the operation. No wait if `pace` is null.
  void WaitFor(Pace* pace, double amount);
};

struct Workload {
  const char* name;
  void (*run)(ThreadContext*);
  bool begins_empty = false;    // begins with an empty database
  int extra_threads = 0;        // in addition to --threads
  bool single_thread = false;   // ignores --threads
  bool merges = false;          // needs --merge_operator
  bool uses_families = false;   // supports --num_column_families
  bool refuses_stamps = false;  // does not run with --user_timestamp_size
  // Ends the process if the database is not as the workload leaves it; null: no check.
  void (*verify)(DB*) = nullptr;
};

// Null if there is no workload of this name.
const Workload* FindWorkload(const std::string& name);

// Ends the process with a message if `status` is an error: a benchmark that continues after an
// error measures nothing.
void RequireOk(const Status& status, const char* what);

// The numbers of operations of each thread.
inline int64_t ReadCount() { return FLAGS_reads < 0 ? FLAGS_num : FLAGS_reads; }
inline int64_t WriteCount() { return FLAGS_writes < 0 ? FLAGS_num : FLAGS_writes; }
// The number of operations of benchmarks that read and write.
inline int64_t ReadOrWriteCount() {
  return FLAGS_reads < 0 && FLAGS_writes < 0 ? FLAGS_num : std::max(FLAGS_reads, FLAGS_writes);
}
inline int64_t DeleteCount() { return FLAGS_deletes < 0 ? FLAGS_num : FLAGS_deletes; }

// The form of all keys of the database; only readmissing uses another size.
inline KeyShape ShapeOfKeys(int key_size = FLAGS_key_size) {
  return {.key_size = key_size,
          .prefix_size = FLAGS_prefix_size,
          .keys_per_prefix = FLAGS_keys_per_prefix,
          .key_count = FLAGS_num};
}

// The rate per second, of --sine_a and the other flags, at `seconds` after the beginning.
double SineRate(double seconds);
// Excludes everything so far from the result.
void RestartStats(ThreadContext* thread);
ReadOptions MakeReadOptions();
WriteOptions MakeWriteOptions(bool sync);
// Adds "(3 of 4 found)" to the result line.
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
void MultiReadRandom(ThreadContext* thread);
// Thread 0 does what comes after "while" in the name, the others what comes before it.
void ReadWhileWriting(ThreadContext* thread);
void ReadWhileMerging(ThreadContext* thread);
void MultiReadWhileWriting(ThreadContext* thread);
void ReadWhileScanning(ThreadContext* thread);
void SeekWhileWriting(ThreadContext* thread);
void SeekWhileMerging(ThreadContext* thread);
void NewIteratorWhileWriting(ThreadContext* thread);

// traces.cc
void ReplayTrace(ThreadContext* thread);  // of --trace_file

// workloads_transaction.cc
void RandomTransaction(ThreadContext* thread);
void VerifyTransactions(DB* db);
bool IsTransactionSetsValid();  // --transaction_sets
bool IsTransactionKindValid();  // --transaction_db and --optimistic_transaction_db
// workloads_other.cc
void CompactAll(ThreadContext* thread);
// compact0: compacts level 0 into the first level beyond it that has files. compact1: compacts that
// level into the next one that has files or, if there is none, into the next one. Prints the number
// of files.
void CompactLevel(DB* db, bool is_level0);
void VerifyChecksums(ThreadContext* thread);
void VerifyFileChecksums(ThreadContext* thread);
void EstimateSizes(ThreadContext* thread);
void SumCrc32c(ThreadContext* thread);
void SumXxHash(ThreadContext* thread);
void SumXxHash64(ThreadContext* thread);
void SumXxh3(ThreadContext* thread);
void CompressBlocks(ThreadContext* thread);
void UncompressBlocks(ThreadContext* thread);

// workloads_update.cc
void UpdateRandom(ThreadContext* thread);
void XorUpdateRandom(ThreadContext* thread);
void AppendRandom(ThreadContext* thread);
void ReadRandomWriteRandom(ThreadContext* thread);
void RandomReplaceKeys(ThreadContext* thread);
void FillSeekSequential(ThreadContext* thread);

// workloads_timeseries.cc
void TimeSeries(ThreadContext* thread);
// Sets the compaction filter of --expire_style=compaction_filter. False if the flag's value is
// unknown.
bool SetExpiry(Options* options);

// workloads_mixgraph.cc
void MixGraph(ThreadContext* thread);
std::unique_ptr<Pace> MakeMixPace();  // of --sine_mix_rate; null without it
bool AreMixRatiosValid();

// workloads_merge.cc
void MergeRandom(ThreadContext* thread);
void ReadRandomMergeRandom(ThreadContext* thread);
void ReadRandomOperands(ThreadContext* thread);
void GetMergeOperandsOfLists(ThreadContext* thread);

}  // namespace bench
}  // namespace ashlar
