// SPDX-License-Identifier: Apache-2.0
//
// One key at a time; commits that check many at once ask the engine themselves.
#include "db/transaction/validation/key_conflicts.h"

#include <cassert>

#include "db/db_impl.h"
#include "db/read/latest_seqno.h"
#include "db/transaction/visibility/undecided.h"
#include "util/result.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {

// In-place updates overwrite a value without a new sequence number. Conflicts are found by sequence
// numbers, so such a write would go unnoticed.
Status CheckFamilies(const std::vector<ColumnFamilyDescriptor>& families) {
  for (const ColumnFamilyDescriptor& family : families) {
    const Comparator* const comparator = family.options.comparator;
    if (comparator != nullptr && comparator->timestamp_size() != 0) {
      return Status::NotSupported(StrCat("transactions: column family ", family.name,
                                         " has timestamps, for which they are not built"));
    }
    if (!family.options.inplace_update_support) continue;
    return Status::NotSupported(StrCat("transactions: column family ", family.name,
                                       " has inplace_update_support, which hides conflicts"));
  }
  return Status::OK();
}

Status CheckUnchanged(DBImpl* db, uint32_t family, const Slice& key, SequenceNumber since,
                      const DecidedVersions::Own* own) {
  assert(db != nullptr);
  SeqnoQuery query{.key = key, .above = since, .own = own};
  const UndecidedTable& undecided = db->undecided();
  if (undecided.is_used()) {
    const EpochGuard guard;
    // A version that the snapshot does not see may have a smaller number than the snapshot, if it
    // was written before and decided after. So the search begins below the first such version.
    query.above = undecided.Load()->FirstHiddenAt(since) - 1;
  }
  RETURN_IF_ERROR(db->FindLatestSeqnos(ReadOptions(), family, {&query, 1}));
  if (query.latest == 0) return Status::OK();
  // Found only because of the lower bound. It is no conflict if the snapshot sees it.
  if (query.latest <= since) {
    const EpochGuard guard;
    if (DecidedVersions(undecided.Load(), since).IsVisible(query.latest)) return Status::OK();
  }
  return ConflictOn(*db, family, key, since, query.latest);
}

Status ConflictOn(const DBImpl& db, uint32_t family, const Slice& key, SequenceNumber since,
                  SequenceNumber found) {
  assert(found != 0);
  return Status::Busy(StrCat("write conflict: key ", KeyInError(key), " of column family ",
                             db.NameOfFamily(family), " was written with sequence number ", found,
                             ", after ", since));
}

}  // namespace ashlar
