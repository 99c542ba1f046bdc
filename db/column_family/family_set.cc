// SPDX-License-Identifier: Apache-2.0
//
// The table of families is copied on every change and published in one atomic pointer.
#include "db/column_family/family_set.h"

#include <cassert>
#include <memory>
#include <set>

#include "util/epoch.h"
#include "util/invariants.h"
#include "util/str_cat.h"

namespace ashlar {

FamilySet::FamilySet() : table_(new Table()) {}

FamilySet::~FamilySet() {
  Clear();
  delete table_.load(std::memory_order_acquire);
}

void FamilySet::Clear() {
  const std::vector<ColumnFamilyData*> families = All();
  Publish(new Table());
  for (ColumnFamilyData* family : families) {
    EpochRetire(family, [](void* p) { static_cast<ColumnFamilyData*>(p)->Unref(); });
  }
}

void FamilySet::Publish(Table* table) {
  const Table* old = table_.exchange(table, std::memory_order_acq_rel);
  EpochRetire(const_cast<Table*>(old), [](void* p) { delete static_cast<Table*>(p); });
}

void FamilySet::Add(FamilyRef family) {
  assert(family && family->super_version() != nullptr);  // readers may find it at once
  auto table = std::make_unique<Table>(*table_.load(std::memory_order_acquire));
  if (table->size() <= family->id()) table->resize(family->id() + 1);
  assert((*table)[family->id()] == nullptr);
  (*table)[family->id()] = family.get();
  Publish(table.release());
  family.Release();
  if constexpr (kChecksInvariants) StopUnless(CheckInvariants());
}

void FamilySet::Remove(uint32_t id) {
  auto table = std::make_unique<Table>(*table_.load(std::memory_order_acquire));
  assert(id < table->size() && (*table)[id] != nullptr);
  ColumnFamilyData* family = (*table)[id];
  (*table)[id] = nullptr;
  Publish(table.release());
  EpochRetire(family, [](void* p) { static_cast<ColumnFamilyData*>(p)->Unref(); });
}

ColumnFamilyData* FamilySet::FindByName(const std::string& name) const {
  for (ColumnFamilyData* family : All()) {
    if (family->name() == name) return family;
  }
  return nullptr;
}

std::vector<ColumnFamilyData*> FamilySet::All() const {
  std::vector<ColumnFamilyData*> all;
  for (ColumnFamilyData* family : *table_.load(std::memory_order_acquire)) {
    if (family != nullptr) all.push_back(family);
  }
  return all;
}

Status FamilySet::CheckInvariants() const {
  const Table& table = *table_.load(std::memory_order_acquire);
  std::set<std::string> names;
  for (size_t id = 0; id < table.size(); id++) {
    const ColumnFamilyData* family = table[id];
    if (family == nullptr) continue;
    if (family->id() != id)
      return Status::Corruption("a family at another's number", DebugString());
    if (!names.insert(family->name()).second) {
      return Status::Corruption("two families of one name", DebugString());
    }
    if (family->super_version() == nullptr) {
      return Status::Corruption("a family that readers cannot read", DebugString());
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

std::vector<ColumnFamilyData*> FamilySet::RefAll() const {
  std::vector<ColumnFamilyData*> all = All();
  for (ColumnFamilyData* family : all) family->Ref();
  return all;
}

}  // namespace ashlar
