// SPDX-License-Identifier: Apache-2.0
//
// PlainColumn shows a plain value as columns: one, with the empty name. It is put together when it
// is asked for, so that whoever never asks pays nothing.
//
// Threads: any, as long as they all ask about one value; see IteratorBase.
#pragma once

#include "ashlar/wide_columns.h"
#include "util/threads/mutex.h"

namespace ashlar {

class PlainColumn {
 public:
  // Valid until it is called with another value.
  const WideColumns& Of(const Slice& value) {
    MutexLock lock(&mutex_);
    const bool is_known = !columns_.empty() && columns_.front().value().data() == value.data() &&
                          columns_.front().value().size() == value.size();
    if (!is_known) columns_.assign(1, WideColumn(kDefaultWideColumnName, value));
    return columns_;
  }

 private:
  Mutex mutex_{LockRank::kLeaf};
  WideColumns columns_;  // written under the mutex, before anybody has them
};

}  // namespace ashlar
