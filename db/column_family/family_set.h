// SPDX-License-Identifier: Apache-2.0
//
// FamilySet is the set of open column families, by number and by name.
//
// Threads: Find() within an epoch, or while holding the DB mutex; everything else needs the mutex.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "db/column_family/family_ref.h"
#include "util/threads/epoch.h"

namespace ashlar {

class FamilySet {
 public:
  FamilySet();
  ~FamilySet();
  FamilySet(const FamilySet&) = delete;
  FamilySet& operator=(const FamilySet&) = delete;

  // The set keeps the reference. No family has its number yet.
  void Add(FamilyRef family) REQUIRES(db_mutex);
  // Lets go of the set's reference, after all readers that may have found it.
  void Remove(uint32_t id) REQUIRES(db_mutex);
  // At the end: nobody looks families up any more. Allocates nothing.
  void Clear() REQUIRES(db_mutex);

  ColumnFamilyData* Find(uint32_t id) const {
    const Table* table = table_.load(std::memory_order_acquire);
    return id < table->by_id.size() ? table->by_id[id] : nullptr;
  }
  // Whether the memtables of all families let older states be read. Within an epoch.
  bool SupportSnapshots() const {
    return table_.load(std::memory_order_acquire)->supports_snapshots;
  }
  ColumnFamilyData* FindByName(const std::string& name) const REQUIRES(db_mutex);
  ColumnFamilyData* default_family() const { return Find(0); }

  // Corruption if a family is not where its number says, or a name comes twice.
  Status CheckInvariants() const REQUIRES(db_mutex);
  std::string DebugString() const REQUIRES(db_mutex);

  // In order of their numbers.
  std::vector<ColumnFamilyData*> All() const REQUIRES(db_mutex);
  // The same, each with a reference.
  std::vector<FamilyRef> PinAll() const REQUIRES(db_mutex);

 private:
  // Retired without an allocation: what is published cannot fail any more.
  struct Table : EpochRetired {
    std::vector<ColumnFamilyData*> by_id;  // null where there is none
    bool supports_snapshots = true;
  };
  std::unique_ptr<Table> CopyTable() const REQUIRES(db_mutex);
  void Publish(std::unique_ptr<Table> table) REQUIRES(db_mutex);

  // Written under the DB mutex (release); replaced tables are retired through the epoch.
  std::atomic<Table*> table_;
};

}  // namespace ashlar
