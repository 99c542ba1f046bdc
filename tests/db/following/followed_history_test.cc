// SPDX-License-Identifier: Apache-2.0
//
// Random operations of a primary beside a secondary. After each catch-up the secondary has the
// contents of the primary at that moment; iterators and snapshots of the secondary keep what they
// saw. And the same where the primary works in the middle of a catch-up, or calls of it fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/sst_file_writer.h"
#include "db/options/stock_merge_operators.h"
#include "env/env_adaptors.h"
#include "env/fault/fault_file_system.h"
#include "tests/db/following/secondary_db.h"
#include "tests/support/test_db.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

const std::vector<std::string> kHistoryFamilies = {"default", "one", "two"};

class Primary : public TestDb {
 public:
  explicit Primary(uint64_t seed) : random_(seed) {
    options_.merge_operator = NewStringAppendOperator(",");
    options_.write_buffer_size = random_.OneIn(3) ? 64 << 20 : 32 << 10;
    options_.level0_file_num_compaction_trigger = 2;
    options_.target_file_size_base = 8 << 10;
    options_.arena_block_size = 4096;
    if (random_.OneIn(2)) options_.recycle_log_file_num = 2;
    if (random_.OneIn(3)) options_.wal_compression = kZSTD;
    if (random_.OneIn(3)) options_.max_manifest_file_size = 1;
    if (random_.OneIn(3)) options_.atomic_flush = true;
    if (random_.OneIn(3)) options_.avoid_flush_during_recovery = true;
    if (random_.OneIn(3)) options_.max_open_files = 30;
    if (random_.OneIn(2)) {
      options_.enable_blob_files = true;
      options_.min_blob_size = 40;
      options_.enable_blob_garbage_collection = true;
      options_.blob_garbage_collection_age_cutoff = 0.5;
    }
    Open(kHistoryFamilies);
  }
  ~Primary() { Drop(); }

  // With `kinds` of 97 the contents change at once or not at all.
  void Step(uint64_t kinds = 100) {
    const uint64_t choice = random_.Uniform(kinds);
    ColumnFamilyHandle* const family = handles_[random_.Uniform(handles_.size())];
    if (choice < 40) return Put(family, RandomKey(), RandomValue());
    if (choice < 50) return Delete(family, RandomKey());
    if (choice < 58) return Merge(family, RandomKey(), "m");
    if (choice < 61) return DeleteRange(family, "k20", "k30");
    if (choice < 75) return WriteBatchOverFamilies();
    if (choice < 83) return Flush(family);
    if (choice < 85) return Flush(handles_);
    if (choice < 90) return Compact(family);
    if (choice < 93) return Ingest(family);
    if (choice < 95) return Reopen();
    if (choice < 97) return WaitForJobs();
    // Logs that end in the middle of a block, one after the other.
    for (int i = 0; i < 20; i++) Put(family, RandomKey(), RandomValue());
    Flush(family);
  }

  void Ingest(ColumnFamilyHandle* family) {
    const std::string path = StrCat("/file", ++written_, ".sst");
    SstFileWriter writer{EnvOptions(), options_};
    ASSERT_OK(writer.Open(path));
    ASSERT_OK(writer.Put("k15", StrCat("ingested", written_)));
    ASSERT_OK(writer.Put("k45", StrCat("ingested", written_)));
    ASSERT_OK(writer.Finish());
    ASSERT_OK(db_->IngestExternalFile(family, {path}, {}));
  }
  void DeleteFiles(ColumnFamilyHandle* family) {
    ASSERT_OK(DeleteFilesInRange(db_.get(), family, nullptr, nullptr));
  }

  Contents Now() { return ReadAll(); }
  Random64* random() { return &random_; }

 private:
  std::string RandomKey() { return StrCat("k", 10 + random_.Uniform(50)); }
  std::string RandomValue() {
    const size_t bytes = random_.OneIn(20) ? 5000 : 1 + random_.Uniform(100);
    return StrCat(++written_, "-", std::string(bytes, 'v'));
  }
  void WriteBatchOverFamilies() {
    WriteBatch batch;
    for (size_t i = 0; i < 1 + random_.Uniform(10); i++) {
      ColumnFamilyHandle* const family = handles_[random_.Uniform(handles_.size())];
      if (random_.OneIn(4)) {
        ASSERT_OK(batch.Delete(family, RandomKey()));
      } else {
        ASSERT_OK(batch.Put(family, RandomKey(), RandomValue()));
      }
    }
    Write(&batch);
  }

  Random64 random_;
  uint64_t written_ = 0;
};

// What a reader of the secondary holds, and what it must go on to see.
struct Held {
  const Snapshot* snapshot = nullptr;
  std::vector<std::unique_ptr<Iterator>> iterators;  // of each family
  Contents expected;
};

class HeldReaders {
 public:
  explicit HeldReaders(SecondaryDb* secondary) : secondary_(secondary) {}
  ~HeldReaders() { Clear(); }

