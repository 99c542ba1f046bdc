// SPDX-License-Identifier: Apache-2.0
//
// Write-unprepared transactions in random order, against a model: several of them at a time with
// savepoints, over two families, with data that is written out now and then, while others write,
// flush, compact and open the database again. Every reader, of the database and of each
// transaction, is compared with what it has to see.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "env/sim/sim_fs.h"
#include "tests/db/transaction/hidden_data_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr size_t kFamilies = 2;
using Tables = std::array<Rows, kFamilies>;

struct Update {
  enum class Kind : uint8_t { kPut, kMerge, kDelete };
  size_t family;
  std::string key, value;
  Kind kind;

  void ApplyTo(Tables* tables) const {
    Rows& rows = (*tables)[family];
    if (kind == Kind::kDelete) {
      rows.erase(key);
    } else if (kind == Kind::kMerge && rows.contains(key)) {
      StrAppend(&rows[key], ",", value);
    } else {
      rows[key] = value;
    }
  }
};
using Updates = std::vector<Update>;

Tables Over(Tables tables, const Updates& updates) {
  for (const Update& update : updates) update.ApplyTo(&tables);
  return tables;
}

// A transaction that is not decided.
struct Running {
  std::unique_ptr<Transaction> transaction;
  Updates updates;
  std::vector<size_t> save_points;  // how many updates there were
  bool is_prepared = false;
  bool is_recovered = false;
  // An iterator that stays open: over these rows and all updates; it shows the key.
  std::unique_ptr<Iterator> iterator;
  size_t family = 0;
  Tables base;
  std::string shown;  // empty: it has to seek
};

// A reader of the past.
struct Past {
  const Snapshot* snapshot = nullptr;  // null: an iterator of the first family
  std::unique_ptr<Iterator> iterator;
  Tables tables;
};

class UnpreparedModel : public HiddenDataTest, public testing::WithParamInterface<uint32_t> {
 protected:
  UnpreparedModel() : HiddenDataTest(WRITE_UNPREPARED) {
    const size_t skips[] = {0, 1, 8};
    options_.max_sequential_skip_in_iterations = skips[GetParam() % 3];
    options_.create_missing_column_families = true;
    UseFiles(SimFS::Create());
  }
  ~UnpreparedModel() override { Close(); }
  void UseFiles(const std::shared_ptr<SimFS>& files) {
    sim_ = files;
    env_ = NewCompositeEnv(files);
    options_.env = env_.get();
  }
  void SetUp() override { OpenFamilies(); }
  void OpenFamilies() {
    TransactionDB* opened = nullptr;
    ASSERT_OK(TransactionDB::Open(options_, db_options_, "/db",
                                  {{kDefaultColumnFamilyName, options_}, {"second", options_}},
                                  &handles_, &opened));
    db_.reset(opened);
  }
  void Close() {
    DropPast();
    running_.clear();
    for (ColumnFamilyHandle* handle : handles_) delete handle;
    handles_.clear();
    db_.reset();
  }
  void DropPast() {
    for (Past& past : past_) {
      if (past.snapshot != nullptr) db_->ReleaseSnapshot(past.snapshot);
    }
    past_.clear();
  }

  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
  std::string AnyKey() { return std::string(1, static_cast<char>('a' + Below(7))); }
  std::string NextValue() { return std::to_string(next_value_++); }

  void BeginOne() {
    TransactionOptions options;
    const int64_t thresholds[] = {0, 1, 1, 40, 60, 150};
    options.write_batch_flush_threshold = thresholds[Below(6)];
    Running running;
    running.transaction = BeginNamed("t" + NextValue(), options);
    if (Below(3) == 0) running.transaction->SetSnapshot();
    running_.push_back(std::move(running));
  }
  void WriteIn(Running* running) {
    const uint32_t kind = Below(6);
    Update update{.family = Below(kFamilies),
                  .key = AnyKey(),
                  .value = NextValue(),
                  .kind = kind == 0   ? Update::Kind::kDelete
                          : kind == 1 ? Update::Kind::kMerge
                                      : Update::Kind::kPut};
    Transaction* const transaction = running->transaction.get();
    ColumnFamilyHandle* const family = handles_[update.family];
    const Status status = kind == 0   ? transaction->Delete(family, update.key)
                          : kind == 1 ? transaction->Merge(family, update.key, update.value)
                                      : transaction->Put(family, update.key, update.value);
    if (status.IsTimedOut() || status.IsBusy()) return;
    ASSERT_OK(status);
    running->updates.push_back(std::move(update));
  }
  void SavePointIn(Running* running) {
    Transaction* const transaction = running->transaction.get();
    const uint32_t choice = Below(5);
    if (choice < 2 || running->save_points.empty()) {
      transaction->SetSavePoint();
      running->save_points.push_back(running->updates.size());
    } else if (choice == 2) {
      ASSERT_OK(transaction->PopSavePoint());
      running->save_points.pop_back();
    } else {
      if (running->updates.size() != running->save_points.back()) running->iterator = nullptr;
      ASSERT_OK(transaction->RollbackToSavePoint());
      running->updates.resize(running->save_points.back());
      running->save_points.pop_back();
    }
  }
  void End(size_t i, bool is_commit) {
    Running& running = running_[i];
    running.iterator = nullptr;
    if (is_commit) {
      ASSERT_OK(running.transaction->Commit());
      committed_ = Over(committed_, running.updates);
    } else if (Below(3) != 0 || running.is_prepared) {
      ASSERT_OK(running.transaction->Rollback());
      if (!running.is_prepared && Below(2) == 0) {  // it goes on
        running.updates.clear();
        running.save_points.clear();
        return;
      }
    }
    running_.erase(running_.begin() + static_cast<ptrdiff_t>(i));
  }

