// SPDX-License-Identifier: Apache-2.0
//
// The cost of point locks: lock and unlock without contention, transactions of many keys, one key
// that all threads want.
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "db/transaction/locks/key_locks.h"
#include "util/threads/futex.h"

namespace ashlar {
namespace {

class Clock final : public LockClock {
 public:
  uint64_t NowMicros() override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  }
  int64_t UnixSeconds() override { return 0; }
  void Wait(const std::atomic<uint32_t>* word, uint32_t expected, uint64_t) override {
    FutexWait(*word, expected);  // no wait here has an end
  }
  void Wake(const std::atomic<uint32_t>* word) override { FutexWakeAll(*word); }
};

struct Table {
  Table() {
    KeyLocksOptions options;
    options.clock = &clock;
    locks = NewPointLocks(options);
  }
  Clock clock;
  std::unique_ptr<KeyLocks> locks;
};

// Of all benchmarks and threads.
Table& SharedTable() {
  static Table table;
  return table;
}

TransactionID IdOf(const benchmark::State& state) {
  return static_cast<TransactionID>(state.thread_index()) + 1;
}

// Keys of this thread's own.
std::vector<std::string> KeysOf(const benchmark::State& state, size_t count) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; i++) {
    keys.push_back("key" + std::to_string(state.thread_index()) + "/" + std::to_string(i));
  }
  return keys;
}

// As a write outside of transactions does: an owner and a lock on the stack.
void BM_LockUnlockOne(benchmark::State& state) {
  KeyLocks* const locks = SharedTable().locks.get();
  const std::vector<std::string> keys = KeysOf(state, 1000);
  size_t i = 0;
  for (auto _ : state) {
    LockOwner owner(IdOf(state));
    KeyLock lock(0, keys[i]);
    benchmark::DoNotOptimize(locks->Acquire(&owner, &lock, LockMode::kExclusive).ok());
    locks->Release(&lock);
    if (++i == keys.size()) i = 0;
  }
}
BENCHMARK(BM_LockUnlockOne)->Threads(1)->Threads(2)->UseRealTime();

// Argument: keys of a transaction.
void BM_LockManyReleaseAll(benchmark::State& state) {
  KeyLocks* const locks = SharedTable().locks.get();
  const size_t count = static_cast<size_t>(state.range(0));
  const std::vector<std::string> keys = KeysOf(state, count);
  LockOwner owner(IdOf(state));
  const std::unique_ptr<KeyLock[]> records(new KeyLock[count]);
  for (auto _ : state) {
    for (size_t i = 0; i < count; i++) {
      records[i].Set(0, keys[i]);
      benchmark::DoNotOptimize(locks->Acquire(&owner, &records[i], LockMode::kExclusive).ok());
    }
    locks->ReleaseAll(&owner);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_LockManyReleaseAll)->Arg(10)->Arg(1000)->Arg(1'000'000)->Threads(1)->UseRealTime();
BENCHMARK(BM_LockManyReleaseAll)->Arg(1000)->Threads(2)->UseRealTime();

// One key that every thread locks, for as long as a small commit takes.
void BM_HotKey(benchmark::State& state) {
  KeyLocks* const locks = SharedTable().locks.get();
  LockOwner owner(IdOf(state));
  owner.lock_timeout_micros = -1;
  KeyLock lock(0, "hot");
  uint64_t work = 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(locks->Acquire(&owner, &lock, LockMode::kExclusive).ok());
    for (int i = 0; i < 300; i++) benchmark::DoNotOptimize(work = work * 3 + 1);
    locks->Release(&lock);
  }
}
BENCHMARK(BM_HotKey)->Threads(1)->Threads(2)->Threads(8)->Threads(64)->UseRealTime();

}  // namespace
}  // namespace ashlar
