// SPDX-License-Identifier: Apache-2.0
//
// RangeTombstone: one DeleteRange as it is stored, before it is cut into fragments.
#pragma once

#include "ashlar/slice.h"
#include "ashlar/types.h"

namespace ashlar {

// Hides the entries of user keys in [begin, end) whose sequence numbers are below `seqno`. Hides
// nothing if `end` is not behind `begin`. The keys are borrowed.
struct RangeTombstone {
  Slice begin;
  Slice end;
  SequenceNumber seqno = 0;
  // In a stamped family, whose keys end in timestamps: the timestamp of the tombstone; empty: it is
  // the one at the end of `begin`. A cut tombstone has keys with other timestamps, which mean
  // nothing.
  Slice stamp = {};
};

}  // namespace ashlar
