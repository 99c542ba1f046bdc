// SPDX-License-Identifier: Apache-2.0
//
// Every ticker, histogram, perf counter and I/O counter counts in the scenario below, or
// docs/statistics.md says why it does not. So no program monitors a counter that is always zero,
// and a feature cannot lose its counter unnoticed.
#include <atomic>
#include <cstdint>
#include <functional>
#include <semaphore>
#include <thread>

#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/convenience.h"
#include "ashlar/filter_policy.h"
#include "ashlar/iostats_context.h"
#include "ashlar/listener.h"
#include "ashlar/merge_operator.h"
#include "ashlar/multi_scan.h"
#include "ashlar/perf_context.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/slice_transform.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/utilities/backup_engine.h"
#include "ashlar/utilities/checkpoint.h"
#include "ashlar/utilities/table_properties_collectors.h"
#include "ashlar/utilities/transaction_db.h"
#include "ashlar/utilities/write_batch_with_index.h"
#include "db/options/stock_merge_operators.h"
#include "env/env_adaptors.h"
#include "env/fault/fault_file_system.h"
#include "tests/db/counter_walk.h"
#include "tests/db/counter_walk_plugins.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/damaged_files.h"
#include "tests/support/test_db.h"
#include "util/random.h"

namespace ashlar {
namespace {

class CounterWalk : public DbTest {
 protected:
  CounterWalk() {
    UseEnv(std::unique_ptr<Env>(NewTimedEnv(untimed_env_.get())));
    statistics_->set_stats_level(StatsLevel::kAll);
    table_.filter_policy.reset(NewBloomFilterPolicy(10));
    table_.block_cache = NewLRUCache(8 << 20);
    table_.block_size = 1024;
    options_.disable_auto_compactions = true;
    options_.level_compaction_dynamic_level_bytes = false;
    options_.statistics = statistics_;
    options_.num_levels = 4;
    options_.compression = kSnappyCompression;
    options_.bytes_per_sync = 1;
    options_.max_sequential_skip_in_iterations = 2;
    options_.max_subcompactions = 2;
    options_.listeners.push_back(hook_);
    options_.merge_operator = NewStringAppendOperator(",");
    SetPerfLevel(kEnableTime);
    get_perf_context()->Reset();
    get_iostats_context()->Reset();
  }
  ~CounterWalk() override { SetPerfLevel(kEnableCount); }

  void Open(const std::string& path) { Open(path, options_, table_); }
  void Open(const std::string& path, Options options, const BlockBasedTableOptions& table) {
    db_.reset();
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    ASSERT_OK(DB::Open(options, path, &db_));
  }
  void Put(int i, const std::string& value = std::string(100, 'v')) {
    ASSERT_OK(db_->Put(WriteOptions(), Key(i), value));
  }
  void Fill(int keys, size_t value_bytes = 100) {
    for (int i = 0; i < keys; i++) Put(i, std::string(value_bytes, 'v'));
    Flush();
  }
  Status Compact() { return db_->CompactRange(CompactRangeOptions(), nullptr, nullptr); }
  void Get(const std::string& key) {
    std::string value;
    const Status status = db_->Get(ReadOptions(), key, &value);
    ASSERT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
  }

  void WriteAndCompact();
  void ReadPoints();
  void ReadBatches();
  void Scan();
  void ScanRanges();
  void CopyAndCheck();
  void UsePrefixes();
  void UseRows();
  void CacheIndexes();
  void UseOwnCode();
  void DropOldTables();
  void StopCompactions();
  void WaitForRoom();
  void MeetDamage();
  void HealDamage();
  void RecoverFromErrors();
  void ReadAhead();
  void UseTransactions();
  void CallEnvironment();