  void Add(const Contents& expected) {
    Held& held = held_.emplace_back();
    held.expected = expected;
    held.snapshot = secondary_->db()->GetSnapshot();
    std::vector<Iterator*> iterators;
    ASSERT_OK(secondary_->db()->NewIterators(ReadOptions(), secondary_->handles(), &iterators));
    for (Iterator* it : iterators) held.iterators.emplace_back(it);
  }
  void Check() {
    for (const Held& held : held_) {
      ReadOptions as_of;
      as_of.snapshot = held.snapshot;
      for (size_t i = 0; i < kHistoryFamilies.size(); i++) {
        const Rows& expected = held.expected.at(kHistoryFamilies[i]);
        ASSERT_EQ(SecondaryDb::RowsOf(held.iterators[i].get()), expected);
        ASSERT_EQ(secondary_->ReadRows(i, as_of), expected);
        for (const auto& [key, value] : expected) {
          ASSERT_EQ(secondary_->Get(key, i, as_of), value);
        }
      }
    }
  }
  void Clear() {
    for (Held& held : held_) {
      held.iterators.clear();
      secondary_->db()->ReleaseSnapshot(held.snapshot);
    }
    held_.clear();
  }
  size_t size() const { return held_.size(); }

 private:
  SecondaryDb* const secondary_;
  std::vector<Held> held_;
};

class FollowedHistoryTest : public testing::TestWithParam<int> {};

// The file system of a secondary, of which a test sees each call.
class WatchedFiles {
 public:
  explicit WatchedFiles(const Options& options)
      : fs_(std::make_shared<FaultFileSystem>(options.env->GetFileSystem())),
        env_(NewCompositeEnvOver(Env::Default(), fs_, SystemClock::Default())),
        options_(options) {
    options_.env = env_.get();
  }
  FaultFileSystem* fs() { return fs_.get(); }
  const Options& options() const { return options_; }

 private:
  const std::shared_ptr<FaultFileSystem> fs_;
  const std::unique_ptr<Env> env_;
  Options options_;
};

// In front of call number `at` from now the function runs in another thread, once: the ranks of
// locks are counted by thread.
void RunAtCall(FaultFileSystem* fs, uint64_t at, bool* has_run, std::function<void()> function) {
  const uint64_t call_index = fs->CallCount() + at;
  fs->SetHook([=, function = std::move(function)](const FileCall& call, bool is_before) {
    if (!is_before || *has_run || call.index < call_index) return;
    *has_run = true;
    std::thread(function).join();
  });
}

// In front of call number `at` from now the primary writes, flushes and compacts, once. Its states
// on the way are added to `states`.
void WorkAtCall(Primary* primary, FaultFileSystem* fs, uint64_t at, std::vector<Contents>* states,
                bool* has_worked) {
  RunAtCall(fs, at, has_worked, [=] {
    for (int i = 0; i < 5; i++) {
      primary->Step(97);
      states->push_back(primary->Now());
    }
    primary->Flush(primary->handles());
    primary->Compact();
  });
}

}  // namespace

TEST_P(FollowedHistoryTest, EachCatchUpShowsTheStateOfThePrimary) {
  Primary primary(static_cast<uint64_t>(GetParam()));
  SecondaryDb secondary;
  secondary.Open(primary.options(), primary.dir(), kHistoryFamilies);
  HeldReaders held(&secondary);
  for (int round = 0; round < 40; round++) {
    for (uint64_t i = 0; i < 1 + primary.random()->Uniform(12); i++) primary.Step();
    if (primary.random()->OneIn(10)) {
      held.Clear();
      secondary.Open(primary.options(), primary.dir(), kHistoryFamilies);
    }
    secondary.CatchUp();
    const Contents now = primary.Now();
    ASSERT_EQ(secondary.ReadAll(), now) << "round " << round;
    held.Check();
    if (testing::Test::HasFailure()) return;
    if (held.size() > 3) held.Clear();
    if (primary.random()->OneIn(3)) held.Add(now);
  }
}

// The primary does something in front of each call that the catch-up makes.
TEST_P(FollowedHistoryTest, ACatchUpInTheMiddleOfWhichThePrimaryWorksShowsOneOfItsStates) {
  for (uint64_t at = 0;; at++) {
    Primary primary(static_cast<uint64_t>(GetParam()));
    WatchedFiles files(primary.options());
    SecondaryDb secondary;
    for (int i = 0; i < 30; i++) primary.Step();
    secondary.Open(files.options(), primary.dir(), kHistoryFamilies);
    for (int i = 0; i < 10; i++) primary.Step();
    std::vector<Contents> states = {primary.Now()};
    bool has_worked = false;
    WorkAtCall(&primary, files.fs(), at, &states, &has_worked);
    secondary.CatchUp();
    files.fs()->SetHook(nullptr);
    if (!has_worked) break;
    const Contents seen = secondary.ReadAll();
    ASSERT_TRUE(std::find(states.begin(), states.end(), seen) != states.end()) << "call " << at;
    secondary.CatchUp();
    ASSERT_EQ(secondary.ReadAll(), primary.Now()) << "call " << at;
  }
}

