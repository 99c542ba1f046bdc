// SPDX-License-Identifier: Apache-2.0
//
// Operations that write. Each takes the locks of its keys, stores the pending events, calls the
// database, and stores the new states. Only a call with no_slowdown may fail, with Incomplete, and
// then it has changed nothing.
#include <algorithm>
#include <cassert>
#include <string>

#include "ashlar/sst_file_writer.h"
#include "ashlar/wide_columns.h"
#include "ashlar/write_batch.h"
#include "tools/db_stress/worker.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

// One event of one key: the state before, and what happens to it.
struct Change {
  KeyId key;
  KeyState before;
  Event event = Event::kNone;

  KeyState After() const { return before.After(event); }
};

std::string RecordOf(const Worker& worker, const Change& change) {
  // After() gives the state that the write makes; the record describes that one, not the one
  // before.
  return RecordText(change.key, change.After(), worker.shared->settings->value_bytes);
}

// Before the call: a kill during the call leaves the event pending, so both outcomes are right.
void Announce(Worker* worker, std::span<const Change> changes) {
  assert(worker != nullptr);
  for (const Change& change : changes) {
    worker->expected().Store(change.key, change.before.With(change.event));
  }
}

// Stores the states after the call: all changes have happened, or none.
void SettleAs(Worker* worker, std::span<const Change> changes, bool has_happened) {
  assert(worker != nullptr);
  for (const Change& change : changes) {
    worker->expected().Store(change.key, has_happened ? change.After() : change.before);
  }
}

// Records the outcome of a write in the expected state.
void Settle(Worker* worker, std::span<const Change> changes, const WriteOptions& options,
            const Status& status, const char* call) {
  assert(worker != nullptr && call != nullptr);
  // A refused write has changed nothing.
  const bool is_refused = options.no_slowdown && status.IsIncomplete();
  if (!is_refused) Require(status, call);
  SettleAs(worker, changes, !is_refused);
}

WriteOptions DrawWriteOptions(Worker* worker) {
  assert(worker != nullptr);
  WriteOptions options = worker->NewWriteOptions();
  // Rare, because refused writes change nothing and so test nothing else.
  options.no_slowdown = worker->random.OneIn(20);
  options.low_pri = worker->random.OneIn(20);
  return options;
}

// Changes one key by `call`; `choose` returns the event for the key's current state.
template <typename Choose, typename Call>
void ChangeOne(Worker* worker, const KeyId& key, const char* name, Choose choose, Call call) {
  assert(worker != nullptr);
  const FamilyUse family = worker->db().Use(key.family);
  // The lock is held until the new state is stored; so no other writer sees the key in between.
  const KeyLocks::Held held(&worker->shared->locks, {&key, 1});
  Change change{.key = key, .before = worker->expected().Load(key)};
  // The lock of the key is held, so no other writer can be in the middle of its call.
  if (change.before.pending != Event::kNone) Fail(StrCat(name, ": a lock does not hold"));
  change.event = choose(change.before);
  const WriteOptions options = DrawWriteOptions(worker);
  Announce(worker, {&change, 1});
  const Status status = call(options, family.get(), change, KeyText(key.number));
  Settle(worker, {&change, 1}, options, status, name);
}

// Some values are written as entities with columns, which must read like plain values.
Status Put(Worker* worker, const WriteOptions& options, ColumnFamilyHandle* family,
           const Change& change, const std::string& key) {
  assert(worker != nullptr && family != nullptr);
  const std::string record = RecordOf(*worker, change);
  if (!worker->random.OneIn(8)) return worker->db()->Put(options, family, key, record);
  // The second column repeats the generation, so a reader can check that both are from one write.
  const std::string generation = std::to_string(change.After().generation);
  return worker->db()->PutEntity(options, family, key,
                                 {{kDefaultWideColumnName, record}, {"generation", generation}});
}

// A key with too many operands gets a new value, which bounds the length of its record.
Event MergeOrPut(const KeyState& state) {
  assert(state.operands <= KeyState::kMaxOperands);
  return state.operands < KeyState::kMaxOperands ? Event::kMerge : Event::kPut;
}

// Between 1 and `max_count` neighbouring keys of the kind that allows every operation.
std::vector<Change> DrawNeighbours(Worker* worker, int family, uint64_t max_count) {
  assert(worker != nullptr && max_count > 0);
  const uint64_t first = worker->FreeNumber();
  // The range must not go beyond the last key.
  const uint64_t count =
      std::min(1 + worker->random.Uniform(max_count), worker->space().keys - first);
  std::vector<Change> changes;
  for (uint64_t i = 0; i < count; i++) changes.push_back({.key = {family, first + i}});
  return changes;
}

std::vector<KeyId> KeysOf(std::span<const Change> changes) {
  std::vector<KeyId> keys;
  for (const Change& change : changes) keys.push_back(change.key);
  return keys;
}

void LoadStates(Worker* worker, std::span<Change> changes, Event event) {
  // The caller holds the locks of the keys, so the states cannot change afterwards.
  assert(worker != nullptr);
  for (Change& change : changes) {
    change.before = worker->expected().Load(change.key);
    change.event = event;
  }
}

