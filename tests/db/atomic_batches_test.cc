// SPDX-License-Identifier: Apache-2.0
//
// Snapshots, iterators and MultiGets of other threads see all of a batch over two families or none
// of it, while memtables are switched, flushed and compacted, and families are created and dropped.
//
// Each writer owns accounts in both families and moves amounts between them, so the sum over all
// accounts never changes. It also gives all its marks a new generation, and keeps exactly one of
// two keys alive. A reader that sees a part of a batch finds another sum, two generations in one
// view, or both keys, or neither.
#include <array>
#include <atomic>
#include <thread>

#include "ashlar/write_batch.h"
#include "tests/support/suite.h"
#include "tests/support/test_db.h"
#include "util/random.h"

namespace ashlar {
namespace {

using Handles = std::vector<ColumnFamilyHandle*>;

constexpr int kWriters = 2, kReaders = 3, kFamilies = 2;
constexpr int kAccounts = 12, kMarks = 5;  // of each writer, in each family
constexpr int kBatches = 2000;             // of each writer, times the suite scale
constexpr int64_t kOpening = 1000;         // the first balance of each account

std::string Key(char kind, int writer, int i) {
  return std::string(1, kind) + "/" + std::to_string(i) + "/" + std::to_string(writer);
}
// Padded, so that memtables become full; the number comes first.
std::string Padded(int64_t number) { return std::to_string(number) + " " + std::string(80, '.'); }
int64_t NumberIn(const std::string& value) { return std::strtoll(value.c_str(), nullptr, 10); }

// Checks one view of both families.
void CheckView(const std::array<Rows, kFamilies>& rows, const std::string& how) {
  int64_t sum = 0;
  std::map<char, std::array<int64_t, 2>> generations;  // by writer: smallest and largest
  std::map<char, int> alive;
  size_t accounts = 0;
  for (const Rows& family : rows) {
    for (const auto& [key, value] : family) {
      const char writer = key.back();
      if (key[0] == 'a') {
        sum += NumberIn(value);
        accounts++;
      } else if (key[0] == 'm') {
        auto [it, is_first] = generations.try_emplace(
            writer, std::array<int64_t, 2>{NumberIn(value), NumberIn(value)});
        it->second[0] = std::min(it->second[0], NumberIn(value));
        it->second[1] = std::max(it->second[1], NumberIn(value));
      } else {
        alive[writer]++;
      }
    }
  }
  ASSERT_EQ(accounts, size_t{kWriters * kFamilies * kAccounts}) << how;
  ASSERT_EQ(sum, int64_t{kWriters * kFamilies * kAccounts} * kOpening) << how;
  for (const auto& [writer, range] : generations) ASSERT_EQ(range[0], range[1]) << how << writer;
  ASSERT_EQ(alive.size(), size_t{kWriters}) << how;
  for (const auto& [writer, count] : alive) ASSERT_EQ(count, 1) << how << " writer " << writer;
}

class Writer {
 public:
  Writer(DB* db, const Handles& handles, int number, uint64_t seed)
      : db_(db), handles_(handles), number_(number), random_(seed) {
    for (auto& family : balances_) family.fill(kOpening);
  }

  void WriteAll() {
    WriteBatch batch;
    for (int i = 0; i < kAccounts; i++) PutAccount(&batch, 0, i), PutAccount(&batch, 1, i);
    WriteMarksAnd(&batch, /*generation=*/0);
  }
  void Step(int generation) {
    WriteBatch batch;
    for (uint64_t n = 1 + random_.Uniform(4); n > 0; n--) {
      const auto from = static_cast<int>(random_.Uniform(kAccounts));
      const auto to = static_cast<int>(random_.Uniform(kAccounts));
      const size_t family = random_.Uniform(kFamilies);
      const auto amount = static_cast<int64_t>(random_.Uniform(100));
      balances_[family][from] -= amount;
      balances_[1 - family][to] += amount;
      PutAccount(&batch, family, from);
      PutAccount(&batch, 1 - family, to);
    }
    WriteMarksAnd(&batch, generation);
  }

 private:
  void PutAccount(WriteBatch* batch, size_t family, int i) {
    ASSERT_OK(batch->Put(handles_[family], Key('a', number_, i), Padded(balances_[family][i])));
  }
  // Exactly one of two keys exists: x/0 in the first family or x/1 in the second.
  void WriteMarksAnd(WriteBatch* batch, int generation) {
    for (int i = 0; i < kMarks; i++) {
      for (ColumnFamilyHandle* handle : handles_) {
        ASSERT_OK(batch->Put(handle, Key('m', number_, i), Padded(generation)));
      }
    }
    const int living = generation % 2;
    ASSERT_OK(batch->Put(handles_[living], Key('x', number_, living), ""));
    ASSERT_OK(batch->Delete(handles_[1 - living], Key('x', number_, 1 - living)));
    ASSERT_OK(db_->Write(WriteOptions(), batch));
  }

