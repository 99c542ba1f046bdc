// SPDX-License-Identifier: Apache-2.0
//
// Operations that read: single keys, batches of keys, snapshots, and ranges through iterators.
//
// An iterator shows the database at the moment of its creation, so each of its rows must lie
// between the states before and after its creation, however much later it is read.
#include <algorithm>
#include <cassert>
#include <memory>
#include <string>

#include "ashlar/iterator.h"
#include "ashlar/wide_columns.h"
#include "tools/db_stress/worker.h"
#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

// The result of a read for CheckFound(): a value, or nullopt for NotFound. Fails for any other
// status.
std::optional<std::string_view> FoundBy(const Status& status, const PinnableSlice& value,
                                        const char* call) {
  if (status.IsNotFound()) return std::nullopt;
  // Any status but OK and NotFound ends the process: reads of this program have no reason to fail.
  Require(status, call);
  return value.ToStringView();
}

// Options that change how a read is done but never what it returns.
ReadOptions DrawReadOptions(Worker* worker) {
  assert(worker != nullptr);
  ReadOptions options;
  options.fill_cache = !worker->random.OneIn(8);
  options.async_io = worker->random.OneIn(2);
  return options;
}

// Compactions must keep what held snapshots show. The number is bounded, because all these old
// versions take space.
constexpr size_t kMaxSnapshots = 4;  // of one thread
constexpr uint64_t kKeysPerSnapshot = 40;

// The values of kKeysPerSnapshot keys, beginning with `first`, as the snapshot shows them.
std::vector<std::optional<std::string>> ReadAt(Worker* worker, const Snapshot* snapshot,
                                               const KeyId& first) {
  assert(worker != nullptr && snapshot != nullptr);
  const FamilyUse family = worker->db().Use(first.family);
  ReadOptions options = DrawReadOptions(worker);
  options.snapshot = snapshot;
  std::vector<std::optional<std::string>> result;
  for (uint64_t i = 0; i < kKeysPerSnapshot; i++) {
    PinnableSlice value;
    const Status status =
        worker->db()->Get(options, family.get(), KeyText(first.number + i), &value);
    // Copied, because the pinned value is released before the next read.
    const auto found = FoundBy(status, value, "Get at a snapshot");
    result.emplace_back(found ? std::optional<std::string>(*found) : std::nullopt);
  }
  return result;
}

// The states before and after the call enclose what the snapshot may show. What it shows first is
// kept, and must be the same whenever it is read again.
void TakeSnapshot(Worker* worker) {
  assert(worker != nullptr);
  HeldSnapshot held;
  // Only stable families: a snapshot of a family that is dropped meanwhile could not be read again.
  held.first = {worker->StableFamily(),
                worker->random.Uniform(worker->space().keys - kKeysPerSnapshot)};
  const std::vector<KeyState> before = worker->LoadRange(held.first, kKeysPerSnapshot);
  held.snapshot = worker->db()->GetSnapshot();
  const std::vector<KeyState> after = worker->LoadRange(held.first, kKeysPerSnapshot);
  held.values = ReadAt(worker, held.snapshot, held.first);
  for (size_t i = 0; i < held.values.size(); i++) {
    CheckFound({held.first.family, held.first.number + i}, before[i], after[i], held.values[i],
               "Get at a new snapshot");
  }
  worker->snapshots.push_back(std::move(held));
}

// A snapshot must show the same values as when it was taken, whatever was written since.
void CheckAndReleaseSnapshot(Worker* worker) {
  assert(worker != nullptr && !worker->snapshots.empty());
  // The oldest snapshot goes first, so each of them is held for a while.
  const HeldSnapshot held = std::move(worker->snapshots.front());
  worker->snapshots.pop_front();
  const auto again = ReadAt(worker, held.snapshot, held.first);
  for (size_t i = 0; i < again.size(); i++) {
    // Not compared with the expected states, which have changed: the snapshot is compared with
    // itself.
    if (again[i] == held.values[i]) continue;
    Fail(StrCat("a snapshot of key ", held.first.number + i, " of family ", held.first.family,
                " showed ", held.values[i] ? HexBytes(*held.values[i]) : "nothing", ", and now ",
                again[i] ? HexBytes(*again[i]) : "nothing"));
  }
  worker->db()->ReleaseSnapshot(held.snapshot);
}

}  // namespace

