// SPDX-License-Identifier: Apache-2.0
//
// Finds out which tombstone covers a key; lookups themselves need only its sequence number.
#include "table/iterator/read_trace.h"

#include <cassert>

#include "table/range_del/fragmented_tombstones.h"
#include "util/keys/internal_key.h"

namespace ashlar {

void TraceCover(const FragmentedTombstones* tombstones, const LookupKey& key, ReadTrace* trace) {
  assert(trace != nullptr);
  if (tombstones == nullptr) return;
  const SequenceNumber seqno = tombstones->MaxCoveringSeqno(key.user_key, key.snapshot());
  if (seqno == 0) return;
  const FragmentedTombstones::Fragment fragment =
      tombstones->fragment(tombstones->Find(key.user_key));
  trace->OnTombstone({.begin = fragment.begin, .end = fragment.end, .seqno = seqno});
}

}  // namespace ashlar
