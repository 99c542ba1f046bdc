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
  std::vector<PessimisticTransaction*> Prepared() const;
  // Those that the database made.
  std::vector<PessimisticTransaction*> Shells() const;

  // Of those that hold updates or are prepared.
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