  const std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  const std::shared_ptr<CompactionHook> hook_ = std::make_shared<CompactionHook>();
  const std::shared_ptr<FaultFileSystem> faults_ = std::make_shared<FaultFileSystem>(memory_);
  const std::unique_ptr<Env> untimed_env_ = NewCompositeEnv(faults_);
  BlockBasedTableOptions table_;
};

// Values on level 0, on level 1 and below; versions and tombstones that the compactions drop.
void CounterWalk::WriteAndCompact() {
  for (int round = 0; round < 2; round++) Fill(1000);
  for (int i = 0; i < 20; i++) Delete(Key(i));
  DeleteRange(Key(30), Key(40));
  Flush();
  ASSERT_OK(Compact());
  for (int i = 500; i < 600; i++) Put(i);
  DeleteRange(Key(600), Key(650));
  for (int i = 0; i < 3; i++) Merge(Key(700), "x");
  Flush();
  for (int i = 800; i < 900; i++) Put(i);
  for (int i = 0; i < 10; i++) Put(899);
  Delete(Key(801));
  WriteOptions durable;
  durable.sync = true;
  ASSERT_OK(db_->Put(durable, Key(900), "synced"));
  Random64 random(1);
  Put(901, random.Bytes(20000));  // compression does not make it smaller
}

void CounterWalk::ReadPoints() {
  for (int round = 0; round < 4; round++) {
    for (const int i : {100, 110, 550, 700, 850}) Get(Key(i));
    for (int i = 0; i < 30; i++) Get(Key(i) + "nosuch");
  }
  std::vector<PinnableSlice> operands(4);
  GetMergeOperandsOptions limit;
  limit.expected_max_number_of_operands = 4;
  int count = 0;
  ASSERT_OK(db_->GetMergeOperands(ReadOptions(), db_->DefaultColumnFamily(), Key(700),
                                  operands.data(), &limit, &count));
}

void CounterWalk::ReadBatches() {
  std::vector<Slice> keys;
  std::vector<std::string> names;
  for (int i = 200; i < 400; i += 10) names.push_back(Key(i));
  for (const std::string& name : names) keys.emplace_back(name);
  std::vector<std::string> values;
  for (int round = 0; round < 2; round++) {
    for (const Status& status : db_->MultiGet(ReadOptions(), keys, &values)) ASSERT_OK(status);
  }
}

void CounterWalk::Scan() {
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
  }
  ASSERT_OK(it->status());
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
  }
  ASSERT_OK(it->status());
  for (int i = 0; i < 1000; i += 100) it->Seek(Key(i));
  it->SeekForPrev(Key(500));
  const std::unique_ptr<Snapshot, std::function<void(const Snapshot*)>> snapshot(
      const_cast<Snapshot*>(db_->GetSnapshot()),
      [this](const Snapshot* s) { db_->ReleaseSnapshot(s); });
  for (int i = 0; i < 10; i++) Put(899);
  ReadOptions old;
  old.snapshot = snapshot.get();
  const std::unique_ptr<Iterator> then(db_->NewIterator(old));
  for (then->Seek(Key(898)); then->Valid(); then->Next()) {
  }
  ASSERT_OK(then->status());
}

// The second round finds the blocks in the cache.
void CounterWalk::ScanRanges() {
  table_.block_cache = NewLRUCache(8 << 20);
  Open("/db");
  for (int round = 0; round < 2; round++) {
    MultiScanArgs ranges(BytewiseComparator());
    const std::string names[] = {Key(100), Key(120), Key(300), Key(320)};
    ranges.insert(names[0], names[1]);
    ranges.insert(names[2], names[3]);
    const std::unique_ptr<MultiScan> scan =
        db_->NewMultiScan(ReadOptions(), db_->DefaultColumnFamily(), ranges);
    for (; scan->Valid(); scan->NextRange()) {
      for (; scan->InRange(); scan->iterator()->Next()) {
      }
    }
    ASSERT_OK(scan->status());
  }
}

