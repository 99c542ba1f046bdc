// SPDX-License-Identifier: Apache-2.0
//
// A coordinator commits transfers between two databases in two phases: it prepares them in both,
// writes its decision into a log of its own, and decides in both. Its process is killed at a file
// call. The next process asks the log for the decision of each transaction that is prepared, and
// rolls back those without one. Then both databases have the same transfers: those of the log.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "env/fault/fault_file_system.h"
#include "tests/db/transaction/transaction_fixture.h"
#include "tests/support/forked_child.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kTransfers = 30;
constexpr int kAccounts = 5;

class Coordinator {
 public:
  // `kill_at`: the process is killed before the file call with this number; 0: never.
  Coordinator(const std::string& dir, TxnDBWritePolicy policy, uint64_t kill_at)
      : dir_(dir), files_(std::make_shared<FaultFileSystem>(FileSystem::Default())) {
    if (kill_at > 0) {
      files_->SetHook([kill_at](const FileCall& call, bool is_before) {
        if (is_before && call.index == kill_at) kill(getpid(), SIGKILL);
      });
    }
    env_ = NewCompositeEnv(files_);
    db_options_.write_policy = policy;
    db_options_.default_write_batch_flush_threshold = 1;  // for the policy write-unprepared
  }

  // Opens both databases and decides what is prepared in them.
  bool Open() {
    std::string decisions;
    if (env_->FileExists(LogName()).ok()) {
      EXPECT_OK(ReadFileToString(env_.get(), LogName(), &decisions));
    }
    for (size_t pos = 0, end; (end = decisions.find('\n', pos)) != std::string::npos;) {
      committed_.insert(decisions.substr(pos, end - pos));
      pos = end + 1;
    }
    for (int i = 0; i < 2; ++i) {
      Options options = TransactionTestOptions(env_.get());
      options.write_buffer_size = 64 << 10;
      TransactionDB* opened = nullptr;
      const Status status =
          TransactionDB::Open(options, db_options_, StrCat(dir_, "/", i), &opened);
      EXPECT_OK(status);
      if (!status.ok()) return false;
      dbs_[i].reset(opened);
      std::vector<Transaction*> prepared;
      opened->GetAllPreparedTransactions(&prepared);
      for (Transaction* transaction : prepared) {
        const bool is_committed = committed_.contains(transaction->GetName());
        EXPECT_OK(is_committed ? transaction->Commit() : transaction->Rollback());
        delete transaction;
      }
    }
    return true;
  }

  // Transfers from `first` on.
  bool Run(uint64_t seed, int first) {
    std::unique_ptr<WritableFile> log;
    if (!env_->ReopenWritableFile(LogName(), &log, EnvOptions()).ok()) return false;
    Random64 random(seed);
    for (int i = first; i < first + kTransfers; ++i) {
      const std::string name = StrCat("transfer", i);
      std::array<std::unique_ptr<Transaction>, 2> parts;
      for (int side = 0; side < 2; ++side) {
        WriteOptions options;
        options.sync = random.Next() % 2 == 0 || side == 0;
        parts[side].reset(dbs_[side]->BeginTransaction(options));
        if (!parts[side]->SetName(name).ok()) return false;
        const std::string account = StrCat("account", random.Next() % kAccounts);
        std::string balance = "0";
        const Status read = parts[side]->GetForUpdate(ReadOptions(), account, &balance);
        if (!read.ok() && !read.IsNotFound()) return false;
        const int sum = std::stoi(balance) + (side == 0 ? -1 : 1);
        if (!parts[side]->Put(account, std::to_string(sum)).ok()) return false;
        if (!parts[side]->Put(name, std::string(3000, 'x')).ok()) return false;
        if (!parts[side]->Prepare().ok()) return false;
      }
      const bool is_committed = random.Next() % 4 != 0;
      if (is_committed && !(log->Append(name + "\n").ok() && log->Sync().ok())) return false;
      for (const auto& part : parts) {
        if (!(is_committed ? part->Commit() : part->Rollback()).ok()) return false;
      }
      if (i % 10 == 9 && !dbs_[i / 10 % 2]->Flush(FlushOptions()).ok()) return false;
    }
    return true;
  }

  // Both databases have the transfers of the log, and the accounts the sums of these.
  void Check() const {
    for (int side = 0; side < 2; ++side) {
      std::set<std::string> found;
      int sum = 0;
      const std::unique_ptr<Iterator> it(dbs_[side]->NewIterator(ReadOptions()));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        if (it->key().starts_with("transfer")) found.insert(it->key().ToString());
        if (it->key().starts_with("account")) sum += std::stoi(it->value().ToString());
      }
      EXPECT_OK(it->status());
      EXPECT_EQ(found, committed_) << side;
      const int count = static_cast<int>(committed_.size());
      EXPECT_EQ(sum, side == 0 ? -count : count);
      EXPECT_EQ(dbs_[side]->GetLockStatusData().size(), 0u);
    }
  }
  uint64_t CallCount() const { return files_->CallCount(); }

 private:
  std::string LogName() const { return dir_ + "/decisions"; }

  const std::string dir_;
  const std::shared_ptr<FaultFileSystem> files_;
  std::unique_ptr<Env> env_;
  TransactionDBOptions db_options_;
  std::array<std::unique_ptr<TransactionDB>, 2> dbs_;
  std::set<std::string> committed_;
};

class KilledCoordinator : public testing::TestWithParam<TxnDBWritePolicy> {};

INSTANTIATE_TEST_SUITE_P(Policies, KilledCoordinator, WritePolicies(), PolicyName);

TEST_P(KilledCoordinator, TransfersAreInBothDatabasesOrInNone) {
  if (!kChildMayStartThreads) return SkipAsImpossible(kThreadsInChildren);
  const std::string dir = FreshTempDir("coordinator");
  Random64 random(1);
  int first = 0, killed = 0;
  for (int round = 0; round < 20; ++round, first += kTransfers) {
    SCOPED_TRACE(round);
    const uint64_t kill_at = 1 + random.Next() % 400;
    const ChildEnd end = RunInChild([&] {
      auto* const coordinator =
          new Coordinator(dir, GetParam(), kill_at);  // a kill destroys nothing
      return coordinator->Open() && coordinator->Run(round, first);
    });
    ASSERT_NE(end, ChildEnd::kFailed);
    killed += end == ChildEnd::kKilled ? 1 : 0;
    Coordinator next(dir, GetParam(), 0);
    ASSERT_TRUE(next.Open());
    next.Check();
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(killed, 5) << "else hardly anything is tested";
}

}  // namespace
}  // namespace ashlar
