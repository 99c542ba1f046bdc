// SPDX-License-Identifier: Apache-2.0
//
// Opening, closing and reopening; the choice of the next step.
#include "program.h"

#include <rocksdb/merge_operator.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#if ROCKSDB_MAJOR < 11
namespace rocksdb {
// A friend of the options. RocksDB makes room for 2^23 commits at each opening, which takes more
// time than the program.
class TransactionTestBase {
 public:
  static void MakeCommitCacheSmall(TransactionDBOptions* options) {
    options->wp_commit_cache_bits = 14;
  }
};
}  // namespace rocksdb
#endif

namespace differential {
namespace {

class Joiner final : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             rocksdb::Logger*) const override {
    *result =
        existing == nullptr ? value.ToString() : existing->ToString() + "," + value.ToString();
    return true;
  }
  const char* Name() const override { return "differential.Joiner"; }
};

}  // namespace

std::string Show(const Status& status) {
  return std::to_string(status.code()) + "." + std::to_string(status.subcode());
}

void Check(const Status& status) {
  if (status.ok()) return;
  std::printf("unexpected: %s\n", status.ToString().c_str());
  std::fflush(stdout);
  std::exit(1);
}

Program::Program(uint64_t seed, const std::string& dir)
    : dir_(dir), seed_(seed), draw_(seed, 0, 0) {
  const uint64_t kind = seed % 4;
  is_optimistic_ = kind == 0;
  if (kind != 0) policy_ = static_cast<rocksdb::TxnDBWritePolicy>(kind - 1);
  hides_commit_time_ = kind > 1;
  is_serial_ = draw_.OneIn(2);
  keys_ = draw_.Of<uint64_t>({3, 6, 40});
  slots_.resize(2 + draw_.Below(5));
  std::printf("seed %llu\noptimistic %d serial %d keys %d transactions %d policy %d\n",
              static_cast<unsigned long long>(seed), is_optimistic_, is_serial_,
              static_cast<int>(keys_), static_cast<int>(slots_.size()), static_cast<int>(policy_));
}

Program::~Program() {
  for (Slot& slot : slots_) End(&slot);
  Close();
  rocksdb::DestroyDB(dir_, rocksdb::Options());
}

void Program::Run(const std::set<int>& only) {
  Open(/*is_new=*/true);
  for (int step = 0; step < kSteps; step++) {
    if (!only.empty() && only.count(step) == 0) continue;
    draw_ = Draw(seed_, 0, static_cast<uint64_t>(step) + 1);
    std::printf("%d ", step);
    Step();
    EndStolen();
  }
}

void Program::Open(bool is_new) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.merge_operator = std::make_shared<Joiner>();
  options.max_write_buffer_size_to_maintain = 64 << 20;  // so that nothing is TryAgain
  options.write_buffer_size = 1 << 20;
  options.stats_dump_period_sec = options.stats_persist_period_sec = 0;
  options.max_file_opening_threads = 1;  // or each opening starts 16 of them
  rocksdb::ColumnFamilyOptions reverse(options);
  reverse.comparator = rocksdb::ReverseBytewiseComparator();
  std::vector<rocksdb::ColumnFamilyDescriptor> families{
      {rocksdb::kDefaultColumnFamilyName, options}};
  if (!is_new) families.emplace_back("reverse", reverse);
  if (is_optimistic_) {
    rocksdb::OptimisticTransactionDBOptions occ;
    occ.validate_policy = is_serial_ ? rocksdb::OccValidationPolicy::kValidateSerial
                                     : rocksdb::OccValidationPolicy::kValidateParallel;
    occ.occ_lock_buckets = 1024;
    Check(rocksdb::OptimisticTransactionDB::Open(rocksdb::DBOptions(options), occ, dir_, families,
                                                 &families_, &optimistic_));
    db_ = optimistic_;
  } else {
    rocksdb::TransactionDBOptions locking;
    locking.transaction_lock_timeout = 0;
    locking.default_lock_timeout = 0;
    locking.write_policy = policy_;
#if ROCKSDB_MAJOR < 11
    rocksdb::TransactionTestBase::MakeCommitCacheSmall(&locking);
#endif
    Check(rocksdb::TransactionDB::Open(rocksdb::DBOptions(options), locking, dir_, families,
                                       &families_, &pessimistic_));
    db_ = pessimistic_;
  }
  if (!is_new) return;
  families_.push_back(nullptr);
  Check(db_->CreateColumnFamily(reverse, "reverse", &families_[1]));
}

void Program::Close() {
  for (rocksdb::ColumnFamilyHandle* family : families_) db_->DestroyColumnFamilyHandle(family);
  families_.clear();
  delete db_;
  db_ = nullptr;
  pessimistic_ = nullptr;
  optimistic_ = nullptr;
}