// The states before and after the call are the limits for what the read may find.
void GetOne(Worker* worker) {
  assert(worker != nullptr);
  const KeyId key{worker->AnyFamily(), worker->AnyNumber()};
  // The handle is held during the call, because another thread may drop the volatile family.
  const FamilyUse family = worker->db().Use(key.family);
  const KeyState before = worker->expected().Load(key);
  PinnableSlice value;
  const Status status =
      worker->db()->Get(DrawReadOptions(worker), family.get(), KeyText(key.number), &value);
  CheckFound(key, before, worker->expected().Load(key), FoundBy(status, value, "Get"), "Get");
}

// A plain value has one column; one that PutEntity() has written has a second one with its
// generation.
void GetColumns(Worker* worker) {
  assert(worker != nullptr);
  const KeyId key{worker->AnyFamily(), worker->AnyNumber()};
  const FamilyUse family = worker->db().Use(key.family);
  const KeyState before = worker->expected().Load(key);
  PinnableWideColumns columns;
  const Status status =
      worker->db()->GetEntity(DrawReadOptions(worker), family.get(), KeyText(key.number), &columns);
  const KeyState after = worker->expected().Load(key);
  if (status.IsNotFound()) return CheckFound(key, before, after, std::nullopt, "GetEntity");
  Require(status, "GetEntity");
  // The default column comes first in the sorted order, because its name is empty.
  const WideColumns& all = columns.columns();
  if (all.empty() || all.size() > 2 || all[0].name() != kDefaultWideColumnName) {
    Fail(StrCat("GetEntity of key ", key.number, " of family ", key.family, ": ", all.size(),
                " columns"));
  }
  const std::string_view value = all[0].value().ToStringView();
  CheckFound(key, before, after, value, "GetEntity");
  const uint32_t generation = EventOf(key, Slice(value), "GetEntity").generation;
  if (all.size() == 2 && all[1].value() != Slice(std::to_string(generation))) {
    Fail(StrCat("GetEntity of key ", key.number, " of family ", key.family, ": generation ",
                generation, " with the column of ", all[1].value()));
  }
}

void GetMany(Worker* worker) {
  assert(worker != nullptr);
  const int number = worker->AnyFamily();
  const FamilyUse family = worker->db().Use(number);
  const size_t count = 1 + worker->random.Uniform(32);
  const uint64_t distance = worker->random.Uniform(3);  // 0: anywhere
  // 2 * count, because the distance between keys is at most 2.
  const uint64_t first = worker->random.Uniform(worker->space().keys - 2 * count);
  std::vector<KeyId> keys;
  std::vector<std::string> texts;
  std::vector<Slice> slices;
  std::vector<KeyState> before;
  // A key may occur several times if the keys are drawn anywhere, which MultiGet() must handle.
  for (size_t i = 0; i < count; i++) {
    keys.push_back({number, distance == 0 ? worker->AnyNumber() : first + i * distance});
    texts.push_back(KeyText(keys.back().number));
    before.push_back(worker->expected().Load(keys.back()));
  }
  for (const std::string& text : texts) slices.emplace_back(text);
  std::vector<PinnableSlice> values(count);
  std::vector<Status> statuses(count);
  worker->db()->MultiGet(DrawReadOptions(worker), family.get(), count, slices.data(), values.data(),
                         statuses.data());
  for (size_t i = 0; i < count; i++) {
    CheckFound(keys[i], before[i], worker->expected().Load(keys[i]),
               FoundBy(statuses[i], values[i], "MultiGet"), "MultiGet");
  }
}

