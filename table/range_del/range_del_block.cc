// SPDX-License-Identifier: Apache-2.0
//
// Two passes: the first checks and measures, the second copies the keys into one piece of memory.
#include "table/range_del/range_del_block.h"

#include <cassert>
#include <cstring>
#include <utility>

#include "table/format/plain_block.h"
#include "table/format/properties.h"  // kNoGlobalSeqno
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Checks the trailer and the kind of one entry.
Status CheckTombstone(const PlainBlockParser& entry) {
  if (entry.key().size() < kTrailerBytes) {
    return Status::Corruption(StrCat("block byte ", entry.value_offset(), ": a key of ",
                                     entry.key().size(), " bytes has no room for a trailer"));
  }
  const ValueType type = TrailerType(ExtractTrailer(entry.key()));
  if (type == kTypeRangeDeletion) return Status::OK();
  return Status::Corruption(StrCat("block byte ", entry.value_offset(), ": kind expected ",
                                   int{kTypeRangeDeletion}, ", found ", int{type}));
}

// Copies `bytes` to *end, advances it, and returns the copy.
Slice Copy(const Slice& bytes, char** end) {
  assert(end != nullptr);
  char* const begin = *end;
  if (!bytes.empty()) std::memcpy(begin, bytes.data(), bytes.size());
  *end += bytes.size();
  return Slice(begin, bytes.size());
}

}  // namespace

// Parses twice: the first pass checks the entries and measures them, so that the second one can
// copy all keys into one allocation. The result does not refer to `contents`.
Result<StoredTombstones> ParseRangeDelBlock(const Slice& contents, SequenceNumber global_seqno) {
  size_t bytes = 0, count = 0;
  PlainBlockParser measured(contents);
  for (; measured.Next(); count++) {
    RETURN_IF_ERROR(CheckTombstone(measured));
    bytes += measured.key().size() - kTrailerBytes + measured.value().size();
  }
  RETURN_IF_ERROR(measured.status());
  StoredTombstones result;
  result.tombstones.reserve(count);
  const auto memory = std::make_shared<std::vector<char>>(bytes);
  char* end = memory->data();
  for (PlainBlockParser parser(contents); parser.Next();) {
    const SequenceNumber stored = TrailerSeqno(ExtractTrailer(parser.key()));
    const Slice begin_key = Copy(ExtractUserKey(parser.key()), &end);
    const Slice end_key = Copy(parser.value(), &end);
    result.tombstones.push_back(
        {begin_key, end_key, global_seqno == kNoGlobalSeqno ? stored : global_seqno});
  }
  assert(end == memory->data() + bytes);
  assert(result.tombstones.size() == count);
  result.memory = memory;
  result.memory_bytes = bytes;
  return result;
}

}  // namespace ashlar
