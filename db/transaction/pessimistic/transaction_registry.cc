// SPDX-License-Identifier: Apache-2.0
//
// A set and a map under one mutex, which no read or write of a transaction takes.
#include "db/transaction/pessimistic/transaction_registry.h"

#include <cassert>

#include "db/transaction/pessimistic/pessimistic_transaction.h"

namespace ashlar {

void TransactionRegistry::Add(PessimisticTransaction* transaction) {
  assert(transaction != nullptr);
  MutexLock lock(&mutex_);
  all_.insert(transaction);
}

void TransactionRegistry::Remove(PessimisticTransaction* transaction) {
  assert(transaction != nullptr);
  MutexLock lock(&mutex_);
  all_.erase(transaction);
}

bool TransactionRegistry::Register(const TransactionName& name,
                                   PessimisticTransaction* transaction) {
  assert(transaction != nullptr);
  MutexLock lock(&mutex_);
  return names_.emplace(name, transaction).second;
}

void TransactionRegistry::Unregister(const TransactionName& name) {
  MutexLock lock(&mutex_);
  names_.erase(name);
}

void TransactionRegistry::Replace(const TransactionName& name,
                                  PessimisticTransaction* transaction) {
  MutexLock lock(&mutex_);
  names_[name] = transaction;
}

PessimisticTransaction* TransactionRegistry::Find(const TransactionName& name) const {
  MutexLock lock(&mutex_);
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

std::vector<PessimisticTransaction*> TransactionRegistry::Prepared() const {
  MutexLock lock(&mutex_);
  std::vector<PessimisticTransaction*> prepared;
  for (const auto& [name, transaction] : names_) {
    if (transaction->GetState() == Transaction::PREPARED) prepared.push_back(transaction);
  }
  return prepared;
}

std::vector<PessimisticTransaction*> TransactionRegistry::Shells() const {
  MutexLock lock(&mutex_);
  std::vector<PessimisticTransaction*> shells;
  for (PessimisticTransaction* transaction : all_) {
    if (transaction->is_shell()) shells.push_back(transaction);
  }
  return shells;
}

// Reads pictures of the transactions, which their threads update without this mutex, so that the
// totals may be a little old.
TransactionRegistry::Totals TransactionRegistry::GetTotals() const {
  MutexLock lock(&mutex_);
  Totals totals;
  for (const PessimisticTransaction* transaction : all_) {
    const PessimisticTransaction::Picture picture = transaction->GetPicture();
    // It has no key yet, so it does not count as open.
    if (picture.begin_micros == 0) continue;
    totals.open++;
    totals.batch_bytes += picture.batch_bytes;
    if (totals.oldest_micros == 0 || picture.begin_micros < totals.oldest_micros) {
      totals.oldest_micros = picture.begin_micros;
    }
  }
  for (const auto& [name, transaction] : names_) {
    if (transaction->GetState() != Transaction::PREPARED) continue;
    totals.prepared++;
    const PessimisticTransaction::Picture picture = transaction->GetPicture();
    if (totals.prepared > 1 && picture.begin_micros >= totals.oldest_prepared_micros) continue;
    totals.oldest_prepared = name;
    totals.oldest_prepared_micros = picture.begin_micros;
    totals.oldest_prepared_log = picture.prepare_log;
  }
  return totals;
}

}  // namespace ashlar
