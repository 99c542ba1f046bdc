// SPDX-License-Identifier: Apache-2.0
//
// All threads of a workload are created before any of them starts, so that their creation is not
// measured.
#include "tools/db_bench/runner.h"

#include <cassert>
#include <charconv>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

#include "ashlar/perf_context.h"
#include "ashlar/perf_level.h"
#include "ashlar/statistics.h"
#include "ashlar/utilities/optimistic_transaction_db.h"
#include "ashlar/utilities/transaction_db.h"
#include "db/options/options_check.h"
#include "db/options/table_factory.h"
#include "table/sst/write/table_builder.h"
#include "tools/db_bench/traces.h"
#include "util/result.h"

namespace ashlar {
namespace bench {
namespace {

// All benchmarks. A name that is not here may be one of kCommands.
constexpr Workload kWorkloads[] = {
    {.name = "fillseq", .run = FillSequential, .begins_empty = true, .uses_families = true},
    {.name = "fillrandom", .run = FillRandom, .begins_empty = true, .uses_families = true},
    {.name = "filluniquerandom",
     .run = FillUniqueRandom,
     .begins_empty = true,
     .single_thread = true,
     .uses_families = true},
    {.name = "fillsync", .run = FillSync, .begins_empty = true, .uses_families = true},
    {.name = "fillbatch", .run = FillBatch, .begins_empty = true, .uses_families = true},
    {.name = "fill100K", .run = Fill100K, .begins_empty = true, .uses_families = true},
    {.name = "fillseqdeterministic",
     .run = FillSequentialDeterministic,
     .begins_empty = true,
     .single_thread = true,
     .refuses_stamps = true},
    {.name = "fillseekseq", .run = FillSeekSequential, .refuses_stamps = true},
    {.name = "overwrite", .run = FillRandom, .uses_families = true},
    {.name = "deleteseq", .run = DeleteSequential, .uses_families = true},
    {.name = "deleterandom", .run = DeleteRandom, .uses_families = true},
    {.name = "deleteuntil", .run = DeleteUntil, .refuses_stamps = true},
    {.name = "readseq", .run = ReadSequential, .uses_families = true},
    {.name = "readreverse", .run = ReadReverse, .uses_families = true},
    {.name = "readtocache", .run = ReadToCache, .single_thread = true, .uses_families = true},
    {.name = "readrandom", .run = ReadRandom, .uses_families = true},
    {.name = "readmissing", .run = ReadMissing, .uses_families = true},
    {.name = "readhot", .run = ReadHot, .uses_families = true},
    {.name = "seekrandom", .run = SeekRandom, .uses_families = true},
    {.name = "readtorowcache",
     .run = ReadToRowCache,
     .single_thread = true,
     .refuses_stamps = true},
    {.name = "multireadrandom", .run = MultiReadRandom, .uses_families = true},
    {.name = "newiterator", .run = NewIteratorOnly},
    {.name = "newiteratorwhilewriting", .run = NewIteratorWhileWriting, .extra_threads = 1},
    {.name = "seekrandomwhilewriting",
     .run = SeekWhileWriting,
     .extra_threads = 1,
     .uses_families = true},
    {.name = "seekrandomwhilemerging",
     .run = SeekWhileMerging,
     .extra_threads = 1,
     .merges = true,
     .uses_families = true,
     .refuses_stamps = true},
    {.name = "readwhilewriting",
     .run = ReadWhileWriting,
     .extra_threads = 1,
     .uses_families = true},
    {.name = "readwhilemerging",
     .run = ReadWhileMerging,
     .extra_threads = 1,
     .merges = true,
     .uses_families = true,
     .refuses_stamps = true},
    {.name = "readwhilescanning", .run = ReadWhileScanning, .extra_threads = 1},
    {.name = "readrandomwriterandom", .run = ReadRandomWriteRandom},
    {.name = "updaterandom", .run = UpdateRandom},
    {.name = "xorupdaterandom", .run = XorUpdateRandom},
    {.name = "appendrandom", .run = AppendRandom},
    {.name = "randomreplacekeys",
     .run = RandomReplaceKeys,
     .begins_empty = true,
     .refuses_stamps = true},
    {.name = "randomtransaction",
     .run = RandomTransaction,
     .refuses_stamps = true,
     .verify = VerifyTransactions},
    {.name = "timeseries", .run = TimeSeries, .begins_empty = true, .refuses_stamps = true},
    {.name = "mixgraph", .run = MixGraph, .refuses_stamps = true},
    {.name = "mergerandom", .run = MergeRandom, .merges = true, .refuses_stamps = true},
    {.name = "readrandommergerandom",
     .run = ReadRandomMergeRandom,
     .merges = true,
     .refuses_stamps = true},
    {.name = "readrandomoperands",
     .run = ReadRandomOperands,
     .merges = true,
     .refuses_stamps = true},
    {.name = "getmergeoperands",
     .run = GetMergeOperandsOfLists,
     .begins_empty = true,
     .single_thread = true,
     .merges = true,
     .refuses_stamps = true},
    {.name = "multireadwhilewriting",
     .run = MultiReadWhileWriting,
     .extra_threads = 1,
     .uses_families = true},
    {.name = "approximatesizerandom", .run = EstimateSizes, .refuses_stamps = true},
    {.name = "verifychecksum",
     .run = VerifyChecksums,
     .single_thread = true,
     .uses_families = true},
    {.name = "verifyfilechecksums",
     .run = VerifyFileChecksums,
     .single_thread = true,
     .uses_families = true},
    {.name = "crc32c", .run = SumCrc32c, .uses_families = true},
    {.name = "xxhash", .run = SumXxHash, .uses_families = true},
    {.name = "xxhash64", .run = SumXxHash64, .uses_families = true},
    {.name = "xxh3", .run = SumXxh3, .uses_families = true},
    {.name = "compress", .run = CompressBlocks, .uses_families = true},
    {.name = "uncompress", .run = UncompressBlocks, .uses_families = true},
    {.name = "replay",
     .run = ReplayTrace,
     .single_thread = true,
     .uses_families = true,
     .refuses_stamps = true},
    {.name = "compact", .run = CompactAll, .single_thread = true, .uses_families = true},
};

// The entries of --benchmarks that are no measurements, see RunCommand().
constexpr const char* kCommands[] = {
    "flush",      "waitforcompaction", "compactall", "compact0",   "compact1",
    "resetstats", "memstats",          "stats",      "levelstats", "sstables",
};

bool IsCommand(const std::string& name) {
  for (const char* const command : kCommands) {
    if (name == command) return true;
  }
  return false;
}

// Reads "X3-W1", the part of an entry between the brackets: how often a benchmark is run and,
// before that, to warm up. Empty parts are skipped, as in RocksDB's db_bench. False if it is
// something else.
bool ParseCounts(const std::string& text, int* repeats, int* warmups) {
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, '-');) {
    if (part.empty()) continue;
    int* const count = part[0] == 'X' ? repeats : part[0] == 'W' ? warmups : nullptr;
    if (count == nullptr) return false;
    const char* const end = part.data() + part.size();
    const auto [stop, error] = std::from_chars(part.data() + 1, end, *count);
    if (stop != end || error != std::errc()) return false;
  }
  return *repeats > 0;
}

// Blocks threads until all of them have arrived, so that they begin to work at the same moment.
// Used once.
class Gate {
 public:
  explicit Gate(int count) : expected_(count) {}
  void ArriveAndWait() {
    std::unique_lock<std::mutex> lock(mutex_);
    assert(expected_ > 0);
    if (--expected_ == 0) opened_.notify_all();
    opened_.wait(lock, [this] { return expected_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  // How many threads have not arrived. Guarded by `mutex_`.
  int expected_;
};

// The rate limit of writes; null if there is none.
// All writing threads of a workload share one limit, so the rate is that of the whole benchmark and
// not of a thread.
std::unique_ptr<Pace> MakeWritePace() {
  // The sine changes the rate continuously; the interval says how often it is computed anew.
  if (FLAGS_sine_write_rate) {
    return std::make_unique<Pace>(SineRate, FLAGS_sine_write_rate_interval_milliseconds * 1000);
  }
  if (FLAGS_benchmark_write_rate_limit == 0) return nullptr;
  return std::make_unique<Pace>(static_cast<double>(FLAGS_benchmark_write_rate_limit));
}

// The name of a column family, as in RocksDB's db_bench.
std::string NameOf(int family) {
  assert(family >= 0);
  if (family == 0) return kDefaultColumnFamilyName;
  char name[32];
  std::snprintf(name, sizeof(name), "column_family_name_%06d", family);
  return name;
}

// Adds the PerfContext of the calling thread. Each thread runs a single workload.
void AddPerfMessage(Stats* stats) {
  assert(stats != nullptr);
  if (FLAGS_perf_level <= kDisable) return;
  stats->AddMessage("PERF_CONTEXT:\n" + get_perf_context()->ToString());
}

}  // namespace

const Workload* FindWorkload(const std::string& name) {
  // Linear, because it happens once for each benchmark.
  for (const Workload& workload : kWorkloads) {
    if (name == workload.name) return &workload;
  }
  return nullptr;
}

void ThreadContext::WaitFor(Pace* pace, double amount) {
  if (pace == nullptr) return;
  assert(amount >= 0);
  const uint64_t start_micros = NowMicros();
  // The wait is no part of the operation, so it is taken out of its time.
  pace->Take(amount);
  stats.ExcludeTime(NowMicros() - start_micros);
}

double SineRate(double seconds) {
  // The rate in units per second at a time in seconds since the start. The four flags are
  // amplitude, frequency, phase and mean.
  return FLAGS_sine_a * std::sin(FLAGS_sine_b * seconds + FLAGS_sine_c) + FLAGS_sine_d;
}

void RestartStats(ThreadContext* thread) {
  assert(thread != nullptr);
  thread->stats = Stats();
  thread->stats.Start(thread->reporter, thread->index == 0 ? thread->db : nullptr);
}

// A benchmark has no caller that could handle an error, and a measurement after one would mislead.
void RequireOk(const Status& status, const char* what) {
  if (status.ok()) return;
  assert(what != nullptr);
  std::fprintf(stderr, "%s error: %s\n", what, status.ToString().c_str());
  std::exit(1);
}

Runner::~Runner() {
  if (options_.statistics != nullptr) {
    std::printf("STATISTICS:\n%s\n", options_.statistics->ToString().c_str());
  }
  Close();
}

namespace {

// The options with which databases are opened, for all families.
DBOptions OptionsToOpen(const Options& options) {
  DBOptions result = options;
  // With --num_column_families a new database gets all families at once.
  result.create_missing_column_families = true;
  // Unordered writes of transactions go with WRITE_PREPARED and two queues only.
  if (FLAGS_transaction_db && result.unordered_write) result.two_write_queues = true;
  return result;
}

// The checks with which an opening begins.
Status CheckCanBeOpened(const Options& options) {
  RETURN_IF_ERROR(CheckOptionsSupported(OptionsToOpen(options), options));
  const BlockBasedTableOptions* const table = BlockBasedOptionsOf(options.table_factory.get());
  return table == nullptr ? Status::OK() : CheckTableOptionsWritable(*table, options.compression);
}

}  // namespace

// Does nothing if the database is open already. Errors end the process, since there is nothing to
// measure.
void Runner::Open() {
  if (db_ != nullptr) return;
  assert(families_.empty());
  const DBOptions options = OptionsToOpen(options_);
  std::vector<ColumnFamilyDescriptor> families;
  // With one family this is the default family, so that the same code opens both kinds.
  for (int i = 0; i < FLAGS_num_column_families; i++) families.emplace_back(NameOf(i), options_);
  Status status;
  if (FLAGS_transaction_db) {
    TransactionDBOptions transaction_options;
    if (options.unordered_write) transaction_options.write_policy = WRITE_PREPARED;
    TransactionDB* db = nullptr;
    status = TransactionDB::Open(options, transaction_options, path_, families, &families_, &db);
    db_.reset(db);
  } else if (FLAGS_optimistic_transaction_db) {
    OptimisticTransactionDB* db = nullptr;
    status = OptimisticTransactionDB::Open(options, path_, families, &families_, &db);
    db_.reset(db);
  } else {
    status = FLAGS_readonly ? DB::OpenForReadOnly(options, path_, families, &families_, &db_)
                            : DB::Open(options, path_, families, &families_, &db_);
  }
  RequireOk(status, "open");
}

// The handles must go before the database.
void Runner::Close() {
  if (db_ == nullptr) return;
  for (ColumnFamilyHandle* const family : families_) {
    RequireOk(db_->DestroyColumnFamilyHandle(family), "close");
  }
  families_.clear();
  RequireOk(db_->Close(), "close");
  // Close() has reported all errors, so the destructor has nothing left to report.
  db_.reset();
}

// Deletes the database; the next Open() creates it.
void Runner::StartEmpty() {
  // DestroyDB() needs a closed database, because it takes the lock file.
  Close();
  RequireOk(DestroyDB(path_, options_), "destroy");
}

// Runs the benchmarks of a list that is separated by commas, one after the other in the same
// process.
bool Runner::RunAll(const std::string& names) {
  std::vector<Entry> entries;
  std::istringstream list(names);
  // Empty names are skipped, so that a list may end with a comma.
  for (std::string text; std::getline(list, text, ',');) {
    if (text.empty()) continue;
    if (!ParseEntry(text, &entries.emplace_back()) || !IsAllowed(entries.back())) return false;
  }
  RequireOk(CheckCanBeOpened(options_), "open");
  // The reporter runs for all benchmarks of the list, so that its file shows the whole run.
  if (FLAGS_report_interval_seconds > 0) {
    reporter_ = Reporter::Start(FLAGS_report_file, FLAGS_report_interval_seconds);
    if (reporter_ == nullptr) return false;
  }
  // As in RocksDB's db_bench no benchmark sees what an earlier process wrote, unless the flag asks
  // for it. After all checks, so that a mistake in the list or in the flags deletes nothing.
  if (!FLAGS_use_existing_db && !FLAGS_readonly) StartEmpty();
  for (const Entry& entry : entries) RunOne(entry);
  return true;
}

// "name" or, for a workload, "name[X3-W1]". False, with the reason on stderr, for an unknown name.
bool Runner::ParseEntry(const std::string& text, Entry* entry) {
  const size_t bracket = text.find('[');
  entry->name = text.substr(0, bracket);
  entry->workload = FindWorkload(entry->name);
  if (entry->workload == nullptr && !IsCommand(entry->name)) {
    std::fprintf(stderr, "unknown benchmark '%s'\n", text.c_str());
    return false;
  }
  if (bracket == std::string::npos) return true;
  const bool is_closed = text.back() == ']';
  // A command measures nothing, so to run it several times would have no result.
  if (entry->workload != nullptr && is_closed &&
      ParseCounts(text.substr(bracket + 1, text.size() - bracket - 2), &entry->repeats,
                  &entry->warmups)) {
    return true;
  }
  std::fprintf(stderr, "unknown benchmark arguments '%s'\n", text.c_str());
  return false;
}

// Whether the flags go with a benchmark; if not, the reason is on stderr.
bool Runner::IsAllowed(const Entry& entry) const {
  const Workload* const workload = entry.workload;
  if (workload == nullptr) return true;
  const char* const name = workload->name;
  if (workload->merges && options_.merge_operator == nullptr) {
    std::fprintf(stderr, "%s needs --merge_operator\n", name);
    return false;
  }
  if (!workload->uses_families && FLAGS_num_column_families > 1) {
    std::fprintf(stderr, "%s uses a single column family and needs --num_column_families=1\n",
                 name);
    return false;
  }
  if (workload->refuses_stamps && FLAGS_user_timestamp_size > 0) {
    std::fprintf(stderr, "%s does not write timestamps and needs --user_timestamp_size=0\n", name);
    return false;
  }
  if (!workload->begins_empty) return true;
  if (FLAGS_use_existing_db || FLAGS_readonly) {
    std::fprintf(stderr,
                 "%s begins with an empty database and cannot be run with --use_existing_db or "
                 "--readonly\n",
                 name);
    return false;
  }
  return true;
}

void Runner::RunOne(const Entry& entry) {
  if (entry.workload != nullptr && entry.workload->begins_empty) StartEmpty();
  Open();
  // Commands use the database as it is.
  if (entry.workload == nullptr) return RunCommand(entry.name);
  std::printf("DB path: [%s]\n", path_.c_str());
  // Only the first run begins with an empty database, as in RocksDB's db_bench.
  if (entry.warmups > 0) {
    std::printf("Warming up benchmark by running %d times\n", entry.warmups);
  }
  for (int i = 0; i < entry.warmups; i++) RunWorkload(*entry.workload);
  if (entry.repeats > 1) std::printf("Running benchmark for %d times\n", entry.repeats);
  Repetitions repetitions(entry.name);
  for (int i = 0; i < entry.repeats; i++) {
    repetitions.Add(RunWorkload(*entry.workload));
    repetitions.PrintSoFar();
  }
  repetitions.PrintEnd();
}

// Runs an entry of --benchmarks that is not a measurement.
void Runner::RunCommand(const std::string& name) {
  assert(IsCommand(name));
  if (name == "flush") {
    RequireOk(db_->Flush(FlushOptions(), families_), "flush");
    std::printf("flush memtable\n");
  } else if (name == "waitforcompaction") {
    std::printf("waitforcompaction(%s): started\n", path_.c_str());
    RequireOk(db_->WaitForCompact(WaitForCompactOptions()), "waitforcompaction");
    std::printf("waitforcompaction(%s): finished\n", path_.c_str());
  } else if (name == "compactall") {
    for (ColumnFamilyHandle* const family : families_) {
      RequireOk(db_->CompactRange(CompactRangeOptions(), family, nullptr, nullptr), "compact");
    }
  } else if (name == "compact0" || name == "compact1") {
    CompactLevel(db_.get(), /*is_level0=*/name == "compact0");
  } else if (name == "resetstats") {
    RequireOk(db_->ResetStats(), "resetstats");
  } else if (name == "memstats") {
    PrintMemtableProperties();
  } else {
    PrintProperty(name.c_str());  // stats, levelstats and sstables
  }
}

void Runner::PrintProperty(const char* name) {
  assert(db_ != nullptr && name != nullptr);
  std::string text;
  // The prefix is that of RocksDB, whose properties the engine has under the same names.
  if (!db_->GetProperty(std::string("rocksdb.") + name, &text)) text = "(failed)";
  std::printf("\n%s\n", text.c_str());
}

void Runner::PrintMemtableProperties() {
  for (const char* const name :
       {"num-immutable-mem-table", "cur-size-active-mem-table", "cur-size-all-mem-tables",
        "size-all-mem-tables", "num-entries-active-mem-table", "num-entries-imm-mem-tables"}) {
    std::string text;
    if (!db_->GetProperty(std::string("rocksdb.") + name, &text)) text = "(failed)";
    std::printf("rocksdb.%s: %s\n", name, text.c_str());
  }
}

// Starts the threads, lets them begin at the same moment, and prints the sum of their results.
Stats Runner::RunWorkload(const Workload& workload) {
  assert(db_ != nullptr);
  const int readers = workload.single_thread ? 1 : FLAGS_threads;
  const int count = readers + workload.extra_threads;
  // The writer of ...whilewriting ends when this is 0.
  std::atomic<int> threads_reading{readers};
  Pace read_pace(static_cast<double>(FLAGS_benchmark_read_rate_limit));
  const std::unique_ptr<Pace> write_pace = MakeWritePace();
  const std::unique_ptr<Pace> mix_pace = MakeMixPace();
  Gate gate(count);
  // Sized once: the threads keep pointers to the elements, which must not move.
  std::vector<ThreadContext> contexts(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  assert(count > 0);
  runs_++;
  const bool is_replay = workload.run == ReplayTrace;
  StartTraces(db_.get(), is_replay);
  for (int i = 0; i < count; i++) {
    ThreadContext* context = &contexts[static_cast<size_t>(i)];
    context->db = db_.get();
    context->index = i;
    // Each thread of each benchmark has other numbers, and the same ones in the next run with the
    // seed.
    context->random.seed(static_cast<uint64_t>(FLAGS_seed) + runs_ * 1000 +
                         static_cast<uint64_t>(i));
    context->threads_reading = &threads_reading;
    context->reporter = reporter_.get();
    if (FLAGS_benchmark_read_rate_limit > 0) context->read_pace = &read_pace;
    context->write_pace = write_pace.get();
    context->mix_pace = mix_pace.get();
    context->families = families_;
    threads.emplace_back([this, context, &workload, &gate] {
      SetPerfLevel(static_cast<PerfLevel>(FLAGS_perf_level));
      if (FLAGS_perf_level > kDisable) get_perf_context()->EnablePerLevelPerfContext();
      // The clock starts when all threads are there.
      gate.ArriveAndWait();
      context->stats.Start(reporter_.get(), context->index == 0 ? context->db : nullptr);
      workload.run(context);
      context->stats.Stop();
      AddPerfMessage(&context->stats);
    });
  }
  // All results are complete and visible to this thread after the joins.
  for (std::thread& thread : threads) thread.join();
  EndTraces(db_.get(), is_replay);
  Stats total;
  for (const ThreadContext& context : contexts) total.Merge(context.stats);
  total.PrintResult(workload.name);
  if (workload.verify != nullptr) workload.verify(db_.get());
  return total;
}

}  // namespace bench
}  // namespace ashlar