// `target`: a batch or a transaction.
template <typename Target>
Status AddTo(Target* target, Worker* worker, ColumnFamilyHandle* family, const Change& change) {
  assert(target != nullptr && worker != nullptr && family != nullptr);
  const std::string key = KeyText(change.key.number);
  switch (change.event) {
    case Event::kPut: return target->Put(family, key, RecordOf(*worker, change));
    case Event::kMerge: return target->Merge(family, key, RecordOf(*worker, change));
    case Event::kRemove: return target->Delete(family, key);
    case Event::kNone: break;
  }
  return Status::InvalidArgument("no event");
}

template <typename Target>
void AddAllTo(Target* target, Worker* worker, std::span<const Change> changes) {
  assert(target != nullptr && worker != nullptr);
  for (const Change& change : changes) {
    const FamilyUse family = worker->db().Use(change.key.family);
    Require(AddTo(target, worker, family.get(), change), "adding to a batch or transaction");
  }
}

// The locks of keys exclude all other writers, so neither a lock nor a check refuses anything. Some
// are rolled back. A kill leaves those that are prepared to the next opening.
void CommitTransaction(Worker* worker, std::span<const Change> changes, Transaction* transaction) {
  assert(worker != nullptr && transaction != nullptr && !changes.empty());
  const bool is_rolled_back = worker->random.OneIn(8);
  const bool is_locking = worker->db().transactions() == Transactions::kLocking;
  const bool is_prepared = is_locking && worker->random.OneIn(2);
  // A transaction that can survive a crash needs a name, by which the next opening finds it again.
  if (is_prepared || worker->db().write_policy() == WRITE_UNPREPARED) {
    WriteOptions waiting = *transaction->GetWriteOptions();
    waiting.no_slowdown = false;  // what is written before the commit must be decided
    transaction->SetWriteOptions(waiting);
    const KeyId& first = changes.front().key;  // nobody else writes it
    Require(transaction->SetName(StrCat("family ", first.family, " key ", first.number)),
            "Transaction::SetName");
  }
  AddAllTo(transaction, worker, changes);
  // Stored before the prepare: a prepared transaction may be committed by a later run, so both
  // outcomes are possible from here on.
  Announce(worker, changes);
  if (is_prepared) Require(transaction->Prepare(), "Transaction::Prepare");
  if (is_rolled_back) {
    Require(transaction->Rollback(), "Transaction::Rollback");
    return SettleAs(worker, changes, /*has_happened=*/false);
  }
  const WriteOptions options = *transaction->GetWriteOptions();
  Settle(worker, changes, options, transaction->Commit(), "Transaction::Commit");
}

// All changes in one batch or transaction.
void WriteTogether(Worker* worker, std::span<const Change> changes) {
  assert(worker != nullptr && !changes.empty());
  const WriteOptions options = DrawWriteOptions(worker);
  if (const auto transaction = worker->db().BeginTransaction(options)) {
    return CommitTransaction(worker, changes, transaction.get());
  }
  WriteBatch batch;
  AddAllTo(&batch, worker, changes);
  Announce(worker, changes);
  Settle(worker, changes, options, worker->db()->Write(options, &batch), "Write");
}

}  // namespace

void PutOne(Worker* worker) {
  assert(worker != nullptr);
  const KeyId key{worker->AnyFamily(), worker->FreeNumber()};
  ChangeOne(
      worker, key, "Put", [](const KeyState&) { return Event::kPut; },
      [&](const WriteOptions& options, ColumnFamilyHandle* family, const Change& change,
          const std::string& text) { return Put(worker, options, family, change, text); });
}

void DeleteOne(Worker* worker) {
  assert(worker != nullptr);
  const KeyId key{worker->AnyFamily(), worker->FreeNumber()};
  ChangeOne(
      worker, key, "Delete", [](const KeyState&) { return Event::kRemove; },
      [&](const WriteOptions& options, ColumnFamilyHandle* family, const Change&,
          const std::string& text) { return worker->db()->Delete(options, family, text); });
}

void MergeOne(Worker* worker) {
  assert(worker != nullptr);
  const KeyId key{worker->AnyFamily(), worker->FreeNumber()};
  ChangeOne(worker, key, "Merge", MergeOrPut,
            [&](const WriteOptions& options, ColumnFamilyHandle* family, const Change& change,
                const std::string& text) {
              const std::string record = RecordOf(*worker, change);
              return change.event == Event::kMerge
                         ? worker->db()->Merge(options, family, text, record)
                         : worker->db()->Put(options, family, text, record);
            });
}

// SingleDelete() requires that these keys see no other operation.
void PutOnce(Worker* worker) {
  assert(worker != nullptr);
  const KeyId key{worker->AnyFamily(), worker->random.Uniform(worker->space().mirrored_begin())};
  ChangeOne(
      worker, key, "Put or SingleDelete",
      [](const KeyState& state) { return state.IsPresent() ? Event::kRemove : Event::kPut; },
      [&](const WriteOptions& options, ColumnFamilyHandle* family, const Change& change,
          const std::string& text) {
        return change.event == Event::kRemove
                   ? worker->db()->SingleDelete(options, family, text)
                   : worker->db()->Put(options, family, text, RecordOf(*worker, change));
      });
}

