// SPDX-License-Identifier: Apache-2.0
//
// Calls of DB under names from the time before they were members of DB (see db.h), and a call that
// brings a MANIFEST up to date with what the file system says.
#pragma once

#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/export.h"

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

struct UpdateManifestForFilesStateOptions {
  // Record the temperatures that the file system reports for the tables. Files whose temperature it
  // does not know keep the recorded one.
  bool update_temperatures = true;
};

// Changes the MANIFEST of a database that is not open. The families must be all those of the
// database, with their cf_paths, else InvalidArgument; NotFound if there is no database, IOError if
// it is open, Corruption if its MANIFEST is damaged. A crash leaves the old MANIFEST or the new
// one.
ASHLAR_EXPORT Status UpdateManifestForFilesState(
    const DBOptions& db_opts, const std::string& db_name,
    const std::vector<ColumnFamilyDescriptor>& column_families,
    const UpdateManifestForFilesStateOptions& opts = UpdateManifestForFilesStateOptions());

}  // namespace ashlar::experimental
