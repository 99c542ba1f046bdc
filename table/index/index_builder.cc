// SPDX-License-Identifier: Apache-2.0
//
// The separator s of a block satisfies  last key of the block <= s < first key of the next block. A
// partition ends by the same rule as a data block: at its size if it were finished now or, if it is
// nearly full, when the next entry does not fit.
#include "table/index/index_builder.h"

#include <cassert>
#include <utility>

#include "ashlar/comparator.h"
#include "table/format/footer.h"
#include "table/index/uniform_keys.h"
#include "util/keys/coding.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// The trailer of a shortened separator sorts before every version of its user key. RocksDB before
// version 8 knows entry kinds only up to this one, and reads format versions up to 5.
uint64_t SeparatorTrailer(uint32_t format_version) {
  constexpr uint32_t kNewestFor78 = 5;
  const ValueType type = format_version <= kNewestFor78 ? kTypeWideColumnEntity : kValueTypeForSeek;
  return PackTrailer(kMaxSequenceNumber, type);
}

bool HasDeltaHandles(const IndexBuilderOptions& options) {
  return UsesDeltaEncodedHandles(options.format_version) && !options.has_aligned_blocks;
}

// The encoding of partitions and of the top level, which have no first keys.
IndexEncoding PartitionEncoding(const IndexBuilderOptions& options) {
  return {.restart_interval = options.restart_interval,
          .has_delta_handles = HasDeltaHandles(options)};
}

IndexEncoding EncodingOf(const IndexBuilderOptions& options) {
  IndexEncoding encoding = PartitionEncoding(options);
  encoding.has_first_keys = options.layout == IndexLayout::kFirstKeys;
  return encoding;
}

}  // namespace

IndexBuilder::IndexBuilder(const IndexBuilderOptions& options)
    : options_(options),
      has_delta_handles_(HasDeltaHandles(options)),
      may_use_user_keys_(MayUseUserKeyIndex(options.format_version)),
      user_key_partition_(PartitionEncoding(options)),
      internal_key_partition_(PartitionEncoding(options)),
      encoder_(EncodingOf(options)) {
  assert(options_.icmp != nullptr);
  assert(options_.nearly_full_partition_bytes <= options_.partition_bytes);
}

void IndexBuilder::StartBlock(const Slice& first_key) {
  if (options_.layout != IndexLayout::kFirstKeys) return;
  next_first_key_.assign(first_key.data(), first_key.size());
}

void IndexBuilder::AddBlock(const Slice& last_key, const Slice* next_key,
                            const BlockHandle& handle) {
  assert(last_key.size() >= kTrailerBytes);
  assert(entries_.empty() || entries_.back().handle.offset < handle.offset);
  const bool is_partitioned = options_.layout == IndexLayout::kPartitioned;
  // The last block of the table is added to the open partition even if that is full.
  if (is_partitioned && next_key != nullptr && IsPartitionFull(last_key, handle)) EndPartition();
  AppendSeparator(last_key, next_key);
  if (options_.layout == IndexLayout::kFirstKeys) {
    assert(options_.icmp->Compare(next_first_key_, last_key) <= 0);
    first_keys_.append(next_first_key_);
    if (next_key != nullptr) StartBlock(*next_key);
  }
  entries_.push_back({keys_.size(), first_keys_.size(), handle});
  assert(last_separator() == last_key || options_.icmp->Compare(last_key, last_separator()) <= 0);
  if (is_partitioned) Measure();
}

void IndexBuilder::AppendSeparator(const Slice& last_key, const Slice* next_key) {
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
      // If a comparator returned a separator behind the begin of the next block, keys of that block
      // would not be found.
      if (options_.icmp->OrderWithTimestamp(scratch_, next_user_key) >= 0) {
        scratch_.assign(last_user_key.data(), last_user_key.size());
      }
    }
  } else if (options_.shortening == IndexShortening::kSeparatorsAndLast) {
    comparator.FindShortSuccessor(&scratch_);
  }
  AppendShortened(last_key, scratch_);
}

// Uses the shortened user key only if it is not longer and sorts behind the last key of the block.
// A key that was not shortened is not compared with itself: the order may be a function of the
// program, and programs expect no call of it for the only key of a table.
void IndexBuilder::AppendShortened(const Slice& last_key, const std::string& shortened) {
  assert(last_key.size() >= kTrailerBytes);
  const Slice last_user_key = ExtractUserKey(last_key);
  if (shortened.size() <= last_user_key.size() && last_user_key != Slice(shortened) &&
      options_.icmp->OrderWithTimestamp(last_user_key, shortened) < 0) {
    keys_.append(shortened);
    char trailer[kTrailerBytes];
    EncodeFixed64(trailer, SeparatorTrailer(options_.format_version));
    keys_.append(trailer, sizeof(trailer));
  } else {
    keys_.append(last_key.data(), last_key.size());
  }
}