  DB* const db_;
  const Handles handles_;
  const int number_;
  Random64 random_;
  std::array<std::array<int64_t, kAccounts>, kFamilies> balances_;
};

class Reader {
 public:
  Reader(DB* db, const Handles& handles, uint64_t seed)
      : db_(db), handles_(handles), random_(seed) {
    for (int w = 0; w < kWriters; w++) {
      for (int i = 0; i < kAccounts; i++) keys_.push_back(Key('a', w, i));
      for (int i = 0; i < kMarks; i++) keys_.push_back(Key('m', w, i));
      for (int i = 0; i < 2; i++) keys_.push_back(Key('x', w, i));
    }
  }

  void Step() {
    switch (random_.Uniform(5)) {
      case 0: return CheckMultiGet(nullptr);
      case 1: return CheckIterators();
      case 2: return CheckOneIterator();
      case 3: return CheckRefreshed();
      default: return CheckSnapshot();
    }
  }

 private:
  // All keys of both families in one call.
  void CheckMultiGet(const Snapshot* snapshot) {
    ReadOptions options;
    options.snapshot = snapshot;
    Handles handles;
    std::vector<Slice> keys;
    for (ColumnFamilyHandle* handle : handles_) {
      for (const std::string& key : keys_) {
        handles.push_back(handle);
        keys.emplace_back(key);
      }
    }
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(options, handles, keys, &values);
    std::array<Rows, kFamilies> rows;
    for (size_t i = 0; i < keys.size(); i++) {
      ASSERT_TRUE(statuses[i].ok() || statuses[i].IsNotFound()) << statuses[i].ToString();
      if (statuses[i].ok()) rows[i / keys_.size()][keys[i].ToString()] = values[i];
    }
    CheckView(rows, "MultiGet");
  }
  static void Scan(Iterator* it, bool forward, Rows* rows) {
    for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
         forward ? it->Next() : it->Prev()) {
      (*rows)[it->key().ToString()] = it->value().ToString();
    }
    ASSERT_OK(it->status());
  }
  void CheckIterators() {
    std::vector<Iterator*> iterators;
    ASSERT_OK(db_->NewIterators(ReadOptions(), handles_, &iterators));
    const std::unique_ptr<Iterator> first(iterators[0]), second(iterators[1]);
    for (const bool forward : {true, false}) {
      std::array<Rows, kFamilies> rows;
      Scan(first.get(), forward, &rows[0]);
      Scan(second.get(), forward, &rows[1]);
      CheckView(rows, forward ? "NewIterators" : "NewIterators backwards");
    }
  }
  // The marks of one family have one generation, and both directions show the same rows.
  void CheckOneIterator() {
    const std::unique_ptr<Iterator> it(
        db_->NewIterator(ReadOptions(), handles_[random_.Uniform(kFamilies)]));
    Rows forward, backward;
    Scan(it.get(), true, &forward);
    CheckGenerations(forward);
    Scan(it.get(), false, &backward);
    ASSERT_EQ(forward, backward);
  }
  void CheckRefreshed() {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), handles_[0]));
    for (int i = 0; i < 3; i++) {
      Rows rows;
      Scan(it.get(), i % 2 == 0, &rows);
      CheckGenerations(rows);
      ASSERT_OK(it->Refresh());
    }
  }
  static void CheckGenerations(const Rows& rows) {
    std::map<char, std::string> generation;
    for (const auto& [key, value] : rows) {
      if (key[0] != 'm') continue;
      const auto [it, is_first] = generation.try_emplace(key.back(), value);
      ASSERT_EQ(it->second, value) << key;
    }
    ASSERT_EQ(generation.size(), size_t{kWriters});
  }
  // Reads the same view in three ways, twice, so that other threads write in between.
  void CheckSnapshot() {
    const Snapshot* snapshot = db_->GetSnapshot();
    std::array<Rows, kFamilies> first;
    for (int round = 0; round < 2; round++) {
      std::array<Rows, kFamilies> by_get, by_scan;
      ReadOptions options;
      options.snapshot = snapshot;
      for (size_t family = 0; family < kFamilies; family++) {
        const std::unique_ptr<Iterator> it(db_->NewIterator(options, handles_[family]));
        Scan(it.get(), random_.Uniform(2) == 0, &by_scan[family]);
        for (const std::string& key : keys_) {
          std::string value;
          const Status status = db_->Get(options, handles_[family], key, &value);
          ASSERT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
          if (status.ok()) by_get[family][key] = value;
        }
      }
      CheckView(by_get, "snapshot");
      ASSERT_EQ(by_get, by_scan);
      if (round == 0) first = by_get;
      ASSERT_EQ(first, by_get) << "a snapshot does not change";
      CheckMultiGet(snapshot);
    }
    db_->ReleaseSnapshot(snapshot);
  }

  DB* const db_;
  const Handles handles_;
  Random64 random_;
  std::vector<std::string> keys_;
};