void CounterWalk::CopyAndCheck() {
  ASSERT_OK(db_->VerifyChecksum());
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ASSERT_OK(checkpoint->CreateCheckpoint("/copy"));
  BackupEngine* engine = nullptr;
  ASSERT_OK(BackupEngine::Open(BackupEngineOptions("/backups"), options_.env, &engine));
  const std::unique_ptr<BackupEngine> backups(engine);
  ASSERT_OK(backups->CreateNewBackup(CreateBackupOptions(), db_.get()));
  ASSERT_OK(db_->Put(WriteOptions(), "in the log", "value"));
  std::unique_ptr<WalIterator> updates;
  ASSERT_OK(db_->GetUpdatesSince(db_->GetLatestSequenceNumber(), &updates));
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/from_outside.sst"));
  ASSERT_OK(writer.Put("from outside", "value"));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->IngestExternalFile({"/from_outside.sst"}, IngestExternalFileOptions()));
}

// Tables with prefix filters, a memtable with a filter, and dynamic level sizes.
void CounterWalk::UsePrefixes() {
  BlockBasedTableOptions table = table_;
  table.whole_key_filtering = false;
  Options options = options_;
  options.prefix_extractor.reset(NewFixedPrefixTransform(7));
  options.memtable_prefix_bloom_size_ratio = 0.1;
  options.level_compaction_dynamic_level_bytes = true;
  options.memtable_max_range_deletions = 1;
  Open("/prefixes", options, table);
  for (int i = 0; i < 1000; i++) Put(i);
  Put(9000);
  for (const int i : {500, 5000}) Get(Key(i));
  Flush();
  ASSERT_OK(Compact());
  for (const int i : {1, 500, 5000}) Get(Key(i));
  Get(Key(500) + "nosuch");
  ReadOptions same;
  same.prefix_same_as_start = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(same));
  it->Seek(Key(500));
  it->Seek(Key(5000));
  ASSERT_OK(it->status());
  for (int i = 0; i < 3; i++) {
    DeleteRange(Key(i), Key(i + 1));
  }
  Put(1);
  Flush();
}

void CounterWalk::UseRows() {
  Options options = options_;
  options.row_cache = NewLRUCache(1 << 20);
  Open("/rows", options, table_);
  Fill(100);
  for (int round = 0; round < 2; round++) Get(Key(50));
}

void CounterWalk::CacheIndexes() {
  BlockBasedTableOptions table = table_;
  table.cache_index_and_filter_blocks = true;
  table.block_cache = NewLRUCache(8 << 20);
  Options options = options_;
  options.compression = kZSTD;
  options.compression_opts.max_dict_bytes = 4096;
  Open("/indexes", options, table);
  Fill(1000);
  for (int round = 0; round < 2; round++) Get(Key(500));
  table.block_cache = NewLRUCache(8 << 20);
  Open("/indexes", options, table);
  ReadBatches();
}

// A comparator and a compaction filter of the program, a merge operator that fails, and a table
// that is marked for compaction because of its tombstones.
void CounterWalk::UseOwnCode() {
  const OwnOrder order;
  const DropsOneKey filter(Key(2));
  Options options = options_;
  options.compaction_filter = &filter;
  options.comparator = &order;
  options.merge_operator = std::make_shared<NeverMerges>();
  options.table_properties_collector_factories.push_back(
      NewCompactOnDeletionCollectorFactory(10, 5));
  Open("/own", options, table_);
  Fill(100);
  Merge(Key(1), "x");
  std::string value;
  EXPECT_FALSE(db_->Get(ReadOptions(), Key(1), &value).ok());
  Put(1);
  for (int i = 20; i < 60; i++) Delete(Key(i));
  Flush();
  ASSERT_OK(Compact());
  db_.reset();
}

void CounterWalk::DropOldTables() {
  Options fifo = options_;
  fifo.disable_auto_compactions = false;
  fifo.compaction_style = kCompactionStyleFIFO;
  fifo.compaction_options_fifo.max_table_files_size = 1;
  Open("/fifo", fifo, table_);
  Fill(10);
  WaitForJobs();
}

