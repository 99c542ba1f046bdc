// SPDX-License-Identifier: Apache-2.0
//
// The machine stops at every file call while write-unprepared transactions write parts, go back to
// savepoints, are prepared, committed and rolled back, while memtables are flushed and logs
// deleted, and while a recovery rolls transactions back. What was acknowledged is there, nothing of
// a transaction that was not prepared is, and no interrupted recovery changes that.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "env/sim/sim_fs.h"
#include "tests/db/transaction/hidden_data_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// What a database shows: the rows of all families, then the prepared transactions.
using State = std::string;

// An open database of one file system.
class Opened {
 public:
  explicit Opened(const std::shared_ptr<SimFS>& files)
      : env_(NewCompositeEnv(files)), options_(TransactionTestOptions(env_.get())) {
    options_.disable_auto_compactions = true;
    options_.create_missing_column_families = true;
    TransactionDBOptions db_options;
    db_options.write_policy = WRITE_UNPREPARED;
    db_options.default_write_batch_flush_threshold = 1;
    TransactionDB* opened = nullptr;
    const Status status = TransactionDB::Open(
        options_, db_options, "/db", {{kDefaultColumnFamilyName, options_}, {"f", options_}},
        &families_, &opened);
    EXPECT_OK(status);
    db_.reset(opened);
  }
  ~Opened() {
    for (ColumnFamilyHandle* family : families_) delete family;
    db_.reset();
  }

  TransactionDB* db() { return db_.get(); }
  ColumnFamilyHandle* family(size_t i) { return families_[i]; }
  State GetState() {
    if (db_ == nullptr) return "not opened";
    State state;
    for (ColumnFamilyHandle* family : families_) {
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), family));
      const std::string rows = ScanForward(it.get());
      EXPECT_EQ(ScanBackward(it.get()), rows);
      StrAppend(&state, rows, "| ");
    }
    std::vector<Transaction*> prepared;
    db_->GetAllPreparedTransactions(&prepared);
    for (Transaction* transaction : prepared) StrAppend(&state, transaction->GetName(), " ");
    return state;
  }

 private:
  const std::unique_ptr<Env> env_;
  Options options_;
  std::vector<ColumnFamilyHandle*> families_;
  std::unique_ptr<TransactionDB> db_;
};

struct Step {
  std::string name;
  std::function<void()> run;
};

class UnpreparedCrashTest : public testing::Test {
 protected:
  std::unique_ptr<Transaction> Begin(const std::string& name) {
    WriteOptions synced;
    synced.sync = true;
    std::unique_ptr<Transaction> transaction(opened_->db()->BeginTransaction(synced));
    EXPECT_OK(transaction->SetName(name));
    return transaction;
  }
  // One update of each family, and one of a key that everybody knows.
  void Update(Transaction* transaction, const std::string& key) {
    ASSERT_OK(transaction->Put(opened_->family(0), key, "1"));
    ASSERT_OK(transaction->Put(opened_->family(1), key, "1"));
    ASSERT_OK(transaction->Delete(opened_->family(0), StrCat("old ", transaction->GetName())));
  }
  void Put(const std::string& key) {
    WriteOptions synced;
    synced.sync = true;
    ASSERT_OK(opened_->db()->Put(synced, key, "v"));
  }
  void Flush(size_t family) {
    ASSERT_OK(opened_->db()->Flush(FlushOptions(), opened_->family(family)));
  }
  std::vector<Step> Script() {
    return {
        {"put",
         [this] {
           for (const char* key : {"old a", "old b", "old c", "old d"}) Put(key);
         }},
        {"a writes", [this] { Update((a_ = Begin("a")).get(), "a1"); }},
        {"flush", [this] { Flush(0); }},
        {"a goes back",
         [this] {
           a_->SetSavePoint();
           Update(a_.get(), "a2");
           Update(a_.get(), "a1");
           ASSERT_OK(a_->RollbackToSavePoint());
         }},
        {"b writes", [this] { Update((b_ = Begin("b")).get(), "b1"); }},
        {"flush the second family", [this] { Flush(1); }},
        {"a key that was given back", [this] { Put("a2"); }},
        {"a commits", [this] { ASSERT_OK(a_->Commit()); }},
        {"b writes again", [this] { Update(b_.get(), "b2"); }},
        {"b is prepared", [this] { ASSERT_OK(b_->Prepare()); }},
        {"flush again", [this] { Flush(0); }},
        {"c writes", [this] { Update((c_ = Begin("c")).get(), "c1"); }},
        {"flush with c", [this] { Flush(0); }},
        {"c is rolled back", [this] { ASSERT_OK(c_->Rollback()); }},
        {"d writes", [this] { Update((d_ = Begin("d")).get(), "d1"); }},
        {"flush all", [this] { Flush(0), Flush(1); }},
        {"b commits", [this] { ASSERT_OK(b_->Commit()); }},
        {"d is prepared", [this] { ASSERT_OK(d_->Prepare()); }},
        {"flush all again", [this] { Flush(0), Flush(1); }},
        {"d is rolled back", [this] { ASSERT_OK(d_->Rollback()); }},
        {"put at the end", [this] { Put("z"); }},
        {"flush all at the end", [this] { Flush(0), Flush(1); }},
    };
  }
  static State StateOf(const std::shared_ptr<SimFS>& image) { return Opened(image).GetState(); }