// RocksDB with assertions does not close a database in which data of prepared transactions is in
// memtables.
bool Program::CannotClose() const {
#if ROCKSDB_MAJOR < 11
  if (pessimistic_ == nullptr || IsCommitted()) return false;
  std::vector<Transaction*> prepared;
  pessimistic_->GetAllPreparedTransactions(&prepared);
  return was_prepared_ || !prepared.empty();
#else
  return false;
#endif
}

// Goes on with a copy of the files, as if the process had been killed. The database stays open.
void Program::Abandon() {
  Check(db_->DisableFileDeletions());
  Check(db_->PauseBackgroundWork());
  const std::string old = dir_;
  dir_ += "+";
  std::filesystem::create_directory(dir_);
  for (const auto& entry : std::filesystem::directory_iterator(old)) {
    if (entry.path().filename() == "LOCK") continue;
    std::filesystem::copy_file(entry.path(), dir_ + "/" + entry.path().filename().string());
  }
  families_.clear();
  db_ = nullptr;
  pessimistic_ = nullptr;
}

// Transactions that are prepared stay so; all others end.
void Program::Reopen() {
  const int reopenings = draw_.OneIn(3) ? 2 : 1;
  std::printf("reopen %d\n", reopenings);
  was_prepared_ = false;
  for (Slot& slot : slots_) {
    was_prepared_ = was_prepared_ || IsPrepared(slot);
    if (IsPrepared(slot) && slot.transaction->GetNumMerges() > 0) {
      with_merges_.insert(slot.transaction->GetName());
    }
    delete slot.transaction;
    slot = Slot();
  }
  for (int i = 1; i <= reopenings; i++) {
    if (CannotClose()) {
      Abandon();
    } else {
      Close();
    }
    Open(/*is_new=*/false);
    hides_commit_time_ = false;
    for (rocksdb::ColumnFamilyHandle* family : families_) {
      TellOfDatabase("rows", Status(), Rows(family, nullptr));
    }
    hides_commit_time_ = !is_optimistic_ && !IsCommitted();
    if (pessimistic_ != nullptr) DecideRecovered(i == reopenings);
  }
}

// Nothing is written meanwhile, as the transactions have their locks here and none in RocksDB.
void Program::DecideRecovered(bool is_last) {
  std::vector<Transaction*> prepared;
  pessimistic_->GetAllPreparedTransactions(&prepared);
  const auto before = [](const Transaction* a, const Transaction* b) {
    return a->GetName() < b->GetName();
  };
  std::sort(prepared.begin(), prepared.end(), before);
  was_prepared_ = false;
  for (Transaction* transaction : prepared) {
    std::printf("%s ", transaction->GetName().c_str());
    const uint64_t choice = draw_.Below(is_last ? 2 : 3);
    if (choice == 2) {
      std::printf("left\n");
      continue;
    }
    std::printf("found puts %d deletes %d merges %d\n", static_cast<int>(transaction->GetNumPuts()),
                static_cast<int>(transaction->GetNumDeletes()),
                static_cast<int>(transaction->GetNumMerges()));
    const bool must_commit = IsUnprepared() && with_merges_.count(transaction->GetName()) != 0;
    const bool is_commit = choice == 0 || must_commit;
    with_merges_.erase(transaction->GetName());
    const Status status = is_commit ? transaction->Commit() : transaction->Rollback();
    Tell(is_commit ? "commit" : "rollback", status, *transaction);
    TellOfDatabase("rows", Status(), Rows(families_[0], nullptr) + Rows(families_[1], nullptr));
    delete transaction;
  }
}

void Program::End(Slot* slot) {
  if (IsPrepared(*slot)) Check(RollBack(*slot));
  delete slot->transaction;
  *slot = Slot();
}

void Program::Step() {
  if (draw_.OneIn(4)) return StepDatabase();
  Slot* const slot = &slots_[draw_.Below(slots_.size())];
  std::printf("t%d ", static_cast<int>(slot - slots_.data()));
  if (slot->transaction == nullptr || draw_.OneIn(20)) return Begin(slot);
  StepTransaction(slot);
}

void Program::Tell(const char* what, const Status& status, const Transaction& transaction,
                   const std::string& more) {
  std::printf(
      "%s %s %s keys %d puts %d deletes %d merges %d state %d\n", what, Show(status).c_str(),
      more.c_str(), static_cast<int>(transaction.GetNumKeys()),
      static_cast<int>(transaction.GetNumPuts()), static_cast<int>(transaction.GetNumDeletes()),
      static_cast<int>(transaction.GetNumMerges()), static_cast<int>(transaction.GetState()));
}

void Program::TellOfDatabase(const char* what, const Status& status, const std::string& more) {
  std::printf("db %s %s %s\n", what, Show(status).c_str(), more.c_str());
}

}  // namespace differential
