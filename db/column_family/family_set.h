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

  // The set takes over the reference. No other family has this id.
  void Add(FamilyRef family) REQUIRES(db_mutex);
  // Removes the family. The set's reference is released when no reader can hold a pointer that it
  // found in the set.
  void Remove(uint32_t id) REQUIRES(db_mutex);
  // Empties the set at the end, when no thread uses it any more. Allocates nothing.
  void Clear() REQUIRES(db_mutex);

  // Null if there is no such family. Within an epoch, or with the DB mutex held.
  ColumnFamilyData* Find(uint32_t id) const {
    const Table* table = table_.load(std::memory_order_acquire);
    return id < table->by_id.size() ? table->by_id[id] : nullptr;
  }
  // Whether the memtables of all families support reads of older states. Within an epoch.
  bool SupportSnapshots() const {
    return table_.load(std::memory_order_acquire)->supports_snapshots;
  }
  // Whether the keys of any family had timestamps since the database was opened. Any thread.
  bool has_stamped() const { return has_stamped_.load(std::memory_order_relaxed); }
  ColumnFamilyData* FindByName(const std::string& name) const REQUIRES(db_mutex);
  ColumnFamilyData* default_family() const { return Find(0); }

  // Corruption if a family is not at the index of its id, or if two families have the same name.
  Status CheckInvariants() const REQUIRES(db_mutex);
  std::string DebugString() const REQUIRES(db_mutex);

  // In the order of their ids.
  std::vector<ColumnFamilyData*> All() const REQUIRES(db_mutex);
  // All families like All(), with a reference on each: the families stay alive without the mutex.
  std::vector<FamilyRef> PinAll() const REQUIRES(db_mutex);

 private:
  // An EpochRetired, so that retiring allocates nothing: a table that is published cannot fail any
  // more.
  struct Table : EpochRetired {
    std::vector<ColumnFamilyData*> by_id;  // null where no family has the id
    bool supports_snapshots = true;
  };
  std::unique_ptr<Table> CopyTable() const REQUIRES(db_mutex);
  void Publish(std::unique_ptr<Table> table) REQUIRES(db_mutex);

  // Written under the DB mutex (release); replaced tables are retired through the epoch.
  std::atomic<Table*> table_;
  // Set under the DB mutex before the family can be found; never reset. A call that names a family
  // has its handle, so it sees the flag of that family without any order.
  std::atomic<bool> has_stamped_{false};
};

}  // namespace ashlar
