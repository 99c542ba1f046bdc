// SPDX-License-Identifier: Apache-2.0
//
// Key/value blocks and index blocks: any bytes can be iterated over in both directions and
// searched; if neither direction meets damage, both return the same entries.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "table/block/block.h"
#include "table/block/block_cursor.h"
#include "table/block/decoded_block.h"
#include "table/index/flat_index.h"
#include "util/hash/hash.h"

namespace ashlar {
namespace {

uint64_t Digest(const Slice& key, const Slice& value) {
  return Mix64(HashBytes(key) + HashBytes(value));
}

struct Walk {
  uint64_t entries = 0;
  uint64_t digest = 0;
  bool is_damaged = false;
};

Walk WalkCursor(BlockCursor& cursor, const Block& block, bool forwards) {
  Slice key, value;
  Walk walk;
  for (bool more = forwards ? cursor.First(&key, &value) : cursor.Last(&key, &value); more;
       more = forwards ? cursor.Next(&key, &value) : cursor.Prev(&key, &value)) {
    walk.digest += Digest(key, value);
    if (++walk.entries > block.size()) std::abort();  // an entry has at least three bytes
  }
  walk.is_damaged = cursor.error() != nullptr;
  return walk;
}

Walk WalkBlock(const Block& block, const BlockKeyFormat& format, bool forwards) {
  BlockCursor cursor;
  cursor.Attach(&block, format);
  return WalkCursor(cursor, block, forwards);
}

// The decoded form of an undamaged block has the same entries.
void Decode(const Block& block, const InternalKeyComparator& icmp, const Walk& expected) {
  const DecodedBlock::Plan plan = DecodedBlock::Prepare(block, icmp.order());
  if (!plan.is_worthwhile) return;
  const auto memory = std::make_unique<uint64_t[]>(plan.memory_bytes / sizeof(uint64_t) + 1);
  DecodedBlock decoded;
  if (!DecodedBlock::Build(block, plan, icmp.order(), reinterpret_cast<char*>(memory.get()),
                           &decoded)) {
    return;
  }
  BlockCursor cursor;
  cursor.Attach(&decoded);
  const Walk forwards = WalkCursor(cursor, block, true);
  const Walk backwards = WalkCursor(cursor, block, false);
  if (forwards.digest != expected.digest || backwards.digest != expected.digest) std::abort();
  Slice key, value;
  if (!cursor.First(&key, &value)) std::abort();
  const std::string first = key.ToString();
  decoded.LowerBound(icmp, SeekTarget(Slice(first)));
}

void SearchBlock(const Block& block, const InternalKeyComparator& icmp) {
  BlockCursor cursor;
  cursor.Attach(&block, BlockKeyFormat());
  Slice key, value;
  std::vector<std::string> targets = {MakeInternalKey("", 0, kTypeValue)};
  for (bool more = cursor.First(&key, &value); more && targets.size() < 20;
       more = cursor.Next(&key, &value)) {
    targets.push_back(key.ToString());
  }
  for (const std::string& target : targets) {
    cursor.Attach(&block, BlockKeyFormat());
    if (cursor.Seek(icmp, SeekTarget(Slice(target)), &key, &value)) {
      if (icmp.Compare(key, target) < 0) std::abort();
    }
    if (!block.has_hash_index()) continue;
    const uint8_t interval = block.HashLookup(ExtractUserKey(target));
    if (interval >= Block::kHashCollision) continue;
    cursor.Attach(&block, BlockKeyFormat());
    if (cursor.SeekInInterval(icmp, interval, SeekTarget(Slice(target)), &key, &value)) {
      HashBytes(value);
    }
  }
}

void ReadIndex(const Slice& bytes, const InternalKeyComparator& icmp, uint8_t control) {
  const IndexFormat format{.has_user_keys = (control & 1) != 0,
                           .has_delta_handles = (control & 2) != 0,
                           .has_first_keys = (control & 4) != 0};
  const auto index =
      FlatIndex::Parse(bytes, {.format = format, .comparator = &icmp, .data_end = 1 << 20});
  if (!index.ok()) return;
  for (size_t i = 0; i < index.value()->size(); ++i) {
    std::string key;
    const size_t found = index.value()->Find(index.value()->UserKey(i, &key), UINT64_MAX);
    if (found > i) std::abort();
    if (!index.value()->handle(i).FitsBefore(1 << 20)) std::abort();
  }
}

void ReadAny(uint8_t control, const Slice& bytes) {
  const InternalKeyComparator icmp((control & 8) != 0 ? ReverseBytewiseComparator()
                                                      : BytewiseComparator());
  ReadIndex(bytes, icmp, control);
  Block block;
  if (!Block::Parse(bytes, &block).ok()) return;
  BlockKeyFormat format;
  format.are_internal = (control & 16) == 0;
  if (format.are_internal && (control & 32) != 0) format.global_seqno = 9;
  const Walk forwards = WalkBlock(block, format, true);
  const Walk backwards = WalkBlock(block, format, false);
  if (!forwards.is_damaged && !backwards.is_damaged &&
      (forwards.entries != backwards.entries || forwards.digest != backwards.digest)) {
    std::abort();
  }
  SearchBlock(block, icmp);
  if (!forwards.is_damaged && format.are_internal && (control & 32) == 0) {
    Decode(block, icmp, forwards);
  }
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  // The first byte chooses the kind of the rest.
  ashlar::ReadAny(data[0], ashlar::Slice(reinterpret_cast<const char*>(data + 1), size - 1));
  return 0;
}