// Canceled by the caller, then aborted by another thread, which waits until they have ended.
void CounterWalk::StopCompactions() {
  Open("/stopped");
  for (int round = 0; round < 2; round++) Fill(100);
  std::atomic<bool> is_cancelled{false};
  CompactRangeOptions cancelled;
  cancelled.canceled = &is_cancelled;
  hook_->on_begin = [&](DB*) { is_cancelled = true; };
  EXPECT_TRUE(db_->CompactRange(cancelled, nullptr, nullptr).IsIncomplete());
  std::thread aborter;
  hook_->on_begin = [&](DB* db) {
    aborter = std::thread([db] { db->AbortAllCompactions(); });
    for (std::string work; work.find("aborted") == std::string::npos; std::this_thread::yield()) {
      EXPECT_TRUE(db->GetProperty("ashlar.background-work", &work));
    }
  };
  EXPECT_TRUE(Compact().IsIncomplete());
  aborter.join();
  db_->ResumeAllCompactions();
  hook_->on_begin = nullptr;
}

// Compactions that do not begin, so that writers are slowed down; a full memtable; a rate limiter.
void CounterWalk::WaitForRoom() {
  Options options = options_;
  options.disable_auto_compactions = false;
  options.level0_file_num_compaction_trigger = 1;
  options.level0_slowdown_writes_trigger = 2;
  options.write_buffer_size = 64 << 10;
  options.delayed_write_rate = 1 << 20;
  options.rate_limiter.reset(NewGenericRateLimiter(16 << 20, 1000, 10, RateLimiter::Mode::kAllIo));
  const BlockedPool blocked(env_.get(), Env::Priority::LOW);
  Open("/waiting", options, table_);
  Random64 random(3);
  FlushOptions at_once;
  at_once.allow_write_stall = true;  // no compaction would end the stall
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 100; i++) Put(i, random.Bytes(1000));
    ASSERT_OK(db_->Flush(at_once));
  }
  for (int i = 0; i < 20; i++) Put(i, random.Bytes(1000));
  ReadOptions paced;
  paced.rate_limiter_priority = Env::IO_USER;
  ASSERT_OK(db_->VerifyChecksum(paced));
  options.db_write_buffer_size = 32 << 10;
  options.level0_slowdown_writes_trigger = 36;
  Open("/limited", options, table_);
  Fill(1000);
}

// Damages a block in the middle of a table, then the magic number at its end.
void CounterWalk::MeetDamage() {
  Open("/damaged");
  Fill(1000);
  Options options = options_;
  options.table_factory.reset(NewBlockBasedTableFactory(table_));
  for (const double where : {0.3, 1.0}) {
    db_.reset();
    DamageTables(env_.get(), "/damaged", where);
    const Status opened = DB::Open(options, "/damaged", &db_);
    EXPECT_FALSE(opened.ok() && db_->VerifyChecksum().ok());
  }
}

// One read returns damaged bytes; the next read of the same bytes is correct.
void CounterWalk::HealDamage() {
  Damage damage;
  const auto env = NewCompositeEnv(std::make_shared<DamagedFiles>(env_->GetFileSystem(), &damage));
  Options options = options_;
  options.env = env.get();
  Open("/healed", options, table_);
  Fill(1000);
  damage.first = damage.reads;
  damage.count = 1;
  EXPECT_OK(db_->VerifyChecksum());
  db_.reset();
}

// A compaction that fails once and is repeated.
void CounterWalk::RecoverFromErrors() {
  Options options = options_;
  options.disable_auto_compactions = false;
  options.level0_file_num_compaction_trigger = 2;
  Open("/errors", options, table_);
  std::atomic<int> begun{0};
  hook_->on_begin = [&](DB*) {
    if (begun++ > 0) return;
    FaultPlan plan;
    plan.kinds = KindBit(CallKind::kSync);
    plan.path_part = ".sst";
    faults_->AddFault(plan);
  };
  for (int round = 0; round < 2; round++) Fill(100);
  hook_->recovered.acquire();
  EXPECT_GE(begun, 2);
  db_.reset();
  hook_->on_begin = nullptr;
}

void CounterWalk::ReadAhead() {
  Options options = options_;
  options.compaction_readahead_size = 64 << 10;
  options.wal_bytes_per_sync = 64 << 10;
  Open("/ahead", options, table_);
  for (int round = 0; round < 2; round++) Fill(3000, 500);
  ASSERT_OK(Compact());
}