// Mirrored keys are written by one batch, so a snapshot has the same event in all families.
void GetMirrored(Worker* worker) {
  assert(worker != nullptr);
  const KeySpace& space = worker->space();
  const uint64_t number =
      space.mirrored_begin() + worker->random.Uniform(space.free_begin() - space.mirrored_begin());
  ReadOptions options = DrawReadOptions(worker);
  options.snapshot = worker->db()->GetSnapshot();
  // The generation that family 0 shows; nullopt if the key is absent there.
  std::optional<uint32_t> of_first;
  // The volatile family has no mirrored keys, since dropping it would remove them from one family
  // only.
  for (int i = 0; i < worker->db().volatile_family(); i++) {
    const FamilyUse family = worker->db().Use(i);
    const KeyState before = worker->expected().Load({i, number});
    PinnableSlice value;
    const Status status = worker->db()->Get(options, family.get(), KeyText(number), &value);
    const auto found = FoundBy(status, value, "Get of a mirrored key");
    std::optional<uint32_t> generation;
    if (found) generation = EventOf({i, number}, Slice(*found), "Get of a mirrored key").generation;
    if (i == 0) of_first = generation;
    if (generation == of_first) continue;
    Fail(StrCat("key ", number, " is written by one batch in all families; at a snapshot family 0 ",
                "has generation ", of_first.value_or(0), ", family ", i, " ",
                generation.value_or(0), " (0: no such key); expected ", TextOf(before)));
  }
  worker->db()->ReleaseSnapshot(options.snapshot);
}

void TakeOrReleaseSnapshot(Worker* worker) {
  assert(worker != nullptr);
  const bool takes = worker->snapshots.empty() ||
                     (worker->snapshots.size() < kMaxSnapshots && worker->random.OneIn(2));
  takes ? TakeSnapshot(worker) : CheckAndReleaseSnapshot(worker);
}

void ReleaseAllSnapshots(Worker* worker) {
  assert(worker != nullptr);
  // A thread must not end with a snapshot, which would then never be released.
  while (!worker->snapshots.empty()) CheckAndReleaseSnapshot(worker);
}