// All of them are in the MANIFEST only. The write after them is in the log, which is read later.
TEST_P(FollowedHistoryTest, TablesIngestedOrDeletedInTheMiddleOfACatchUpAreNotLeftOut) {
  const int change = GetParam() % 3;
  for (uint64_t at = 0;; at++) {
    Primary primary(static_cast<uint64_t>(GetParam()));
    WatchedFiles files(primary.options());
    SecondaryDb secondary;
    ColumnFamilyHandle* const family = primary.handles()[1];
    primary.Put(family, "k30", "old");
    primary.Flush(family);
    primary.Compact(family);
    secondary.Open(files.options(), primary.dir(), kHistoryFamilies);
    primary.Put(family, "a", "before");
    std::vector<Contents> states = {primary.Now()};
    bool has_worked = false;
    RunAtCall(files.fs(), at, &has_worked, [&] {
      if (change == 0) primary.Ingest(family);
      if (change == 1) primary.DeleteFiles(family);
      if (change == 2) {
        WriteOptions without_log;
        without_log.disableWAL = true;
        ASSERT_OK(primary.db()->Put(without_log, family, "k15", "not logged"));
        states.push_back(primary.Now());
        primary.Flush(family);
      }
      states.push_back(primary.Now());
      primary.Merge(family, "k15", "m");
      states.push_back(primary.Now());
    });
    secondary.CatchUp();
    files.fs()->SetHook(nullptr);
    if (!has_worked) break;
    const Contents seen = secondary.ReadAll();
    ASSERT_TRUE(std::find(states.begin(), states.end(), seen) != states.end()) << "call " << at;
    secondary.CatchUp();
    ASSERT_EQ(secondary.ReadAll(), primary.Now()) << "call " << at;
  }
}

TEST_P(FollowedHistoryTest, AnOpeningInTheMiddleOfWhichThePrimaryWorksShowsOneOfItsStates) {
  for (uint64_t at = 0;; at++) {
    Primary primary(static_cast<uint64_t>(GetParam()));
    WatchedFiles files(primary.options());
    SecondaryDb secondary;
    for (int i = 0; i < 30; i++) primary.Step();
    std::vector<Contents> states = {primary.Now()};
    bool has_worked = false;
    WorkAtCall(&primary, files.fs(), at, &states, &has_worked);
    const Status opened = secondary.TryOpen(files.options(), primary.dir(), kHistoryFamilies);
    files.fs()->SetHook(nullptr);
    ASSERT_OK(opened) << "call " << at;
    if (!has_worked) break;
    const Contents seen = secondary.ReadAll();
    ASSERT_TRUE(std::find(states.begin(), states.end(), seen) != states.end()) << "call " << at;
    secondary.CatchUp();
    ASSERT_EQ(secondary.ReadAll(), primary.Now()) << "call " << at;
  }
}

TEST_P(FollowedHistoryTest, ACatchUpOfWhichACallFailsChangesNothingAndMayBeRepeated) {
  for (uint64_t at = 0;; at++) {
    Primary primary(static_cast<uint64_t>(GetParam()));
    WatchedFiles files(primary.options());
    SecondaryDb secondary;
    for (int i = 0; i < 30; i++) primary.Step();
    secondary.Open(files.options(), primary.dir(), kHistoryFamilies);
    const Contents before = secondary.ReadAll();
    for (int i = 0; i < 10; i++) primary.Step();
    const uint64_t first = files.fs()->CallCount();
    files.fs()->FailAt(first + at, FaultError::kIO);
    const Status status = secondary.db()->TryCatchUpWithPrimary();
    files.fs()->ClearFaults();
    const bool was_hit = files.fs()->CallCount() > first + at;
    if (!was_hit) break;
    const Contents now = primary.Now();
    ASSERT_EQ(secondary.ReadAll(), status.ok() ? now : before) << status.ToString();
    secondary.CatchUp();
    ASSERT_EQ(secondary.ReadAll(), now) << "call " << at;
  }
}

TEST_P(FollowedHistoryTest, AnOpeningOfWhichACallFailsSaysSoOrShowsTheState) {
  Primary primary(static_cast<uint64_t>(GetParam()));
  for (int i = 0; i < 40; i++) primary.Step();
  const Contents now = primary.Now();
  for (uint64_t at = 0;; at++) {
    WatchedFiles files(primary.options());
    SecondaryDb secondary;
    files.fs()->FailAt(at, FaultError::kIO);
    const Status status = secondary.TryOpen(files.options(), primary.dir(), kHistoryFamilies);
    const bool was_hit = files.fs()->CallCount() > at;
    files.fs()->ClearFaults();
    if (status.ok()) {
      ASSERT_EQ(secondary.ReadAll(), now) << "call " << at;
    }
    secondary.Close();
    if (!was_hit) break;
  }
  ASSERT_EQ(primary.Now(), now);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FollowedHistoryTest, testing::Range(1, 9));

}  // namespace ashlar
