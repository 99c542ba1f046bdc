// SPDX-License-Identifier: Apache-2.0
//
// StageInOrder is shared by the two sinks: it copies a record to its place in memory and makes its
// headers visible in the order of the log.
#pragma once

#include <utility>
#include <vector>

#include "db/wal/log_format.h"
#include "db/wal/staging_order.h"
#include "db/wal/wal_sink.h"

namespace ashlar {

// `memory_at(offset)` returns the memory for this file offset, contiguous to the end of its block.
// Hot: a record that lies in one block has one header, for which nothing is allocated.
template <typename MemoryAt>
inline void StageInOrder(const LogFraming& framing, const WalSink::Range& range, const Slice& head,
                         const Slice& body, const MemoryAt& memory_at, StagingOrder* order) {
  const bool is_whole = range.offset / kLogBlockBytes == (range.end - 1) / kLogBlockBytes;
  if (is_whole) [[likely]] {
    // The header is not copied: a copy would read it in wider pieces than it was just written in,
    // for which a processor waits until the writes have left its store buffer.
    FrameRecord(framing, range.offset, head, body, memory_at, [&](const LogHeaderStore& header) {
      order->Complete(range.offset, range.end, header);
    });
    return;
  }
  std::vector<LogHeaderStore> headers;
  FrameRecord(framing, range.offset, head, body, memory_at,
              [&](const LogHeaderStore& store) { headers.push_back(store); });
  order->Complete(range.offset, range.end, std::move(headers));
}

}  // namespace ashlar