namespace {

// One entry that an iterator has shown.
struct Row {
  uint64_t number = 0;
  std::string value;
};

Row RowAt(const Iterator& it, const char* call) {
  assert(it.Valid());
  const Result<uint64_t> number = NumberOfKey(it.key());
  Require(number.status(), call);
  return {number.value(), it.value().ToString()};
}

// Reads all rows of [first, first + before.size()) and returns them in key order. Fails at the
// first row that the states do not allow.
std::vector<Row> Scan(Iterator* it, const KeyId& first, const std::vector<KeyState>& before,
                      const std::vector<KeyState>& after, bool is_forward, const char* call) {
  assert(it != nullptr && before.size() == after.size());
  const size_t count = before.size();
  std::vector<Row> rows;
  // The bounds of the iterator enclose exactly the keys, so both ends are reached with these calls.
  is_forward ? it->SeekToFirst() : it->SeekToLast();
  for (size_t i = 0; i < count; i++) {
    const size_t at = is_forward ? i : count - 1 - i;
    const KeyId key{first.family, first.number + at};
    std::optional<std::string_view> value;
    // A key that the iterator has passed is absent; CheckFound() decides whether it may be.
    if (it->Valid()) {
      Row row = RowAt(*it, call);
      if (row.number == key.number) {
        rows.push_back(std::move(row));
        value = rows.back().value;
        is_forward ? it->Next() : it->Prev();
      }
    }
    CheckFound(key, before[at], after[at], value, call);
  }
  Require(it->status(), call);
  // A row that remains belongs to no key of the range, or stands at the wrong place.
  if (it->Valid()) {
    Fail(StrCat(call, " over keys ", first.number, " to ", first.number + count - 1, " of family ",
                first.family, ": key ", RowAt(*it, call).number, " out of order or range"));
  }
  // The rows are returned in key order, whatever the direction of the scan was.
  if (!is_forward) std::reverse(rows.begin(), rows.end());
  return rows;
}

// Fails unless the iterator is at the row number `at` of the scan; rows.size() means: not valid.
void CheckPosition(const Iterator& it, const std::vector<Row>& rows, size_t at, const char* step) {
  // The iterator reads at one sequence number, so a second visit must show the same value.
  Require(it.status(), step);
  if (at >= rows.size()) {
    if (it.Valid()) {
      Fail(StrCat(step, " shows key ", RowAt(it, step).number, ", but it should be at an end"));
    }
    return;
  }
  if (!it.Valid()) Fail(StrCat(step, " ends, but key ", rows[at].number, " was there"));
  const Row row = RowAt(it, step);
  if (row.number != rows[at].number || row.value != rows[at].value) {
    Fail(StrCat(step, " shows key ", row.number, ", but the scan found key ", rows[at].number,
                row.number == rows[at].number ? " with another value" : ""));
  }
}

// Moves the iterator randomly and compares its positions with the rows of the scan.
void MoveRandomly(Worker* worker, Iterator* it, const KeyId& first, uint64_t count,
                  const std::vector<Row>& rows) {
  assert(worker != nullptr && it != nullptr && count > 0);
  size_t at = rows.size();  // not positioned
  for (int step = 0; step < 20; step++) {
    const uint64_t choice = worker->random.Uniform(6);
    const uint64_t target = first.number + worker->random.Uniform(count);
    // Next() and Prev() are only allowed on a valid iterator.
    if (at < rows.size() && choice < 2) {
      it->Next();
      CheckPosition(*it, rows, ++at, "Next");
    } else if (at < rows.size() && choice < 4) {
      it->Prev();
      // Before the first row the iterator is not valid, which rows.size() stands for.
      at = at == 0 ? rows.size() : at - 1;
      CheckPosition(*it, rows, at, "Prev");
    } else if (choice % 2 == 0) {
      it->Seek(KeyText(target));
      // The expected position is searched without the help of the iterator.
      for (at = 0; at < rows.size() && rows[at].number < target;) at++;
      CheckPosition(*it, rows, at, "Seek");
    } else {
      it->SeekForPrev(KeyText(target));
      for (at = rows.size(); at > 0 && rows[at - 1].number > target;) at--;
      at = at == 0 ? rows.size() : at - 1;
      CheckPosition(*it, rows, at, "SeekForPrev");
    }
  }
}

}  // namespace

void CheckScan(Iterator* it, const KeyId& first, const std::vector<KeyState>& before,
               const std::vector<KeyState>& after, bool is_forward, const char* call) {
  assert(it != nullptr);
  (void)Scan(it, first, before, after, is_forward, call);
}

void Iterate(Worker* worker) {
  assert(worker != nullptr);
  const int number = worker->AnyFamily();
  const uint64_t count = 1 + worker->random.Uniform(100);
  const KeyId first{number, worker->random.Uniform(worker->space().keys - count)};
  const FamilyUse family = worker->db().Use(number);
  // Declared before the iterator, which refers to the bounds until it is deleted.
  const std::string lower = KeyText(first.number), upper = KeyText(first.number + count);
  const Slice lower_bound(lower), upper_bound(upper);
  ReadOptions options;
  options.iterate_lower_bound = &lower_bound;
  options.iterate_upper_bound = &upper_bound;
  // Without one of these, a prefix extractor may hide keys whose prefix differs from that of the
  // target.
  (worker->random.OneIn(2) ? options.total_order_seek : options.auto_prefix_mode) = true;
  options.pin_data = worker->random.OneIn(4);
  options.readahead_size = worker->random.OneIn(4) ? 16'384 : 0;
  options.async_io = worker->random.OneIn(4);
  options.fill_cache = !worker->random.OneIn(4);
  // The iterator is created between these two, so each of its rows lies between their states.
  const std::vector<KeyState> before = worker->LoadRange(first, count);
  const std::unique_ptr<Iterator> it(worker->db()->NewIterator(options, family.get()));
  const std::vector<KeyState> after = worker->LoadRange(first, count);
  const std::vector<Row> rows =
      Scan(it.get(), first, before, after, worker->random.OneIn(2), "a scan");
  MoveRandomly(worker, it.get(), first, count, rows);
}

}  // namespace ashlar::stress
