// SPDX-License-Identifier: Apache-2.0
//
// A separator s of a block satisfies  last key of the block <= s < first key of the next one. With
// delta encoding, an entry that shares key bytes with the one before it stores only how much larger
// its block is than that one's: the offset follows, because data blocks lie back to back.
#include "table/index/index_builder.h"

#include <cassert>

#include "ashlar/comparator.h"
#include "table/format/footer.h"
#include "util/coding.h"
#include "util/internal_key.h"
#include "util/str_cat.h"

namespace ashlar {

namespace {

// Trailer of a shortened separator: before every version of its user key. RocksDB before 8 knows
// the kinds up to this one, and reads format versions up to 5.
uint64_t SeparatorTrailer(uint32_t format_version) {
  constexpr uint32_t kNewestFor78 = 5;
  const ValueType type = format_version <= kNewestFor78 ? kTypeWideColumnEntity : kValueTypeForSeek;
  return PackTrailer(kMaxSequenceNumber, type);
}

}  // namespace

IndexBuilder::IndexBuilder(const IndexBuilderOptions& options)
    : options_(options),
      has_delta_handles_(UsesDeltaEncodedHandles(options.format_version)),
      may_use_user_keys_(MayUseUserKeyIndex(options.format_version)),
      block_({.restart_interval = options.restart_interval,
              .has_value_lengths = !has_delta_handles_}) {
  assert(options_.icmp != nullptr);
}

void IndexBuilder::AddBlock(const Slice& last_key, const Slice* next_key,
                            const BlockHandle& handle) {
  assert(last_key.size() >= kTrailerBytes);
  assert(entries_.empty() || entries_.back().handle.offset < handle.offset);
  const Slice last_user_key = ExtractUserKey(last_key);
  const Comparator& comparator = *options_.icmp->user_comparator();
  scratch_.assign(last_user_key.data(), last_user_key.size());
  if (next_key != nullptr) {
    const Slice next_user_key = ExtractUserKey(*next_key);
    assert(options_.icmp->Compare(last_key, *next_key) < 0);
    if (options_.icmp->SameKeyAndTimestamp(last_user_key, next_user_key))
      may_use_user_keys_ = false;
    if (options_.shortening != IndexShortening::kNone) {
      comparator.FindShortestSeparator(&scratch_, next_user_key);
      // A comparator that answers past the next block would hide that block's keys.
      if (options_.icmp->OrderWithTimestamp(scratch_, next_user_key) >= 0) {
        scratch_.assign(last_user_key.data(), last_user_key.size());
      }
    }
  } else if (options_.shortening == IndexShortening::kSeparatorsAndLast) {
    comparator.FindShortSuccessor(&scratch_);
  }
  AppendShortened(last_key, scratch_);
  entries_.push_back({keys_.size(), handle});
  assert(options_.icmp->Compare(last_key, SeparatorAt(entries_.size() - 1)) <= 0);
}

// Takes the shortened user key only where it is worth it and really behind the block's last key.
void IndexBuilder::AppendShortened(const Slice& last_key, const std::string& shortened) {
  const Slice last_user_key = ExtractUserKey(last_key);
  if (shortened.size() <= last_user_key.size() &&
      options_.icmp->OrderWithTimestamp(last_user_key, shortened) < 0) {
    keys_.append(shortened);
    PutFixed64(&keys_, SeparatorTrailer(options_.format_version));
  } else {
    keys_.append(last_key.data(), last_key.size());
  }
}

Slice IndexBuilder::SeparatorAt(size_t i) const {
  assert(i < entries_.size());
  const size_t begin = i == 0 ? 0 : entries_[i - 1].key_end;
  return Slice(keys_.data() + begin, entries_[i].key_end - begin);
}

size_t IndexBuilder::EstimateBytes() const {
  constexpr size_t kUsualEntryOverhead = 12;  // lengths, handle, restart offset
  return keys_.size() + entries_.size() * kUsualEntryOverhead + kBlockTrailerBytes;
}

Slice IndexBuilder::Finish() {
  assert(block_.empty());
  BlockHandle previous;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const BlockHandle& handle = entries_[i].handle;
    const Slice separator = SeparatorAt(i);
    const Slice key = may_use_user_keys_ ? ExtractUserKey(separator) : separator;
    char full[kMaxBlockHandleBytes];
    const Slice value(full, static_cast<size_t>(handle.EncodeTo(full) - full));
    if (has_delta_handles_) {
      char delta[kMaxVarint64Bytes];
      const auto growth = static_cast<int64_t>(handle.size - previous.size);
      const char* delta_end = EncodeVarint64(delta, ZigZagEncode(growth));
      const bool is_chained = i > 0 && handle.offset == previous.end();
      block_.AddWithDelta(key, value, Slice(delta, static_cast<size_t>(delta_end - delta)),
                          is_chained);
    } else {
      block_.Add(key, value);
    }
    previous = handle;
  }
  return block_.Finish();
}

std::string IndexBuilder::DebugString() const {
  return StrCat("index of ", entries_.size(), " blocks, ", keys_.size(), " bytes of ",
                may_use_user_keys_ ? "user keys" : "internal keys",
                has_delta_handles_ ? ", handles by difference" : "",
                block_.entry_count() > 0 ? ", finished" : "");
}

}  // namespace ashlar