  // The state after each step, and the number of the first call behind it.
  struct Moment {
    std::string name;
    State state;
    uint64_t end;
  };
  std::vector<Moment> Run() {
    sim_ = SimFS::Create();
    opened_ = std::make_unique<Opened>(sim_);
    sim_->SyncEverything();
    std::vector<Moment> moments{{"open", opened_->GetState(), sim_->CallCount()}};
    for (const Step& step : Script()) {
      step.run();
      if (HasFatalFailure()) break;
      moments.push_back({step.name, opened_->GetState(), sim_->CallCount()});
    }
    return moments;
  }
  void TearDown() override {
    for (auto* transaction : {&a_, &b_, &c_, &d_}) transaction->reset();
    opened_.reset();
  }

  std::shared_ptr<SimFS> sim_;
  std::unique_ptr<Opened> opened_;
  std::unique_ptr<Transaction> a_, b_, c_, d_;
};

TEST_F(UnpreparedCrashTest, EveryCallMayBeTheLast) {
  const std::vector<Moment> moments = Run();
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(moments.back().state, "a1=1 a2=v b1=1 b2=1 old c=v old d=v z=v | a1=1 b1=1 b2=1 | ");
  const uint64_t end = moments.back().end;
  size_t done = 0;
  for (const FileCall& call : sim_->MutatingCalls()) {
    if (call.index < moments[0].end || call.index >= end) continue;
    while (done + 1 < moments.size() && moments[done + 1].end <= call.index) done++;
    const Moment& next = moments[std::min(done + 1, moments.size() - 1)];
    for (const CrashPolicy policy : kAllCrashPolicies) {
      for (uint64_t seed = 0; seed < (UsesSeed(policy) ? 2 : 1); seed++) {
        const std::shared_ptr<SimFS> image = sim_->CrashImage(call.index, policy, seed);
        const State found = StateOf(image);
        // The puts of the first step are several writes.
        const bool is_first = done == 0 && found.ends_with("| | ");
        ASSERT_TRUE(is_first || found == moments[done].state || found == next.state)
            << "crash in \"" << next.name << "\", call " << call.index << ", " << NameOf(policy)
            << ", seed " << seed << "\n found: " << found << "\nbefore: " << moments[done].state
            << "\n after: " << next.state;
        if (call.index % 5 == 0) {
          ASSERT_EQ(StateOf(image), found) << "opened once more";
        }
      }
    }
  }
}

// A crash in a recovery that rolls back, and one in the recovery after that.
TEST_F(UnpreparedCrashTest, EveryCallOfARecoveryMayBeTheLast) {
  const std::vector<Moment> moments = Run();
  ASSERT_FALSE(HasFailure());
  for (const char* name : {"flush the second family", "flush with c", "flush all"}) {
    const auto moment = std::find_if(moments.begin(), moments.end(),
                                     [&](const Moment& each) { return each.name == name; });
    for (const CrashPolicy policy : {CrashPolicy::kStrict, CrashPolicy::kAll}) {
      const std::shared_ptr<SimFS> first = sim_->CrashImage(moment->end, policy);
      ASSERT_EQ(StateOf(first), moment->state);
      for (const FileCall& call : first->MutatingCalls()) {
        const std::shared_ptr<SimFS> second = first->CrashImage(call.index, policy);
        ASSERT_EQ(StateOf(second), moment->state) << name << ", call " << call.index;
        if (call.index % 9 != 0) continue;
        for (const FileCall& again : second->MutatingCalls()) {
          ASSERT_EQ(StateOf(second->CrashImage(again.index, CrashPolicy::kStrict)), moment->state)
              << name << ", call " << call.index << ", then call " << again.index;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ashlar
