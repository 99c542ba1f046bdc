// SPDX-License-Identifier: Apache-2.0
//
// Prepares a database for options that do not fit its present levels.
#pragma once

#include <string>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/options.h"
#include "ashlar/status.h"

namespace ashlar {

struct ColumnFamilyDescriptor;

// Compacts a closed database until its tables fit a compaction style, num_levels and
// level_compaction_dynamic_level_bytes of the new options. It opens the database with the old
// options, may rewrite all data, and takes until that is done. Afterwards open it with the new
// options.
//
//   to universal   nothing, unless there are fewer levels: then everything goes to the last one
//   to level       everything goes to level 1, or with dynamic level sizes to the last level
//   to FIFO        everything goes to one table of level 0
//   from FIFO      nothing
//
// The form with families gets all families of the database, with the same names in the same order
// in both lists, and migrates each. The new options open the database for reading before anything
// is compacted, and for writing in the last step, so a database that they do not fit is an error.
//
// InvalidArgument: the lists differ; or the new style is FIFO and its limit (max_data_files_size if
// it is set, else max_table_files_size) is smaller than the data, which the next compaction would
// delete. NoSpace: less free space than the largest family needs twice. Other errors are those of
// opening and compacting. After an error the database is intact, and can be opened with the old
// options, unless these have fewer levels than the new ones. Threads: one, and no other process
// uses the database.
ASHLAR_EXPORT Status OptionChangeMigration(const std::string& dbname, const Options& old_opts,
                                           const Options& new_opts);
ASHLAR_EXPORT Status OptionChangeMigration(const std::string& dbname, const DBOptions& old_db_opts,
                                           const std::vector<ColumnFamilyDescriptor>& old_cf_descs,
                                           const DBOptions& new_db_opts,
                                           const std::vector<ColumnFamilyDescriptor>& new_cf_descs);

}  // namespace ashlar
