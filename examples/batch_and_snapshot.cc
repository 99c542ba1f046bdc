// SPDX-License-Identifier: Apache-2.0
//
// Batches and snapshots: one thread transfers money between accounts while another one adds up all
// accounts. Each transfer is one batch and each sum uses one snapshot, so every sum is correct
// although no thread waits for another.
//
//   example_batch_and_snapshot FOLDER
//
// Prints:
//   1000 transfers
//   every sum was 400
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "ashlar/db.h"
#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/snapshot.h"
#include "ashlar/write_batch.h"

namespace {

constexpr int kAccounts = 4;
constexpr int kStartBalance = 100;

void Require(const ashlar::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

std::string Account(int i) { return "account/" + std::to_string(i); }

int BalanceOf(ashlar::DB* db, const std::string& account) {
  std::string value;
  Require(db->Get(ashlar::ReadOptions(), account, &value));
  return std::stoi(value);
}

// Only one thread transfers money, so it may read before it writes. With several such threads, the
// check would need a lock of the program.
void Transfer(ashlar::DB* db, int from, int to, int amount) {
  ashlar::WriteBatch batch;
  Require(batch.Put(Account(from), std::to_string(BalanceOf(db, Account(from)) - amount)));
  Require(batch.Put(Account(to), std::to_string(BalanceOf(db, Account(to)) + amount)));
  Require(db->Write(ashlar::WriteOptions(), &batch));  // both updates become visible together
}

// Several point reads of one state need a snapshot. ManagedSnapshot releases it.
int SumByGet(ashlar::DB* db) {
  ashlar::ManagedSnapshot now(db);
  ashlar::ReadOptions options;
  options.snapshot = now.snapshot();
  int sum = 0;
  std::string value;
  for (int i = 0; i < kAccounts; i++) {
    Require(db->Get(options, Account(i), &value));
    sum += std::stoi(value);
  }
  return sum;
}

// An iterator sees one state without a snapshot.
int SumByScan(ashlar::DB* db) {
  int sum = 0;
  std::unique_ptr<ashlar::Iterator> it(db->NewIterator(ashlar::ReadOptions()));
  for (it->Seek("account/"); it->Valid(); it->Next()) sum += std::stoi(it->value().ToString());
  Require(it->status());
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  ashlar::Options options;
  options.create_if_missing = true;
  std::unique_ptr<ashlar::DB> db;
  Require(ashlar::DB::Open(options, argv[1], &db));
  for (int i = 0; i < kAccounts; i++) {
    Require(db->Put(ashlar::WriteOptions(), Account(i), std::to_string(kStartBalance)));
  }

  std::atomic<bool> is_done{false};
  std::thread teller([&] {
    for (int i = 0; i < 1000; i++) Transfer(db.get(), i % kAccounts, (i + 1) % kAccounts, i % 7);
    is_done = true;
  });
  int wrong = 0;
  do {
    wrong += SumByGet(db.get()) != kAccounts * kStartBalance;
    wrong += SumByScan(db.get()) != kAccounts * kStartBalance;
  } while (!is_done);
  teller.join();
  std::printf("1000 transfers\n");
  if (wrong == 0) std::printf("every sum was %d\n", SumByScan(db.get()));
  Require(db->Close());
  return wrong == 0 ? 0 : 1;
}
