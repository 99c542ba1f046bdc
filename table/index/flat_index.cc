// SPDX-License-Identifier: Apache-2.0
//
// Decoding takes two passes over the keys, because their common prefix is known only after the
// first one.
#include "table/index/flat_index.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "table/block/block.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The limit of the sum of all key lengths. Prefix compression can make keys much longer than the
// block, so a damaged block could exhaust the memory. No index of a real file comes near this
// limit.
size_t MaxKeyBytes(size_t block_bytes) {
  constexpr size_t kPlenty = size_t{256} << 20;
  return std::min<size_t>(std::max(kPlenty, 64 * block_bytes),
                          std::numeric_limits<uint32_t>::max());
}

// EntryReader reads the entries of an index block one after the other.
class EntryReader {
 public:
  EntryReader(const Block& block, const IndexFormat& format)
      : p_(block.data()), end_(block.entries_end()), format_(format) {}

  bool AtEnd() const { return p_ == end_; }
  const std::string& key() const { return key_; }
  const BlockHandle& handle() const { return handle_; }

  // Reads one entry. Returns null, or a description of what is wrong with it.
  const char* Read() {
    assert(p_ != nullptr);  // no reading after damage
    assert(p_ < end_);
    uint32_t shared = 0, non_shared = 0, value_bytes = 0;
    p_ = GetVarint32Ptr(p_, end_, &shared);
    if (p_ != nullptr) p_ = GetVarint32Ptr(p_, end_, &non_shared);
    if (p_ != nullptr && !format_.has_delta_handles) p_ = GetVarint32Ptr(p_, end_, &value_bytes);
    if (p_ == nullptr) return "malformed entry";
    if (shared > key_.size()) return "an entry shares more than the key before it";
    if (static_cast<size_t>(end_ - p_) < non_shared) return "a key leaves the block";
    key_.resize(shared);
    key_.append(p_, non_shared);
    p_ += non_shared;
    const char* const value_end = format_.has_delta_handles ? end_ : p_ + value_bytes;
    if (!format_.has_delta_handles && static_cast<size_t>(end_ - p_) < value_bytes) {
      return "a value leaves the block";
    }
    return ReadValue(/*is_delta=*/format_.has_delta_handles && shared != 0, value_end);
  }

 private:
  const char* ReadValue(bool is_delta, const char* limit) {
    if (is_delta) {
      uint64_t zigzag = 0;
      p_ = GetVarint64Ptr(p_, limit, &zigzag);
      if (p_ == nullptr) return "malformed delta of a block handle";
      handle_.offset = handle_.end();
      // May wrap around; the caller checks the handle.
      handle_.size += static_cast<uint64_t>(ZigZagDecode(zigzag));
    } else {
      p_ = ParseBlockHandle(p_, limit, &handle_);
      if (p_ == nullptr) return "malformed block handle";
    }
    if (format_.has_first_keys) {
      Slice first_key;
      p_ = GetLengthPrefixedSlicePtr(p_, limit, &first_key);
      if (p_ == nullptr || first_key.size() < kTrailerBytes) return "malformed first key";
    }
    if (!format_.has_delta_handles && p_ != limit) return "bytes behind a block handle";
    return nullptr;
  }

  const char* p_;
  const char* const end_;
  const IndexFormat format_;
  std::string key_;
  BlockHandle handle_;
};

}  // namespace

Result<std::unique_ptr<FlatIndex>> FlatIndex::Parse(const Slice& contents, const Source& source) {
  std::unique_ptr<FlatIndex> index(new FlatIndex(source));
  RETURN_IF_ERROR(index->Decode(contents, source));
  RETURN_IF_ERROR(index->CheckOrder());
  return index;
}

std::unique_ptr<FlatIndex> FlatIndex::OfOne(const BlockHandle& handle, const Source& source) {
  std::unique_ptr<FlatIndex> index(new FlatIndex(source));
  index->handles_.push_back({.offset = handle.offset, .size = handle.size});
  assert(index->size() == 1);
  return index;
}

// Everything that later searches rely on is checked here, because the block comes from a file: key
// lengths, handles inside the data, and the total size of the keys. A damaged block could otherwise
// expand to keys of a huge total size.
Status FlatIndex::Decode(const Slice& contents, const Source& source) {
  Block block;
  RETURN_IF_ERROR(Block::Parse(contents, &block));
  if (block.has_separate_values() || block.has_hash_index()) {
    return Status::Corruption("an index block in the form of a data block");
  }
  Keys keys;
  const size_t max_key_bytes = MaxKeyBytes(contents.size());
  for (EntryReader reader(block, source.format); !reader.AtEnd();) {
    const char* problem = reader.Read();
    const bool is_short = !has_user_keys_ && reader.key().size() < kTrailerBytes;
    if (problem == nullptr && is_short) problem = "a key is shorter than its trailer";
    if (problem == nullptr && !reader.handle().FitsBefore(source.data_end)) {
      problem = "a block handle points outside the data";
    }
    const size_t key_bytes = keys.bytes.size() + reader.key().size();
    if (problem == nullptr && key_bytes > max_key_bytes) problem = "too many bytes of keys";
    if (problem != nullptr) return Status::Corruption(StrCat(problem, ", entry ", size()));
    keys.bytes.append(reader.key());
    keys.ends.push_back(static_cast<uint32_t>(key_bytes));
    handles_.push_back({.offset = reader.handle().offset, .size = reader.handle().size});
  }
  handles_.shrink_to_fit();
  Build(keys);
  return Status::OK();
}

