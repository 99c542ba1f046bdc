// SPDX-License-Identifier: Apache-2.0
//
// The functions of ashlar/explain.h. They also work through wrappers of the program around a
// database.
#include "ashlar/explain.h"

#include <cassert>

#include "ashlar/db.h"

namespace ashlar {

// Wrappers that do not know the call inherit this implementation.
Status DB::ExplainRead(ExplainedRead, const ReadOptions&, ColumnFamilyHandle*, const Slice&,
                       ReadExplanation*) {
  return Status::NotSupported("ExplainRead");
}

Status ExplainGet(DB* db, const ReadOptions& options, ColumnFamilyHandle* column_family,
                  const Slice& key, ReadExplanation* explanation) {
  assert(db != nullptr && explanation != nullptr);
  return db->ExplainRead(ExplainedRead::kGet, options, column_family, key, explanation);
}

Status ExplainSeek(DB* db, const ReadOptions& options, ColumnFamilyHandle* column_family,
                   const Slice& target, ReadExplanation* explanation) {
  assert(db != nullptr && explanation != nullptr);
  return db->ExplainRead(ExplainedRead::kSeek, options, column_family, target, explanation);
}

Status ExplainSeekForPrev(DB* db, const ReadOptions& options, ColumnFamilyHandle* column_family,
                          const Slice& target, ReadExplanation* explanation) {
  assert(db != nullptr && explanation != nullptr);
  return db->ExplainRead(ExplainedRead::kSeekForPrev, options, column_family, target, explanation);
}

}  // namespace ashlar
