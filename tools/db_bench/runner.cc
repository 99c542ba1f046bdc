// SPDX-License-Identifier: Apache-2.0
//
// Threads of a workload are all made first and let go together, so that the clock starts when the
// work does.
#include "tools/db_bench/runner.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include "ashlar/perf_context.h"
#include "ashlar/perf_level.h"
#include "ashlar/statistics.h"

namespace ashlar {
namespace bench {
namespace {

constexpr Workload kWorkloads[] = {
    {.name = "fillseq", .run = FillSequential, .wants_empty_db = true},
    {.name = "fillrandom", .run = FillRandom, .wants_empty_db = true},
    {.name = "filluniquerandom",
     .run = FillUniqueRandom,
     .wants_empty_db = true,
     .single_thread = true},
    {.name = "fillsync", .run = FillSync, .wants_empty_db = true},
    {.name = "fillbatch", .run = FillBatch, .wants_empty_db = true},
    {.name = "fill100K", .run = Fill100K, .wants_empty_db = true},
    {.name = "fillseekseq", .run = FillSeekSequential},
    {.name = "overwrite", .run = FillRandom},
    {.name = "deleteseq", .run = DeleteSequential},
    {.name = "deleterandom", .run = DeleteRandom},
    {.name = "deleteuntil", .run = DeleteUntil},
    {.name = "readseq", .run = ReadSequential},
    {.name = "readreverse", .run = ReadReverse},
    {.name = "readtocache", .run = ReadToCache, .single_thread = true},
    {.name = "readrandom", .run = ReadRandom},
    {.name = "readmissing", .run = ReadMissing},
    {.name = "readhot", .run = ReadHot},
    {.name = "seekrandom", .run = SeekRandom},
    {.name = "readtorowcache", .run = ReadToRowCache, .single_thread = true},
    {.name = "multireadrandom", .run = MultiReadRandom},
    {.name = "newiterator", .run = NewIteratorOnly},
    {.name = "newiteratorwhilewriting", .run = NewIteratorWhileWriting, .extra_threads = 1},
    {.name = "seekrandomwhilewriting", .run = SeekWhileWriting, .extra_threads = 1},
    {.name = "seekrandomwhilemerging", .run = SeekWhileMerging, .extra_threads = 1, .merges = true},
    {.name = "readwhilewriting", .run = ReadWhileWriting, .extra_threads = 1},
    {.name = "readwhilemerging", .run = ReadWhileMerging, .extra_threads = 1, .merges = true},
    {.name = "readwhilescanning", .run = ReadWhileScanning, .extra_threads = 1},
    {.name = "readrandomwriterandom", .run = ReadRandomWriteRandom},
    {.name = "updaterandom", .run = UpdateRandom},
    {.name = "xorupdaterandom", .run = XorUpdateRandom},
    {.name = "appendrandom", .run = AppendRandom},
    {.name = "randomreplacekeys", .run = RandomReplaceKeys, .wants_empty_db = true},
    {.name = "timeseries", .run = TimeSeries, .wants_empty_db = true},
    {.name = "mixgraph", .run = MixGraph},
    {.name = "mergerandom", .run = MergeRandom, .merges = true},
    {.name = "readrandommergerandom", .run = ReadRandomMergeRandom, .merges = true},
    {.name = "readrandomoperands", .run = ReadRandomOperands, .merges = true},
    {.name = "multireadwhilewriting", .run = MultiReadWhileWriting, .extra_threads = 1},
    {.name = "approximatesizerandom", .run = EstimateSizes},
    {.name = "verifychecksum", .run = VerifyChecksums, .single_thread = true},
    {.name = "verifyfilechecksums", .run = VerifyFileChecksums, .single_thread = true},
    {.name = "crc32c", .run = SumCrc32c},
    {.name = "xxhash", .run = SumXxHash},
    {.name = "xxhash64", .run = SumXxHash64},
    {.name = "xxh3", .run = SumXxh3},
    {.name = "compress", .run = CompressBlocks},
    {.name = "uncompress", .run = UncompressBlocks},
    {.name = "compact", .run = CompactAll, .single_thread = true},
};

// Opens when all have arrived.
class Gate {
 public:
  explicit Gate(int count) : missing_(count) {}
  void ArriveAndWait() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (--missing_ == 0) opened_.notify_all();
    opened_.wait(lock, [this] { return missing_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  int missing_;
};

// What the calling thread, which was made for one workload, has counted.
void AddPerfMessage(Stats* stats) {
  if (FLAGS_perf_level <= kDisable) return;
  stats->AddMessage("PERF_CONTEXT:\n" + get_perf_context()->ToString());
}

}  // namespace

const Workload* FindWorkload(const std::string& name) {
  for (const Workload& workload : kWorkloads) {
    if (name == workload.name) return &workload;
  }
  return nullptr;
}

void ThreadContext::WaitFor(Pace* pace, double amount) {
  if (pace == nullptr) return;
  const uint64_t start_micros = NowMicros();
  pace->Take(amount);
  stats.LeaveOut(NowMicros() - start_micros);
}

void RestartStats(ThreadContext* thread) {
  thread->stats = Stats();
  thread->stats.Start(thread->reporter);
}

void RequireOk(const Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s error: %s\n", what, status.ToString().c_str());
  std::exit(1);
}

Runner::~Runner() {
  if (options_.statistics != nullptr) {
    std::printf("STATISTICS:\n%s\n", options_.statistics->ToString().c_str());
  }
  if (db_ != nullptr) RequireOk(db_->Close(), "close");
}

void Runner::Open() {
  if (db_ != nullptr) return;
  DB* db = nullptr;
  const Status status =
      FLAGS_readonly ? DB::OpenForReadOnly(options_, path_, &db) : DB::Open(options_, path_, &db);
  RequireOk(status, "open");
  db_.reset(db);
}

void Runner::StartEmpty() {
  if (db_ != nullptr) RequireOk(db_->Close(), "close");
  db_.reset();
  RequireOk(DestroyDB(path_, options_), "destroy");
}

bool Runner::RunAll(const std::string& names) {
  if (FLAGS_report_interval_seconds > 0) {
    reporter_ = Reporter::Start(FLAGS_report_file, FLAGS_report_interval_seconds);
    if (reporter_ == nullptr) return false;
  }
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    if (!name.empty() && !RunOne(name)) return false;
  }
  return true;
}

bool Runner::RunOne(const std::string& name) {
  const Workload* workload = FindWorkload(name);
  if (workload != nullptr && workload->merges && options_.merge_operator == nullptr) {
    std::fprintf(stderr, "%s needs --merge_operator\n", name.c_str());
    return false;
  }
  if (workload != nullptr && workload->wants_empty_db) {
    if (FLAGS_use_existing_db || FLAGS_readonly) {
      std::fprintf(stderr,
                   "%s wants an empty database, which it does not make with --use_existing_db or "
                   "--readonly; --benchmarks=... names others\n",
                   name.c_str());
      return false;
    }
    StartEmpty();
  }
  Open();
  if (workload == nullptr) return RunCommand(name);
  std::printf("DB path: [%s]\n", path_.c_str());
  RunWorkload(*workload);
  return true;
}

// Benchmarks that are no measurement.
bool Runner::RunCommand(const std::string& name) {
  if (name == "flush") {
    RequireOk(db_->Flush(FlushOptions()), "flush");
    std::printf("flush memtable\n");
  } else if (name == "waitforcompaction") {
    std::printf("waitforcompaction(%s): started\n", path_.c_str());
    RequireOk(db_->WaitForCompact(WaitForCompactOptions()), "waitforcompaction");
    std::printf("waitforcompaction(%s): finished\n", path_.c_str());
  } else if (name == "compactall") {
    RequireOk(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr), "compact");
  } else if (name == "compact0" || name == "compact1") {
    CompactLevel(db_.get(), name == "compact0" ? 0 : 1);
  } else if (name == "resetstats") {
    RequireOk(db_->ResetStats(), "resetstats");
  } else if (name == "memstats") {
    PrintMemtableFacts();
  } else if (name == "stats" || name == "levelstats" || name == "sstables") {
    PrintProperty(name.c_str());
  } else {
    std::fprintf(stderr, "unknown benchmark '%s'\n", name.c_str());
    return false;
  }
  return true;
}

void Runner::PrintProperty(const char* name) {
  std::string text;
  if (!db_->GetProperty(std::string("rocksdb.") + name, &text)) text = "(failed)";
  std::printf("\n%s\n", text.c_str());
}

void Runner::PrintMemtableFacts() {
  for (const char* const fact :
       {"num-immutable-mem-table", "cur-size-active-mem-table", "cur-size-all-mem-tables",
        "size-all-mem-tables", "num-entries-active-mem-table", "num-entries-imm-mem-tables"}) {
    std::string text;
    if (!db_->GetProperty(std::string("rocksdb.") + fact, &text)) text = "(failed)";
    std::printf("rocksdb.%s: %s\n", fact, text.c_str());
  }
}

void Runner::RunWorkload(const Workload& workload) {
  const int readers = workload.single_thread ? 1 : FLAGS_threads;
  const int count = readers + workload.extra_threads;
  std::atomic<int> threads_reading{readers};
  Pace read_pace(static_cast<double>(FLAGS_benchmark_read_rate_limit));
  Pace write_pace(static_cast<double>(FLAGS_benchmark_write_rate_limit));
  Gate gate(count);
  std::vector<ThreadContext> contexts(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  runs_++;
  for (int i = 0; i < count; i++) {
    ThreadContext* context = &contexts[static_cast<size_t>(i)];
    context->db = db_.get();
    context->index = i;
    context->random.seed(static_cast<uint64_t>(FLAGS_seed) + runs_ * 1000 +
                         static_cast<uint64_t>(i));
    context->threads_reading = &threads_reading;
    context->reporter = reporter_.get();
    if (FLAGS_benchmark_read_rate_limit > 0) context->read_pace = &read_pace;
    if (FLAGS_benchmark_write_rate_limit > 0) context->write_pace = &write_pace;
    threads.emplace_back([this, context, &workload, &gate] {
      SetPerfLevel(static_cast<PerfLevel>(FLAGS_perf_level));
      if (FLAGS_perf_level > kDisable) get_perf_context()->EnablePerLevelPerfContext();
      gate.ArriveAndWait();
      context->stats.Start(reporter_.get());
      workload.run(context);
      context->stats.Stop();
      AddPerfMessage(&context->stats);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Stats total;
  for (const ThreadContext& context : contexts) total.Merge(context.stats);
  total.PrintResult(workload.name);
}

}  // namespace bench
}  // namespace ashlar