// Writes the same key with the same value into all families by one batch. Verification checks that
// no family lacks it.
void WriteMirrored(Worker* worker) {
  assert(worker != nullptr);
  const KeySpace& space = worker->space();
  // A number of the second kind of keys, between the keys that are put once and the free ones.
  const uint64_t number =
      space.mirrored_begin() + worker->random.Uniform(space.free_begin() - space.mirrored_begin());
  std::vector<Change> changes;
  for (int family = 0; family < worker->db().volatile_family(); family++) {
    changes.push_back({.key = {family, number}});
  }
  const KeyLocks::Held held(&worker->shared->locks, KeysOf(changes));
  LoadStates(worker, changes, worker->random.OneIn(4) ? Event::kRemove : Event::kPut);
  WriteTogether(worker, changes);
}

// Writes 2 to 8 changes in one batch. A key is taken once at most, because the state before each
// change is loaded before the batch is written. All keys are locked before their states are read,
// so that no other worker changes them in between.
void WriteBatchOfMany(Worker* worker) {
  assert(worker != nullptr);
  std::vector<Change> changes;
  for (uint64_t i = 2 + worker->random.Uniform(7); i > 0; i--) {
    const KeyId key{worker->StableFamily(), worker->FreeNumber()};
    const bool is_new = std::none_of(changes.begin(), changes.end(), [&](const Change& other) {
      return other.key.family == key.family && other.key.number == key.number;
    });
    if (is_new) changes.push_back({.key = key});
  }
  const KeyLocks::Held held(&worker->shared->locks, KeysOf(changes));
  LoadStates(worker, changes, Event::kPut);
  for (Change& change : changes) {
    // The event was set to a put for all of them; two in four choices replace it.
    const uint64_t choice = worker->random.Uniform(4);
    if (choice == 0) change.event = Event::kRemove;
    if (choice == 1) change.event = MergeOrPut(change.before);
  }
  WriteTogether(worker, changes);
}

// Databases with transactions refuse it.
// The locks of up to 60 keys are held, so that no other write falls into the range meanwhile.
void DeleteRangeOfKeys(Worker* worker) {
  assert(worker != nullptr);
  if (worker->db().transactions() != Transactions::kNone) return;
  const int number = worker->AnyFamily();
  const FamilyUse family = worker->db().Use(number);
  std::vector<Change> changes = DrawNeighbours(worker, number, 60);
  const KeyLocks::Held held(&worker->shared->locks, KeysOf(changes));
  LoadStates(worker, changes, Event::kRemove);
  const WriteOptions options = DrawWriteOptions(worker);
  Announce(worker, changes);
  // The end of a range is exclusive, and KeyText() keeps the order of numbers.
  assert(!changes.empty());
  const Status status =
      worker->db()->DeleteRange(options, family.get(), KeyText(changes.front().key.number),
                                KeyText(changes.back().key.number + 1));
  Settle(worker, changes, options, status, "DeleteRange");
}

void IngestTable(Worker* worker) {
  assert(worker != nullptr);
  const int number = worker->AnyFamily();
  const FamilyUse family = worker->db().Use(number);
  std::vector<Change> changes = DrawNeighbours(worker, number, 100);
  const KeyLocks::Held held(&worker->shared->locks, KeysOf(changes));
  LoadStates(worker, changes, Event::kPut);
  // Each thread has a file of its own.
  const std::string path = worker->db().TemporaryPath(StrCat("table.", worker->index));
  const DrawnOptions& drawn = worker->db().options();
  // The table must have the comparator, merge operator and format options of the family that takes
  // it in.
  const Options options(drawn.db, drawn.families[static_cast<size_t>(number)]);
  SstFileWriter writer(EnvOptions(), options, family.get());
  Require(writer.Open(path), "SstFileWriter::Open");
  // SstFileWriter refuses keys that are not in ascending order; DrawNeighbours() gives them in
  // order.
  for (const Change& change : changes) {
    Require(writer.Put(KeyText(change.key.number), RecordOf(*worker, change)),
            "SstFileWriter::Put");
  }
  Require(writer.Finish(), "SstFileWriter::Finish");
  IngestExternalFileOptions ingest_options;
  ingest_options.move_files = worker->random.OneIn(2);
  ingest_options.verify_checksums_before_ingest = worker->random.OneIn(2);
  Announce(worker, changes);
  const Status status = worker->db()->IngestExternalFile(family.get(), {path}, ingest_options);
  IgnoreError(options.env->DeleteFile(path), "an ingestion that moves the file has deleted it");
  // Plain options, because an ingestion is no write and is never refused by no_slowdown.
  Settle(worker, changes, WriteOptions(), status, "IngestExternalFile");
}

}  // namespace ashlar::stress