bool IndexBuilder::IsPartitionFull(const Slice& last_key, const BlockHandle& handle) const {
  assert(options_.layout == IndexLayout::kPartitioned);
  const IndexBlockEncoder& open =
      may_use_user_keys_ ? user_key_partition_ : internal_key_partition_;
  if (open.empty()) return false;
  if (is_end_requested_) return true;
  const size_t bytes = open.CurrentBytes();
  if (bytes >= options_.partition_bytes) return true;
  return bytes > options_.nearly_full_partition_bytes &&
         open.EstimateBytesWith(last_key, handle) > options_.partition_bytes;
}

void IndexBuilder::EndPartition() {
  assert(partition_ends_.empty() || partition_ends_.back() < entries_.size());
  partition_ends_.push_back(entries_.size());
  user_key_partition_.Reset();
  internal_key_partition_.Reset();
  is_end_requested_ = false;
  has_new_end_ = true;
}

void IndexBuilder::Measure() {
  assert(!entries_.empty());
  const Slice separator = last_separator();
  internal_key_partition_.Add(separator, entries_.back().handle);
  // With a user key in two blocks its separator would occur twice, and this form will not be used.
  if (may_use_user_keys_)
    user_key_partition_.Add(ExtractUserKey(separator), entries_.back().handle);
}

bool IndexBuilder::TakePartitionEnd() { return std::exchange(has_new_end_, false); }

Slice IndexBuilder::SeparatorAt(size_t i) const {
  assert(i < entries_.size());
  const size_t begin = i == 0 ? 0 : entries_[i - 1].key_end;
  return Slice(keys_.data() + begin, entries_[i].key_end - begin);
}

Slice IndexBuilder::FirstKeyAt(size_t i) const {
  assert(i < entries_.size());
  const size_t begin = i == 0 ? 0 : entries_[i - 1].first_key_end;
  return Slice(first_keys_.data() + begin, entries_[i].first_key_end - begin);
}

Slice IndexBuilder::WrittenKeyAt(size_t i) const {
  const Slice separator = SeparatorAt(i);
  return may_use_user_keys_ ? ExtractUserKey(separator) : separator;
}

size_t IndexBuilder::EstimateBytes() const {
  constexpr size_t kUsualEntryOverhead = 12;  // lengths, handle, restart offset
  return keys_.size() + first_keys_.size() + entries_.size() * kUsualEntryOverhead +
         kBlockTrailerBytes * (partition_ends_.size() + 1);
}

// With partitions, their blocks come first and the top level last, because the top level contains
// their handles. Returns the handle of the top level or of the only block.
Result<BlockHandle> IndexBuilder::WriteTo(const Sink& sink) {
  assert(written_bytes_ == 0);
  if (options_.layout != IndexLayout::kPartitioned) return WriteBlock(0, entries_.size(), sink);
  if (!entries_.empty()) partition_ends_.push_back(entries_.size());
  partition_count_ = partition_ends_.size();
  IndexBlockEncoder top(PartitionEncoding(options_));
  size_t begin = 0;
  for (const size_t end : partition_ends_) {
    ASSIGN_OR_RETURN(const BlockHandle handle, WriteBlock(begin, end, sink));
    top.Add(WrittenKeyAt(end - 1), handle);
    begin = end;
  }
  for (size_t i = 0; i < partition_ends_.size(); ++i) NoteKey(i, partition_ends_[i] - 1);
  const Slice contents = top.Finish(TakeUniformity());
  top_level_bytes_ = contents.size();
  written_bytes_ += contents.size();
  return sink(contents);
}

// Writes one block with the entries in [begin, end).
Result<BlockHandle> IndexBuilder::WriteBlock(size_t begin, size_t end, const Sink& sink) {
  assert(begin <= end);
  assert(end <= entries_.size());
  encoder_.Reset();
  for (size_t i = begin; i < end; ++i) {
    encoder_.Add(WrittenKeyAt(i), entries_[i].handle, FirstKeyAt(i));
    NoteKey(i - begin, i);
  }
  const Slice contents = encoder_.Finish(TakeUniformity());
  written_bytes_ += contents.size();
  return sink(contents);
}

// A reader that guesses a position examines restart points only, and interprets user keys as
// numbers.
void IndexBuilder::NoteKey(size_t place_in_block, size_t entry) {
  if (!(options_.most_uniform_variation >= 0)) return;
  const auto interval = static_cast<size_t>(options_.restart_interval);
  if (place_in_block % interval != 0) return;
  restart_keys_.push_back(ExtractUserKey(SeparatorAt(entry)));
}

bool IndexBuilder::TakeUniformity() {
  assert(restart_keys_.size() <= entries_.size());
  const bool is_uniform = options_.icmp->order() == KeyOrder::kBytewise &&
                          AreKeysUniform(restart_keys_, options_.most_uniform_variation);
  restart_keys_.clear();
  uniform_block_count_ += is_uniform;
  return is_uniform;
}

std::string IndexBuilder::DebugString() const {
  return StrCat("index of ", entries_.size(), " blocks, ", keys_.size(), " bytes of ",
                may_use_user_keys_ ? "user keys" : "internal keys",
                has_delta_handles_ ? ", handles by difference" : "", ", ", partition_ends_.size(),
                " partitions", written_bytes_ != 0 ? ", finished" : "");
}

}  // namespace ashlar
