// SPDX-License-Identifier: Apache-2.0
//
// Operations that read single keys and batches of them, and snapshots.
#include <string>

#include "ashlar/wide_columns.h"
#include "tools/db_stress/worker.h"
#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

// The value of a read, as CheckFound() takes it; fails for a status that is neither.
std::optional<std::string_view> FoundBy(const Status& status, const PinnableSlice& value,
                                        const char* call) {
  if (status.IsNotFound()) return std::nullopt;
  Require(status, call);
  return value.ToStringView();
}

ReadOptions DrawReadOptions(Worker* worker) {
  ReadOptions options;
  options.fill_cache = !worker->random.OneIn(8);
  options.async_io = worker->random.OneIn(2);
  return options;
}

constexpr size_t kMostHeld = 4;
constexpr uint64_t kKeysOfSnapshot = 40;

std::vector<std::optional<std::string>> ReadAt(Worker* worker, const Snapshot* snapshot,
                                               const KeyId& first) {
  const FamilyUse family = worker->db().Use(first.family);
  ReadOptions options = DrawReadOptions(worker);
  options.snapshot = snapshot;
  std::vector<std::optional<std::string>> result;
  for (uint64_t i = 0; i < kKeysOfSnapshot; i++) {
    PinnableSlice value;
    const Status status =
        worker->db()->Get(options, family.get(), KeyText(first.number + i), &value);
    const auto found = FoundBy(status, value, "Get at a snapshot");
    result.emplace_back(found ? std::optional<std::string>(*found) : std::nullopt);
  }
  return result;
}

void Take(Worker* worker) {
  HeldSnapshot held;
  held.first = {worker->StableFamily(),
                worker->random.Uniform(worker->space().keys - kKeysOfSnapshot)};
  const std::vector<KeyState> before = worker->LoadRange(held.first, kKeysOfSnapshot);
  held.snapshot = worker->db()->GetSnapshot();
  const std::vector<KeyState> after = worker->LoadRange(held.first, kKeysOfSnapshot);
  held.values = ReadAt(worker, held.snapshot, held.first);
  for (size_t i = 0; i < held.values.size(); i++) {
    CheckFound({held.first.family, held.first.number + i}, before[i], after[i], held.values[i],
               "Get at a new snapshot");
  }
  worker->snapshots.push_back(std::move(held));
}

void CheckAndRelease(Worker* worker) {
  const HeldSnapshot held = std::move(worker->snapshots.front());
  worker->snapshots.pop_front();
  const auto again = ReadAt(worker, held.snapshot, held.first);
  for (size_t i = 0; i < again.size(); i++) {
    if (again[i] == held.values[i]) continue;
    Fail(StrCat("a snapshot of key ", held.first.number + i, " of family ", held.first.family,
                " showed ", held.values[i] ? HexBytes(*held.values[i]) : "nothing", ", and now ",
                again[i] ? HexBytes(*again[i]) : "nothing"));
  }
  worker->db()->ReleaseSnapshot(held.snapshot);
}

}  // namespace

void GetOne(Worker* worker) {
  const KeyId key{worker->AnyFamily(), worker->AnyNumber()};
  const FamilyUse family = worker->db().Use(key.family);
  const KeyState before = worker->expected().Load(key);
  PinnableSlice value;
  const Status status =
      worker->db()->Get(DrawReadOptions(worker), family.get(), KeyText(key.number), &value);
  CheckFound(key, before, worker->expected().Load(key), FoundBy(status, value, "Get"), "Get");
}

void GetColumns(Worker* worker) {
  const KeyId key{worker->AnyFamily(), worker->AnyNumber()};
  const FamilyUse family = worker->db().Use(key.family);
  const KeyState before = worker->expected().Load(key);
  PinnableWideColumns columns;
  const Status status =
      worker->db()->GetEntity(DrawReadOptions(worker), family.get(), KeyText(key.number), &columns);
  const KeyState after = worker->expected().Load(key);
  if (status.IsNotFound()) return CheckFound(key, before, after, std::nullopt, "GetEntity");
  Require(status, "GetEntity");
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
  const int number = worker->AnyFamily();
  const FamilyUse family = worker->db().Use(number);
  const size_t count = 1 + worker->random.Uniform(32);
  const uint64_t distance = worker->random.Uniform(3);  // 0: anywhere
  const uint64_t first = worker->random.Uniform(worker->space().keys - 2 * count);
  std::vector<KeyId> keys;
  std::vector<std::string> texts;
  std::vector<Slice> slices;
  std::vector<KeyState> before;
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

// One batch has written them: a snapshot sees the same event in all families.
void GetMirrored(Worker* worker) {
  const KeySpace& space = worker->space();
  const uint64_t number =
      space.mirrored_begin() + worker->random.Uniform(space.free_begin() - space.mirrored_begin());
  ReadOptions options = DrawReadOptions(worker);
  options.snapshot = worker->db()->GetSnapshot();
  std::optional<uint32_t> of_first;
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
                generation.value_or(0), " (0: no such key); it was ", TextOf(before)));
  }
  worker->db()->ReleaseSnapshot(options.snapshot);
}

void TakeOrReleaseSnapshot(Worker* worker) {
  const bool takes = worker->snapshots.empty() ||
                     (worker->snapshots.size() < kMostHeld && worker->random.OneIn(2));
  takes ? Take(worker) : CheckAndRelease(worker);
}

void ReleaseAllSnapshots(Worker* worker) {
  while (!worker->snapshots.empty()) CheckAndRelease(worker);
}

}  // namespace ashlar::stress
