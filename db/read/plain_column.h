// SPDX-License-Identifier: Apache-2.0
//
// PlainColumn shows a plain value as wide columns: a single column with the empty name. The columns
// are built at the first request, so readers that never ask for columns pay nothing.
//
// Threads: any, as long as all of them ask about the same value; see IteratorBase.
#pragma once

#include "ashlar/wide_columns.h"
#include "util/threads/mutex.h"

namespace ashlar {

class PlainColumn {
 public:
  // The result is valid until the next call with another value.
  const WideColumns& Of(const Slice& value) {
    MutexLock lock(&mutex_);
    const bool is_known = !columns_.empty() && columns_.front().value().data() == value.data() &&
                          columns_.front().value().size() == value.size();
    if (!is_known) columns_.assign(1, WideColumn(kDefaultWideColumnName, value));
    return columns_;
  }

 private:
  Mutex mutex_{LockRank::kLeaf};
  WideColumns columns_;  // written under the mutex, before a reference to it is returned
};

}  // namespace ashlar
