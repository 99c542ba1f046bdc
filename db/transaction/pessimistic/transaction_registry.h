// SPDX-License-Identifier: Apache-2.0
//
// The transactions of a TransactionDB, and the names of those that have one. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "ashlar/utilities/transaction.h"
#include "util/threads/mutex.h"

namespace ashlar {

class PessimisticTransaction;

// The registry holds pointers only. Each object enters itself in its constructor and leaves in its
// destructor, both under the mutex, so a pointer in it is valid while the mutex is held. A pointer
// that is returned is valid as long as the program keeps that transaction.
class TransactionRegistry {
 public:
  // An object comes and goes once, however often it begins anew.
  void Add(PessimisticTransaction* transaction);
  void Remove(PessimisticTransaction* transaction);

  // False: another one has the name.
  bool Register(const TransactionName& name, PessimisticTransaction* transaction);
  void Unregister(const TransactionName& name);
  // The name goes to another object.
  void Replace(const TransactionName& name, PessimisticTransaction* transaction);
  PessimisticTransaction* Find(const TransactionName& name) const;  // null: none
  // The transactions in the state PREPARED, in the order of their names.
  std::vector<PessimisticTransaction*> Prepared() const;
  // The transactions that the database made itself, and that it has to delete.
  std::vector<PessimisticTransaction*> Shells() const;

  // Sums over the transactions that hold updates or are prepared. Times are microseconds of the
  // database's clock.
  struct Totals {
    size_t open = 0;
    size_t prepared = 0;
    uint64_t batch_bytes = 0;
    uint64_t oldest_micros = 0;           // when the oldest one began; 0: there is none
    std::string oldest_prepared;          // its name; empty: there is none
    uint64_t oldest_prepared_micros = 0;  // when it began
    uint64_t oldest_prepared_log = 0;
  };
  Totals GetTotals() const;

 private:
  mutable Mutex mutex_{LockRank::kUtility};
  std::unordered_set<PessimisticTransaction*> all_ GUARDED_BY(mutex_);
  std::map<TransactionName, PessimisticTransaction*> names_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
