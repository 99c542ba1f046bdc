// SPDX-License-Identifier: Apache-2.0
//
// Tests a program on a simulated machine: money moves between two accounts while the power fails at
// every point where that could matter. After each failure the database is opened again and must
// hold what the program was promised: the sum is right, and no synced transfer is lost.
//
//   example_simulated_crashes FOLDER        (nothing is written there: the files are simulated)
//
// Prints:
//   the same seed gives the same run: yes
//   power failures: every one survived
//   a full disk is reported: yes
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "ashlar/testing/simulated_machine.h"
#include "ashlar/write_batch.h"

namespace {

constexpr int kTransfers = 20;
constexpr int kSum = 1000;

void Require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

std::unique_ptr<ashlar::DB> OpenOn(ashlar::SimulatedMachine* machine) {
  ashlar::Options options;
  options.env = machine->env();
  options.create_if_missing = true;
  options.write_buffer_size = 64 << 10;
  std::unique_ptr<ashlar::DB> db;
  const ashlar::Status status = ashlar::DB::Open(options, "/bank", &db);
  Require(status.ok(), status.ToString());
  return db;
}

// The program under test: the balance of the first account after transfer i is kSum - i. Returns
// the status of the first write that failed, and reports each acknowledged transfer.
template <typename Acknowledged>
ashlar::Status RunTransfers(ashlar::SimulatedMachine* machine, ashlar::DB* db,
                            const Acknowledged& acknowledged) {
  ashlar::WriteOptions synced;
  synced.sync = true;
  for (int i = 0; i <= kTransfers; i++) {
    ashlar::WriteBatch batch;
    ashlar::Status status = batch.Put("account/1", std::to_string(kSum - i));
    if (status.ok()) status = batch.Put("account/2", std::to_string(i));
    if (status.ok()) status = db->Write(synced, &batch);
    if (!status.ok()) return status;
    acknowledged(i);
    machine->RunSomeBackgroundWork();
    if (i == kTransfers / 2) status = db->Flush(ashlar::FlushOptions());
    if (!status.ok()) return status;
  }
  return ashlar::Status::OK();
}

// The number of the last transfer that the database holds; -1: none.
int LastTransfer(ashlar::DB* db) {
  std::string first, second;
  const ashlar::Status status = db->Get(ashlar::ReadOptions(), "account/1", &first);
  if (status.IsNotFound()) return -1;
  Require(status.ok(), status.ToString());
  const ashlar::Status other = db->Get(ashlar::ReadOptions(), "account/2", &second);
  Require(other.ok(), "half a transfer: " + other.ToString());
  Require(std::stoi(first) + std::stoi(second) == kSum, "money was made or lost");
  return std::stoi(second);
}

uint64_t HashOfRun(uint64_t seed) {
  const auto machine = ashlar::SimulatedMachine::Create(seed);
  auto db = OpenOn(machine.get());
  const ashlar::Status status = RunTransfers(machine.get(), db.get(), [](int) {});
  Require(status.ok(), status.ToString());
  return machine->FileCallHash();
}

void FailPowerEverywhere(uint64_t seed) {
  const auto machine = ashlar::SimulatedMachine::Create(seed);
  auto db = OpenOn(machine.get());
  // The number of the file call behind which each transfer was acknowledged.
  std::vector<uint64_t> acknowledged_at;
  const ashlar::Status status = RunTransfers(
      machine.get(), db.get(), [&](int) { acknowledged_at.push_back(machine->FileCallCount()); });
  Require(status.ok(), status.ToString());
  db.reset();
  for (const uint64_t call : machine->CrashPoints()) {
    int promised = -1;
    for (const uint64_t at : acknowledged_at) promised += at <= call;
    const auto after = machine->AfterPowerFailure(call, /*seed=*/seed + call);
    const auto survivor = OpenOn(after.get());
    const int last = LastTransfer(survivor.get());
    Require(last >= promised, "a synced transfer was lost at file call " + std::to_string(call));
  }
}

bool ReportsAFullDisk(uint64_t seed) {
  const auto machine = ashlar::SimulatedMachine::Create(seed);
  const auto db = OpenOn(machine.get());
  machine->FailWritesTo(".log", ashlar::SimulatedMachine::Failure::kNoSpace);
  const ashlar::Status status = RunTransfers(machine.get(), db.get(), [](int) {});
  machine->StopFailing();
  return status.IsNoSpace();
}

}  // namespace

int main() {
  std::printf("the same seed gives the same run: %s\n",
              HashOfRun(7) == HashOfRun(7) ? "yes" : "no");
  for (uint64_t seed = 1; seed <= 3; seed++) FailPowerEverywhere(seed);
  std::printf("power failures: every one survived\n");
  std::printf("a full disk is reported: %s\n", ReportsAFullDisk(1) ? "yes" : "no");
  return 0;
}
