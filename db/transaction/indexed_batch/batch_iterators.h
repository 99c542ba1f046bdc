// SPDX-License-Identifier: Apache-2.0
//
// The choice of the iterator over an indexed batch, and its answer to misuse. Threads: as readers
// of the batch.
#pragma once

#include <memory>

#include "ashlar/db.h"
#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/status.h"
#include "db/transaction/indexed_batch/indexed_batch.h"

namespace ashlar {

// Shows the batch on top of a database iterator of the same family. A null handle stands for the
// default family. `bounds` limit the keys of the batch (null: no bounds); the base has its own
// bounds. Both must outlive the iterator. If one of the two has prefix_same_as_start, the rows of
// both end with the prefix that was sought.
std::unique_ptr<Iterator> NewBatchIterator(IndexedBatch* batch, ColumnFamilyHandle* family,
                                           std::unique_ptr<Iterator> base,
                                           const ReadOptions* bounds);

// The status after a step of an iterator that is not valid.
Status RefuseStep(const char* step);

}  // namespace ashlar
