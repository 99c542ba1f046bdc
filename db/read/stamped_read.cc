// SPDX-License-Identifier: Apache-2.0
//
// The two timestamps are checked on their own, since the general checks refuse them.
#include "db/read/stamped_read.h"

#include <cassert>

#include "db/options/options_check.h"
#include "db/read/stamped_iterator.h"
#include "db/read/super_version.h"
#include "db/version/version.h"
#include "memtable/memtable.h"
#include "table/iterator/stamped_lookup.h"
#include "util/result.h"
#include "util/threads/epoch.h"

namespace ashlar {

Status CheckStampedRead(const ReadOptions& options, const SuperVersion& super_version) {
  RETURN_IF_ERROR(CheckStampedReadOptionsSupported(options));
  return CheckReadTimestamp(super_version.version()->comparator(), options,
                            super_version.full_history_ts_low());
}

Status CheckStampedIterator(const ReadOptions& options, const SuperVersion& super_version) {
  ReadOptions rest = options;
  rest.timestamp = rest.iter_start_ts = nullptr;
  RETURN_IF_ERROR(CheckIteratorOptionsSupported(rest));
  RETURN_IF_ERROR(CheckIteratorFits(options, super_version.options()));
  return CheckStampedRead(options, super_version);
}

ReadOptions StampedPointOptions(const ReadOptions& options) {
  ReadOptions point = options;
  point.iterate_lower_bound = point.iterate_upper_bound = point.iter_start_ts = nullptr;
  point.max_skippable_internal_keys = 0;
  point.prefix_same_as_start = point.tailing = false;
  point.table_filter = nullptr;
  point.readahead_size = 0;
  point.async_io = point.adaptive_readahead = false;
  return point;
}

StampedRead::StampedRead(const SuperVersion& super_version, const ReadOptions& options,
                         StampedLookup* lookup)
    : super_version_(super_version),
      options_(options),
      lookup_(lookup),
      tables_(*super_version.version(), options, lookup) {}

bool StampedRead::RunInEpoch(bool skips_memtables) {
  assert(InEpoch());
  if (!skips_memtables) SearchMemTables();
  if (lookup_->has_given_up() || options_.read_tier == kMemtableTier) return true;
  return tables_.RunInEpoch();
}

void StampedRead::SearchMemTables() {
  super_version_.mem()->GetStamped(lookup_);
  for (const MemTable* memtable : super_version_.immutables()) {
    if (lookup_->has_given_up()) return;
    memtable->GetStamped(lookup_);
  }
}

}  // namespace ashlar