void MaintainBatches(DB* db, const Handles& handles, Random64* random) {
  ColumnFamilyHandle* const family = handles[random->Uniform(kFamilies)];
  switch (random->Uniform(6)) {
    case 0: EXPECT_OK(db->Flush(FlushOptions(), family)); return;
    case 1: EXPECT_OK(db->Flush(FlushOptions(), handles)); return;
    case 2: EXPECT_OK(db->CompactRange(CompactRangeOptions(), family, nullptr, nullptr)); return;
    case 3: {
      const std::string bytes = std::to_string(8192 + random->Uniform(30000));
      EXPECT_OK(db->SetOptions(family, {{"write_buffer_size", bytes}}));
      return;
    }
    case 4:
      EXPECT_OK(db->LockWAL());
      EXPECT_OK(db->UnlockWAL());
      return;
    default: {
      ColumnFamilyHandle* made = nullptr;
      ASSERT_OK(db->CreateColumnFamily(ColumnFamilyOptions(), "short-lived", &made));
      EXPECT_OK(db->Put(WriteOptions(), made, "key", "value"));
      EXPECT_OK(db->DropColumnFamily(made));
      EXPECT_OK(db->DestroyColumnFamilyHandle(made));
    }
  }
}

class AtomicBatchesTest : public DbTestWith<int> {};

TEST_P(AtomicBatchesTest, NobodySeesHalfOfABatch) {
  const auto seed = static_cast<uint64_t>(GetParam());
  Random64 draw(seed);
  options_.write_buffer_size = 16384;
  options_.max_write_buffer_number = 3;
  options_.target_file_size_base = 8192;
  options_.max_bytes_for_level_base = 64 << 10;
  options_.level0_file_num_compaction_trigger = 2;
  options_.max_background_jobs = 4;
  options_.max_open_files = draw.Uniform(2) == 0 ? -1 : 12;
  options_.enable_pipelined_write = draw.Uniform(2) == 0;
  options_.manual_wal_flush = draw.Uniform(3) == 0;
  Open({"default", "second"});

  std::vector<std::unique_ptr<Writer>> writers;
  for (int i = 0; i < kWriters; i++) {
    writers.push_back(std::make_unique<Writer>(db_.get(), handles_, i, draw.Next()));
    writers.back()->WriteAll();
  }
  const int batches = static_cast<int>(kBatches * SuiteScale());
  std::atomic<int> writing{kWriters}, checks{0};
  std::vector<std::thread> threads;
  for (auto& writer : writers) {
    threads.emplace_back([&, writer = writer.get()] {
      for (int i = 1; i <= batches && !testing::Test::HasFatalFailure(); i++) writer->Step(i);
      writing--;
    });
  }
  for (int i = 0; i < kReaders; i++) {
    threads.emplace_back([&, reader_seed = draw.Next()] {
      Reader reader(db_.get(), handles_, reader_seed);
      for (int n = 0; (n < 20 || writing > 0) && !testing::Test::HasFatalFailure(); n++) {
        reader.Step();
        checks++;
      }
    });
  }
  threads.emplace_back([&, maintenance_seed = draw.Next()] {
    Random64 random(maintenance_seed);
    while (writing > 0) MaintainBatches(db_.get(), handles_, &random);
  });
  for (std::thread& thread : threads) thread.join();
  std::printf("             %d views checked beside %d batches\n", checks.load(),
              kWriters * batches);
  Reader(db_.get(), handles_, 1).Step();
  Close();
}

INSTANTIATE_TEST_SUITE_P(Seeds, AtomicBatchesTest, testing::Range(1, 5));

}  // namespace
}  // namespace ashlar
