// SPDX-License-Identifier: Apache-2.0
//
// Transactions: four threads move money between accounts, and the sum is the same in every
// snapshot. A transfer locks both accounts, in the order of their names, so that no two transfers
// wait for each other in a circle.
//
//   example_bank_transfers FOLDER
//
// Prints:
//   8 accounts with 800 in total
//   1000 transfers by 4 threads
//   every audit found 800
//   8 accounts with 800 in total
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/utilities/transaction_db.h"

namespace {

constexpr int kAccounts = 8, kThreads = 4, kTransfersOfThread = 250;

void Require(const ashlar::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

std::string Account(int number) { return "account" + std::to_string(number); }

int SumOf(ashlar::TransactionDB* db, const ashlar::Snapshot* snapshot, int* count) {
  ashlar::ReadOptions options;
  options.snapshot = snapshot;
  std::unique_ptr<ashlar::Iterator> iterator(db->NewIterator(options));
  int sum = 0;
  *count = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), ++*count) {
    sum += std::atoi(iterator->value().ToString().c_str());
  }
  Require(iterator->status());
  return sum;
}

void PrintSum(ashlar::TransactionDB* db) {
  int count = 0;
  const int sum = SumOf(db, nullptr, &count);
  std::printf("%d accounts with %d in total\n", count, sum);
}

// Moves an amount, unless the account has less. The status of the first call that fails.
ashlar::Status Transfer(ashlar::Transaction* transaction, int from, int to, int amount) {
  const ashlar::ReadOptions read;
  std::string source, target;
  std::pair<int, std::string*> first{from, &source}, second{to, &target};
  if (first.first > second.first) std::swap(first, second);
  ashlar::Status status = transaction->GetForUpdate(read, Account(first.first), first.second);
  if (status.ok()) {
    status = transaction->GetForUpdate(read, Account(second.first), second.second);
  }
  const int balance = std::atoi(source.c_str());
  if (!status.ok() || balance < amount) return status;
  status = transaction->Put(Account(from), std::to_string(balance - amount));
  if (!status.ok()) return status;
  return transaction->Put(Account(to), std::to_string(std::atoi(target.c_str()) + amount));
}

void MakeTransfers(ashlar::TransactionDB* db, int thread) {
  std::unique_ptr<ashlar::Transaction> transaction;
  for (int i = 0; i < kTransfersOfThread; ++i) {
    const int from = (i * 7 + thread) % kAccounts;
    const int to = (from + 1 + i % (kAccounts - 1)) % kAccounts;
    while (true) {
      // The object of the last transfer is used again.
      transaction.reset(db->BeginTransaction(ashlar::WriteOptions(), ashlar::TransactionOptions(),
                                             transaction.release()));
      ashlar::Status status = Transfer(transaction.get(), from, to, 1 + i % 20);
      if (status.ok()) status = transaction->Commit();
      if (status.ok()) break;
      // Another thread held a lock for longer than the timeout: once more from the beginning.
      if (!status.IsTimedOut()) Require(status);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  ashlar::Options options;
  options.create_if_missing = true;
  ashlar::TransactionDB* opened = nullptr;
  Require(ashlar::TransactionDB::Open(options, ashlar::TransactionDBOptions(), argv[1], &opened));
  const std::unique_ptr<ashlar::TransactionDB> db(opened);
  for (int i = 0; i < kAccounts; ++i) {
    Require(db->Put(ashlar::WriteOptions(), Account(i), "100"));
  }
  PrintSum(db.get());

  std::atomic<bool> is_done{false};
  std::atomic<int> wrong_audits{0};
  std::thread auditor([&] {
    do {
      const ashlar::Snapshot* const snapshot = db->GetSnapshot();
      int count = 0;
      if (SumOf(db.get(), snapshot, &count) != 100 * kAccounts) ++wrong_audits;
      db->ReleaseSnapshot(snapshot);
    } while (!is_done);
  });
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(MakeTransfers, db.get(), t);
  for (std::thread& thread : threads) thread.join();
  is_done = true;
  auditor.join();

  std::printf("%d transfers by %d threads\n", kThreads * kTransfersOfThread, kThreads);
  if (wrong_audits == 0) std::printf("every audit found %d\n", 100 * kAccounts);
  PrintSum(db.get());
  return 0;
}