// A write that waits in vain for the lock of a transaction, and a batch with an index.
void CounterWalk::UseTransactions() {
  TransactionDBOptions transactions;
  transactions.default_lock_timeout = 1;
  TransactionDB* opened = nullptr;
  ASSERT_OK(TransactionDB::Open(options_, transactions, "/transactions", &opened));
  const std::unique_ptr<TransactionDB> db(opened);
  const std::unique_ptr<Transaction> holder(db->BeginTransaction(WriteOptions()));
  ASSERT_OK(holder->Put("key", "value"));
  EXPECT_TRUE(db->Put(WriteOptions(), "key", "another").IsTimedOut());
  const auto batch = std::make_shared<WriteBatchWithIndex>(BytewiseComparator(), 0,
                                                           /*overwrite_key=*/true);
  ASSERT_OK(batch->Put("other", "value"));
  WriteOptions without_log;
  without_log.disableWAL = true;
  ASSERT_OK(db->IngestWriteBatchWithIndex(without_log, batch));
  ASSERT_OK(holder->Commit());
}

// Calls of the environment that the engine does not make.
void CounterWalk::CallEnvironment() {
  const EnvOptions options;
  ASSERT_OK(env_->CreateDir("/env"));
  ASSERT_OK(WriteStringToFile(env_.get(), "text", "/env/a"));
  uint64_t time = 0;
  ASSERT_OK(env_->GetFileModificationTime("/env/a", &time));
  std::vector<Env::FileAttributes> attributes;
  ASSERT_OK(env_->GetChildrenFileAttributes("/env", &attributes));
  std::unique_ptr<RandomRWFile> update;
  ASSERT_OK(env_->NewRandomRWFile("/env/a", &update, options));
  update.reset();
  std::unique_ptr<WritableFile> reused;
  ASSERT_OK(env_->ReuseWritableFile("/env/b", "/env/a", &reused, options));
  reused.reset();
  std::shared_ptr<Logger> logger;
  ASSERT_OK(env_->NewLogger("/env/log", &logger));
  Info(logger, "a line");
  logger.reset();
  for (const char* name : {"/env/b", "/env/log"}) ASSERT_OK(env_->DeleteFile(name));
  ASSERT_OK(env_->DeleteDir("/env"));
}

TEST_F(CounterWalk, EachCounterCountsOrTheDocumentSaysWhyNot) {
  Open("/db");
  WriteAndCompact();
  ReadPoints();
  ReadBatches();
  Scan();
  ScanRanges();
  CopyAndCheck();
  UsePrefixes();
  UseRows();
  CacheIndexes();
  UseOwnCode();
  DropOldTables();
  StopCompactions();
  WaitForRoom();
  MeetDamage();
  HealDamage();
  RecoverFromErrors();
  ReadAhead();
  db_.reset();
  UseTransactions();
  UseBlobFiles(options_, "/blobs");
  UseACacheThatIsFull(options_, "/full");
  DeleteSlowly(options_, "/slow");
  UseASecondTier(options_, "/tiers");
  VerifyWholeFiles(options_, "/sums");
  CallEnvironment();
  db_.reset();
  CounterDocument walk;
  for (const auto& [ticker, name] : TickersNameMap) {
    walk.Visit("ticker", name, statistics_->getTickerCount(ticker) > 0);
  }
  for (const auto& [histogram, name] : HistogramsNameMap) {
    HistogramData data;
    statistics_->histogramData(histogram, &data);
    walk.Visit("histogram", name, data.count > 0);
  }
  for (const auto& [name, value] : CountersIn(get_perf_context()->ToString())) {
    walk.Visit("perf counter", name, value > 0);
  }
  for (const auto& [name, value] : CountersIn(get_iostats_context()->ToString())) {
    walk.Visit("I/O counter", name, value > 0);
  }
  walk.ExpectAllRowsUsed();
}

}  // namespace
}  // namespace ashlar