  // Moves the open iterator of the transaction by one step, or opens it.
  void Iterate(Running* running) {
    if (running->iterator == nullptr) {
      running->family = Below(kFamilies);
      running->iterator.reset(
          running->transaction->GetIterator(ReadOptions(), handles_[running->family]));
      running->base = committed_;
      running->shown.clear();
      return;
    }
    const Rows rows = Over(running->base, running->updates)[running->family];
    Iterator* const it = running->iterator.get();
    auto expected = rows.end();
    const uint32_t choice = running->shown.empty() ? Below(2) : Below(6);
    const std::string target = AnyKey();
    if (choice == 0) {
      it->Seek(target);
      expected = rows.lower_bound(target);
    } else if (choice == 1) {
      it->SeekForPrev(target);
      expected = rows.upper_bound(target);
      expected = expected == rows.begin() ? rows.end() : std::prev(expected);
    } else if (choice < 4) {
      it->Next();
      expected = rows.upper_bound(running->shown);
    } else {
      it->Prev();
      expected = rows.lower_bound(running->shown);
      expected = expected == rows.begin() ? rows.end() : std::prev(expected);
    }
    ASSERT_OK(it->status());
    ASSERT_EQ(it->Valid(), expected != rows.end()) << "choice " << choice;
    running->shown.clear();
    if (!it->Valid()) return;
    ASSERT_EQ(it->key().ToString(), expected->first) << "choice " << choice;
    ASSERT_EQ(it->value().ToString(), expected->second) << "choice " << choice;
    running->shown = expected->first;
  }

  // `read(options, family, key, value)`
  template <typename Read>
  void CheckPoints(const Snapshot* snapshot, const Tables& tables, const Read& read) {
    ReadOptions options;
    options.snapshot = snapshot;
    for (size_t family = 0; family < kFamilies; family++) {
      for (char c = 'a'; c < 'h'; c++) {
        const std::string key(1, c);
        std::string value;
        const Status status = read(options, handles_[family], key, &value);
        const auto found = tables[family].find(key);
        ASSERT_EQ(status.ok() ? value : status.ToString(),
                  found == tables[family].end() ? "NotFound: " : found->second)
            << key << " of family " << family;
      }
    }
  }
  void CheckDatabase(const Snapshot* snapshot, const Tables& tables) {
    CheckPoints(snapshot, tables,
                [&](const ReadOptions& options, ColumnFamilyHandle* family, const std::string& key,
                    std::string* value) { return db_->Get(options, family, key, value); });
    ReadOptions options;
    options.snapshot = snapshot;
    for (size_t family = 0; family < kFamilies && !HasFatalFailure(); family++) {
      const std::unique_ptr<Iterator> it(db_->NewIterator(options, handles_[family]));
      CheckRows(it.get(), tables[family], AnyKey());
    }
  }
  void CheckTransaction(const Running& running, const Snapshot* snapshot, const Tables& tables) {
    const Tables own = Over(tables, running.updates);
    Transaction* const transaction = running.transaction.get();
    CheckPoints(snapshot, own,
                [&](const ReadOptions& options, ColumnFamilyHandle* family, const std::string& key,
                    std::string* value) { return transaction->Get(options, family, key, value); });
    ReadOptions options;
    options.snapshot = snapshot;
    for (size_t family = 0; family < kFamilies && !HasFatalFailure(); family++) {
      const std::unique_ptr<Iterator> it(transaction->GetIterator(options, handles_[family]));
      CheckRows(it.get(), own[family], AnyKey());
    }
    const Slice keys[] = {"a", "b", "c"};
    PinnableSlice values[3];
    Status statuses[3];
    transaction->MultiGet(options, handles_[0], 3, keys, values, statuses, true);
    for (size_t i = 0; i < 3; i++) {
      const auto found = own[0].find(keys[i].ToString());
      ASSERT_EQ(statuses[i].ok() ? values[i].ToString() : statuses[i].ToString(),
                found == own[0].end() ? "NotFound: " : found->second);
    }
  }
  void CheckAll() {
    CheckDatabase(nullptr, committed_);
    for (const Running& running : running_) {
      if (HasFatalFailure()) return;
      CheckTransaction(running, nullptr, committed_);
    }
    for (Past& past : past_) {
      if (HasFatalFailure()) return;
      if (past.snapshot == nullptr) {
        CheckRows(past.iterator.get(), past.tables[0], AnyKey());
        continue;
      }
      CheckDatabase(past.snapshot, past.tables);
      if (running_.empty() || HasFatalFailure()) continue;
      const Running& running = running_[Below(static_cast<uint32_t>(running_.size()))];
      if (!running.is_recovered) CheckTransaction(running, past.snapshot, past.tables);
    }
  }

