// SPDX-License-Identifier: Apache-2.0
//
// The state that operations of db_stress use, the table of operations, and failures.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/db_stress/expected_state.h"
#include "tools/db_stress/settings.h"
#include "tools/db_stress/stressed_db.h"
#include "tools/db_stress/watched_copies.h"
#include "util/random.h"

namespace ashlar::stress {

// Prints the failure on stderr and ends the process at once with code 1, without cleaning up: other
// threads are in the middle of calls, and the database stays as it is for inspection.
[[noreturn]] void Fail(const std::string& what);
// Fails if `status`, the result of `call`, is not OK.
void Require(const Status& status, const std::string& call);

// The locks of keys: a key has one writer at a time.
class KeyLocks {
 public:
  class Held {
   public:
    // Takes the locks of `keys`. The calling thread must not hold other locks of keys.
    Held(KeyLocks* locks, std::span<const KeyId> keys);

   private:
    std::vector<std::unique_lock<std::mutex>> locks_;
  };

 private:
  static constexpr size_t kCount = 1024;
  static size_t IndexOf(const KeyId& key) {
    return (key.number * 31 + static_cast<uint64_t>(key.family) * 7919) % kCount;
  }
  std::array<std::mutex, kCount> mutexes_;
};

// The kind of a key follows from its number: put once, mirrored, or free (all operations).
struct KeySpace {
  uint64_t keys = 0;

  uint64_t mirrored_begin() const { return keys / 8; }
  uint64_t free_begin() const { return keys / 4; }
};

// The objects that all threads share.
struct Shared {
  const Settings* settings = nullptr;
  StressedDb* db = nullptr;
  ExpectedState* expected = nullptr;
  KeySpace space;
  KeyLocks locks;
  WatchedCopies copies;
};

// A snapshot, and the values that it showed first.
struct HeldSnapshot {
  const Snapshot* snapshot = nullptr;
  KeyId first;
  std::vector<std::optional<std::string>> values;
};

// The state of one working thread. Only the two atomics are used by another thread.
struct Worker {
  Shared* shared = nullptr;
  int index = 0;
  Random64 random{0};
  std::deque<HeldSnapshot> snapshots;
  // The current call. Written by the worker's thread, read by the watchdog.
  std::atomic<int64_t> call_began_millis{0};  // 0: between operations
  std::atomic<const char*> call_name{""};

  StressedDb& db() const { return *shared->db; }
  ExpectedState& expected() const { return *shared->expected; }
  const KeySpace& space() const { return shared->space; }
  // Random families and keys. The last family is volatile, all others are stable.
  int AnyFamily() {
    return static_cast<int>(random.Uniform(static_cast<uint64_t>(db().families())));
  }
  int StableFamily() {
    return static_cast<int>(random.Uniform(static_cast<uint64_t>(db().families()) - 1));
  }
  uint64_t AnyNumber() { return random.Uniform(space().keys); }
  uint64_t FreeNumber() {
    return space().free_begin() + random.Uniform(space().keys - space().free_begin());
  }
  WriteOptions NewWriteOptions() {
    WriteOptions options;
    options.sync = random.PercentTrue(static_cast<unsigned>(shared->settings->sync_percent));
    return options;
  }
  std::vector<KeyState> LoadRange(const KeyId& first, uint64_t count) const;
};

// A row of the table. The weight is the frequency relative to the sum of all weights.
struct Operation {
  const char* name;
  const char* what;  // for the help
  int weight;
  void (*run)(Worker* worker);
};
std::span<const Operation> Operations();

// The event that a value comes from; fails if it is not a value of this key.
FoundEvent EventOf(const KeyId& key, const Slice& value, const char* call);
// Fails if a read by `call` must not return `value` (nullopt: NotFound).
void CheckFound(const KeyId& key, const KeyState& before, const KeyState& after,
                const std::optional<std::string_view>& value, const char* call);
// "generation 7, 2 operands", "nothing"
std::string TextOf(const KeyState& state);

// operations_write.cc
void PutOne(Worker* worker);
void DeleteOne(Worker* worker);
void MergeOne(Worker* worker);
void PutOnce(Worker* worker);
void WriteMirrored(Worker* worker);
void WriteBatchOfMany(Worker* worker);
void DeleteRangeOfKeys(Worker* worker);
void IngestTable(Worker* worker);

// operations_read.cc
void GetOne(Worker* worker);
void GetColumns(Worker* worker);
void GetMany(Worker* worker);
void GetMirrored(Worker* worker);
void TakeOrReleaseSnapshot(Worker* worker);
void ReleaseAllSnapshots(Worker* worker);
void Iterate(Worker* worker);
// Reads [first, first + before.size()) from an iterator and checks it against the states before and
// after the creation of the iterator.
void CheckScan(Iterator* it, const KeyId& first, const std::vector<KeyState>& before,
               const std::vector<KeyState>& after, bool is_forward, const char* call);

// operations_upkeep.cc
void FlushFamilies(Worker* worker);
void CompactSomeRange(Worker* worker);
void CompactSomeFiles(Worker* worker);
void ChangeOptions(Worker* worker);
void RecreateFamily(Worker* worker);
void ReadProperties(Worker* worker);
void SyncLog(Worker* worker);
void VerifyAllChecksums(Worker* worker);

// operations_copies.cc
void CheckCheckpoint(Worker* worker);
void CheckBackup(Worker* worker);
void CheckExport(Worker* worker);

// operations_following.cc
void CheckSecondary(Worker* worker);
void StartOrCheckTrace(Worker* worker);
// Ends what the operations of both files have left: the trace, the secondary, backups. No thread
// works. With --test_secondary every key in a secondary must have exactly its expected state.
void EndCopies(Shared* shared);

// In verify.cc: compares every key of every family with its expected state, by iterators, Get or
// MultiGet as drawn. No other thread may work. Keys with a pending event get the state that was
// found.
void VerifyAll(Shared* shared, Random64* random);

}  // namespace ashlar::stress
