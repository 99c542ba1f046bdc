// SPDX-License-Identifier: Apache-2.0
//
// The timestamps of --user_timestamp_size: with it, keys of all families have them. Without it
// nothing here has an effect. Threads: any number, but each has its own ReadStamp.
#pragma once

#include <string>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "ashlar/slice.h"
#include "ashlar/write_batch.h"

namespace ashlar {
namespace bench {

// Whether the value of the flag is supported.
bool IsTimestampSizeValid();
// Gives the families the comparator of the flag.
void SetComparator(ColumnFamilyOptions* options);

// Gives all updates of the batch the next timestamp. They were added with handles of families.
// Timestamps are the microseconds of the clock; each one is later than all before it, so that no
// two writes share one.
void StampBatch(WriteBatch* batch);
// Puts one pair with the next timestamp.
Status PutStamped(DB* db, const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                  const Slice& value);

// The timestamp of reads. The options refer to this object, so it outlives all reads with them.
class ReadStamp {
 public:
  // Reads with `options` are at this moment.
  explicit ReadStamp(ReadOptions* options);
  ReadStamp(const ReadStamp&) = delete;
  ReadStamp& operator=(const ReadStamp&) = delete;

  // Reads are at this moment from now on; no iterator of before may be in use.
  void MoveToNow();

 private:
  std::string bytes_;
  Slice slice_;
};

}  // namespace bench
}  // namespace ashlar