void FlatIndex::Build(const Keys& keys) {
  const size_t count = keys.ends.size();
  if (comparator_.order() != KeyOrder::kCustom && count != 0) {
    Slice prefix = UserPart(keys.at(0));
    for (size_t i = 1; i < count; ++i) {
      prefix = Slice(prefix.data(), prefix.difference_offset(UserPart(keys.at(i))));
    }
    prefix_ = prefix.ToString();
  }
  assert(handles_.size() == count);
  heads_.reserve(count);
  rest_ends_.reserve(count);
  if (!has_user_keys_) trailers_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    Slice rest = UserPart(keys.at(i));
    assert(rest.starts_with(prefix_));
    rest.remove_prefix(prefix_.size());
    heads_.push_back(KeyHead(rest, comparator_.order()));
    rests_.insert(rests_.end(), rest.data(), rest.data() + rest.size());
    rest_ends_.push_back(static_cast<uint32_t>(rests_.size()));
    if (!has_user_keys_) trailers_.push_back(ExtractTrailer(keys.at(i)));
  }
  rests_.shrink_to_fit();
  // Slices of it are compared, and their pointers must not be null.
  if (rests_.empty()) rests_.reserve(1);
  assert(heads_.size() == count);
  assert(rest_ends_.size() == count);
  assert(trailers_.size() == (has_user_keys_ ? 0 : count));
}

// In keys that do not ascend a search would return a wrong result instead of an error. Equal
// neighbours do occur, because filter partitions may end inside one user key.
Status FlatIndex::CheckOrder() const {
  std::string buffer;
  for (size_t i = 1; i < size(); ++i) {
    const Slice key = UserKey(i, &buffer);
    if (CompareAt(i - 1, key, has_user_keys_ ? 0 : trailers_[i]) > 0) {
      return Status::Corruption(StrCat("index keys do not ascend at entry ", i));
    }
  }
  return Status::OK();
}

Slice FlatIndex::UserKey(size_t index, std::string* buffer) const {
  assert(buffer != nullptr);
  const Slice rest = Rest(index);
  buffer->assign(prefix_);
  buffer->append(rest.data(), rest.size());
  return *buffer;
}

// Compares the key of an entry with a key that begins with the common prefix.
int FlatIndex::CompareAt(size_t index, const Slice& user_key, uint64_t trailer) const {
  assert(user_key.starts_with(prefix_));
  const Slice rest(user_key.data() + prefix_.size(), user_key.size() - prefix_.size());
  const int by_user_key = comparator_.OrderWithTimestamp(Rest(index), rest);
  if (by_user_key != 0 || has_user_keys_) return by_user_key;
  return trailers_[index] > trailer ? -1 : trailers_[index] < trailer ? +1 : 0;
}

// All entries whose heads equal that of `first` are candidates. Finds the first of them that is at
// or after the target, or the entry behind them.
size_t FlatIndex::ResolveTie(size_t first, const Slice& user_key, uint64_t trailer) const {
  size_t left = first, step = 1, right = first;
  // Exponential steps, because few heads are equal.
  while (right < size() && heads_[right] == heads_[first]) {
    if (CompareAt(right, user_key, trailer) >= 0) break;
    left = right + 1;
    right = std::min(size(), right + step);
    step *= 2;
  }
  // The result lies in [left, right]: all entries before `left` are before the target; entry
  // `right` is not, or has a greater head, or is the end.
  while (left < right) {
    const size_t middle = left + (right - left) / 2;
    const bool is_before =
        heads_[middle] == heads_[first] && CompareAt(middle, user_key, trailer) < 0;
    left = is_before ? middle + 1 : left;
    right = is_before ? right : middle;
  }
  assert(left <= size());
  return left;
}

bool FlatIndex::SeparatorEquals(size_t index, const Slice& user_key) const {
  assert(index < size());
  if (!user_key.starts_with(prefix_)) return false;
  const Slice rest(user_key.data() + prefix_.size(), user_key.size() - prefix_.size());
  return comparator_.SameKey(Rest(index), rest);
}

[[gnu::cold]] std::string FlatIndex::DebugString() const {
  return StrCat("index of ", size(), has_user_keys_ ? " user" : " internal", " keys, ",
                prefix_.size(), " bytes in common, ", rests_.size(), " bytes behind them\n");
}

size_t FlatIndex::MemoryBytes() const {
  return sizeof(*this) + heads_.capacity() * sizeof(uint64_t) +
         handles_.capacity() * sizeof(Handle) + trailers_.capacity() * sizeof(uint64_t) +
         rest_ends_.capacity() * sizeof(uint32_t) + rests_.capacity() + prefix_.capacity();
}

}  // namespace ashlar