  // The process is killed. Transactions that are not prepared are gone; the others are the
  // database's.
  void CrashAndReopen() {
    DropPast();
    std::map<std::string, Updates> prepared;
    for (Running& running : running_) {
      running.iterator = nullptr;
      if (running.is_prepared) prepared[running.transaction->GetName()] = running.updates;
    }
    const auto image = sim_->CrashImage(sim_->CallCount(), CrashPolicy::kAll);
    Close();
    UseFiles(image);
    OpenFamilies();
    for (auto& [name, updates] : prepared) {
      Transaction* const transaction = db_->GetTransactionByName(name);
      ASSERT_NE(transaction, nullptr) << name;
      Running running;
      running.transaction.reset(transaction);
      running.updates = updates;
      running.is_prepared = running.is_recovered = true;
      running_.push_back(std::move(running));
    }
    std::vector<Transaction*> all;
    db_->GetAllPreparedTransactions(&all);
    ASSERT_EQ(all.size(), prepared.size());
  }
  void FlushAny() {
    if (Below(2) == 0) {
      ASSERT_OK(db_->Flush(FlushOptions(), handles_[Below(kFamilies)]));
    } else {
      ASSERT_OK(db_->Flush(FlushOptions(), handles_));
    }
  }
  void CompactAny() {
    CompactRangeOptions compact;
    compact.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
    ASSERT_OK(db_->CompactRange(compact, handles_[Below(kFamilies)], nullptr, nullptr));
  }
  void WriteAsOther() {
    const Update update{
        .family = Below(kFamilies), .key = AnyKey(), .value = NextValue(), .kind = Update::Kind{}};
    const Status status =
        db_->Put(WriteOptions(), handles_[update.family], update.key, update.value);
    if (status.ok()) update.ApplyTo(&committed_);
  }
  void StepDatabase() {
    switch (Below(8)) {
      case 0:
      case 1: return WriteAsOther();
      case 2: return FlushAny();
      case 3:
        if (Below(2) == 0) CompactAny();
        return;
      case 4: past_.push_back({.snapshot = db_->GetSnapshot(), .tables = committed_}); return;
      case 5:
        past_.push_back({.iterator = std::unique_ptr<Iterator>(db_->NewIterator(ReadOptions())),
                         .tables = committed_});
        return;
      case 6:
        if (past_.empty()) return;
        if (past_.front().snapshot != nullptr) db_->ReleaseSnapshot(past_.front().snapshot);
        past_.erase(past_.begin());
        return;
      default:
        if (Below(8) == 0) CrashAndReopen();
    }
  }
  void Step() {
    if (Below(4) == 0) return StepDatabase();
    if (running_.empty() || (running_.size() < 4 && Below(6) == 0)) return BeginOne();
    const size_t i = Below(static_cast<uint32_t>(running_.size()));
    Running& running = running_[i];
    const uint32_t choice = Below(20);
    if (choice < 4 && !running.is_recovered) return Iterate(&running);
    if (choice >= 18) return End(i, Below(3) != 0);
    if (running.is_prepared) return;
    if (choice == 17) {
      ASSERT_OK(running.transaction->Prepare());
      running.is_prepared = true;
    } else if (choice >= 14) {
      SavePointIn(&running);
    } else {
      WriteIn(&running);
    }
  }

  std::shared_ptr<SimFS> sim_;
  std::mt19937 random_{GetParam()};
  uint64_t next_value_ = 1;
  std::vector<ColumnFamilyHandle*> handles_;
  Tables committed_;
  std::vector<Running> running_;
  std::vector<Past> past_;
};

INSTANTIATE_TEST_SUITE_P(Seeds, UnpreparedModel, testing::Range(0u, 30u));

TEST_P(UnpreparedModel, ReadersSeeWhatTheyHaveTo) {
  for (int i = 0; i < 500; i++) {
    Step();
    if (i % 7 == 0 && !HasFatalFailure()) CheckAll();
    ASSERT_FALSE(HasFatalFailure()) << "step " << i;
  }
}

}  // namespace
}  // namespace ashlar
