// SPDX-License-Identifier: Apache-2.0
//
// What transactions ask of the engine besides reads and writes.
//
// Transactions know families by their IDs, as batches do. A family may be dropped at any time, so
// each call looks the ID up again, inside an epoch or under the DB mutex.
#include <memory>
#include <span>

#include "db/db_impl.h"
#include "db/read/latest_seqno.h"
#include "db/read/read_view.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {

const Comparator* DBImpl::ComparatorOf(uint32_t family_id) const {
  const EpochGuard guard;
  const ColumnFamilyData* const family = core_.families.Find(family_id);
  return family == nullptr ? nullptr : family->comparator().user_comparator();
}

std::string DBImpl::NameOfFamily(uint32_t family_id) const {
  const EpochGuard guard;
  const ColumnFamilyData* const family = core_.families.Find(family_id);
  return family == nullptr ? StrCat("number ", family_id) : family->name();
}

// The handle holds a reference, so the family's object stays as long as the handle.
std::unique_ptr<ColumnFamilyHandle> DBImpl::HandleOf(uint32_t family_id) {
  MutexLock lock(&core_.mutex);
  ColumnFamilyData* const family = core_.families.Find(family_id);
  if (family == nullptr) return nullptr;
  return std::make_unique<FamilyHandle>(family, &core_, /*is_of_program=*/false);
}

// Memory is searched inside the epoch, without a reference. If that does not answer all queries,
// the super version is pinned before the epoch is left, because files must not be read inside an
// epoch.
Status DBImpl::FindLatestSeqnos(const ReadOptions& options, uint32_t family_id,
                                std::span<SeqnoQuery> queries) {
  EpochGuard guard;
  ColumnFamilyData* const family = core_.families.Find(family_id);
  if (family == nullptr) {
    return Status::InvalidArgument(StrCat("column family ", family_id, " was dropped"));
  }
  SuperVersion* const super_version = family->super_version();
  if (FindLatestInMemory(*super_version, queries) == 0) return Status::OK();
  const ReadView pinned(family, SuperVersionRef(super_version), kMaxSequenceNumber);
  guard.Leave();
  return FindLatestInTables(*super_version, options, queries);
}

}  // namespace ashlar
