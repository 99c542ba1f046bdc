// SPDX-License-Identifier: Apache-2.0
//
// RangeTombstone: one DeleteRange as it is stored, before fragmenting.
#pragma once

#include "ashlar/slice.h"
#include "ashlar/types.h"

namespace ashlar {

// Hides the entries of the user keys in [begin, end) whose sequence numbers are below `seqno`. One
// whose end is not behind its begin hides nothing. Borrows the keys' bytes.
struct RangeTombstone {
  Slice begin;
  Slice end;
  SequenceNumber seqno = 0;
};

}  // namespace ashlar
