// SPDX-License-Identifier: Apache-2.0
//
// The table of families is copied on every change and published in one atomic pointer.
#include "db/column_family/family_set.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <set>
#include <utility>

#include "memtable/memtable.h"
#include "util/invariants.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {

namespace {

// Holds the set's reference on a family that leaves. Allocated before the family leaves, so that
// nothing can fail afterwards.
struct LeavingFamily : EpochRetired {
  explicit LeavingFamily(ColumnFamilyData* f) : family(f) {}
  ColumnFamilyData* const family;
};

void Retire(std::unique_ptr<LeavingFamily> leaving) {
  EpochRetire(leaving.release(), [](EpochRetired* object) {
    const std::unique_ptr<LeavingFamily> retired(static_cast<LeavingFamily*>(object));
    retired->family->Unref();
  });
}

}  // namespace

FamilySet::FamilySet() : table_(new Table()) {}

FamilySet::~FamilySet() {
  Clear();
  delete table_.load(std::memory_order_acquire);
}

void FamilySet::Clear() {
  for (ColumnFamilyData*& family : table_.load(std::memory_order_acquire)->by_id) {
    if (ColumnFamilyData* const last = std::exchange(family, nullptr)) last->Unref();
  }
}

std::unique_ptr<FamilySet::Table> FamilySet::CopyTable() const {
  auto copy = std::make_unique<Table>();
  copy->by_id = table_.load(std::memory_order_acquire)->by_id;
  return copy;
}

void FamilySet::Publish(std::unique_ptr<Table> table) {
  table->supports_snapshots =
      std::all_of(table->by_id.begin(), table->by_id.end(), [](const ColumnFamilyData* family) {
        return family == nullptr || family->mem()->SupportsSnapshots();
      });
  Table* old = table_.exchange(table.release(), std::memory_order_acq_rel);
  assert(old != nullptr);
  EpochRetire(old, [](EpochRetired* object) { delete static_cast<Table*>(object); });
}

void FamilySet::Add(FamilyRef family) {
  assert(family);
  assert(family->super_version() != nullptr);  // readers may find it at once
  auto table = CopyTable();
  if (table->by_id.size() <= family->id()) table->by_id.resize(family->id() + 1);
  assert(table->by_id[family->id()] == nullptr);
  table->by_id[family->id()] = family.get();
  if (family->comparator().stamp_bytes() != 0) has_stamped_.store(true, std::memory_order_relaxed);
  Publish(std::move(table));
  family.Release();
  if constexpr (kChecksInvariants) StopUnless(CheckInvariants());
}

void FamilySet::Remove(uint32_t id) {
  auto table = CopyTable();
  assert(id < table->by_id.size());
  assert(table->by_id[id] != nullptr);
  auto leaving = std::make_unique<LeavingFamily>(std::exchange(table->by_id[id], nullptr));
  while (!table->by_id.empty() && table->by_id.back() == nullptr) table->by_id.pop_back();
  Publish(std::move(table));
  assert(Find(id) == nullptr);
  Retire(std::move(leaving));
  if constexpr (kChecksInvariants) StopUnless(CheckInvariants());
}

ColumnFamilyData* FamilySet::FindByName(const std::string& name) const {
  for (ColumnFamilyData* family : All()) {
    if (family->name() == name) return family;
  }
  return nullptr;
}

std::vector<ColumnFamilyData*> FamilySet::All() const {
  std::vector<ColumnFamilyData*> all;
  for (ColumnFamilyData* family : table_.load(std::memory_order_acquire)->by_id) {
    if (family != nullptr) all.push_back(family);
  }
  return all;
}

Status FamilySet::CheckInvariants() const {
  const std::vector<ColumnFamilyData*>& table = table_.load(std::memory_order_acquire)->by_id;
  std::set<std::string> names;
  for (size_t id = 0; id < table.size(); id++) {
    const ColumnFamilyData* family = table[id];
    if (family == nullptr) continue;
    if (family->id() != id)
      return Status::Corruption("a column family is not at the index of its id", DebugString());
    if (!names.insert(family->name()).second) {
      return Status::Corruption("two column families have the same name", DebugString());
    }
    if (family->super_version() == nullptr) {
      return Status::Corruption("a column family has no super version", DebugString());
    }
  }
  return Status::OK();
}

std::string FamilySet::DebugString() const {
  std::string out;
  for (const ColumnFamilyData* family : All()) out += family->DebugString();
  return out;
}

std::vector<FamilyRef> FamilySet::PinAll() const {
  std::vector<FamilyRef> all;
  for (ColumnFamilyData* family : All()) all.emplace_back(family);
  return all;
}

}  // namespace ashlar
