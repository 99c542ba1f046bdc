// SPDX-License-Identifier: Apache-2.0
//
// Calls of DB under names from the time before they were members of DB. See db.h.
#pragma once

#include "ashlar/db.h"

namespace ashlar::experimental {

inline Status SuggestCompactRange(DB* db, ColumnFamilyHandle* column_family, const Slice* begin,
                                  const Slice* end) {
  return db == nullptr ? Status::InvalidArgument("SuggestCompactRange: db is a null pointer")
                       : db->SuggestCompactRange(column_family, begin, end);
}
// For the default column family.
inline Status SuggestCompactRange(DB* db, const Slice* begin, const Slice* end) {
  return SuggestCompactRange(db, db == nullptr ? nullptr : db->DefaultColumnFamily(), begin, end);
}
inline Status PromoteL0(DB* db, ColumnFamilyHandle* column_family, int target_level = 1) {
  return db == nullptr ? Status::InvalidArgument("PromoteL0: db is a null pointer")
                       : db->PromoteL0(column_family, target_level);
}

}  // namespace ashlar::experimental
