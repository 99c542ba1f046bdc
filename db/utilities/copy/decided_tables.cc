// SPDX-License-Identifier: Apache-2.0
//
// A decision that became visible after the object was made counts as none: the tables may have a
// part of the data only.
#include "db/utilities/copy/decided_tables.h"

#include <algorithm>
#include <atomic>
#include <cassert>

#include "db/db_impl.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {

DecidedTables::DecidedTables(DB* db)
    : db_(static_cast<const DBImpl*>(db->GetRootDB())), visible_(db_->GetLatestSequenceNumber()) {}

Status DecidedTables::Check(const char* what) const {
  assert(what != nullptr);
  if (!db_->undecided().is_used()) return Status::OK();
  const EpochGuard guard;
  const UndecidedList& list = *db_->undecided().Load();
  const bool are_decided =
      list.forgotten_up_to() <= visible_ &&
      std::all_of(list.entries().begin(), list.entries().end(), [this](const UndecidedRef& entry) {
        const SequenceNumber decided_at = entry->decided_at.load(std::memory_order_acquire);
        return decided_at != 0 && decided_at <= visible_;
      });
  if (are_decided) return Status::OK();
  return Status::Busy(
      StrCat(what, ": transactions whose data may be in tables are not decided, and without the ",
             "logs it would be visible: decide them first"));
}

}  // namespace ashlar
