// SPDX-License-Identifier: Apache-2.0
//
// A block ends with its restart offsets and one word with their number. Reading from front to back
// only needs the length of this part. Each entry shares a prefix with the previous one.
#include "table/format/plain_block.h"

#include <cassert>

#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {
// Bits 28 to 31 of the last word are flags of features that no meta block has.
constexpr uint32_t kRestartCountMask = (uint32_t{1} << 28) - 1;
constexpr size_t kRestartBytes = sizeof(uint32_t);
}  // namespace

PlainBlockParser::PlainBlockParser(const Slice& contents)
    : begin_(contents.data()), p_(begin_), entries_end_(begin_) {
  if (contents.size() < kRestartBytes) {
    Fail("shorter than its restart count");
    return;
  }
  const uint32_t packed = DecodeFixed32(begin_ + contents.size() - kRestartBytes);
  // Room for the offsets, without the last word.
  const size_t restart_room = contents.size() / kRestartBytes - 1;
  if ((packed & ~kRestartCountMask) != 0) {
    Fail("its last word has unknown flags");
  } else if (packed > restart_room) {
    Fail("its restart offsets do not fit");
  } else {
    entries_end_ = begin_ + contents.size() - kRestartBytes * (size_t{packed} + 1);
  }
}

bool PlainBlockParser::Next() {
  if (p_ >= entries_end_ || !status_.ok()) return false;
  uint32_t shared = 0, non_shared = 0, value_bytes = 0;
  const char* p = GetVarint32Ptr(p_, entries_end_, &shared);
  if (p != nullptr) p = GetVarint32Ptr(p, entries_end_, &non_shared);
  if (p != nullptr) p = GetVarint32Ptr(p, entries_end_, &value_bytes);
  if (p == nullptr) return Fail("an entry's lengths are malformed");
  // The lengths are checked one after the other, so that no sum can overflow.
  if (shared > key_.size()) return Fail("an entry shares more than the key before it");
  const size_t room = static_cast<size_t>(entries_end_ - p);
  if (non_shared > room || value_bytes > room - non_shared) return Fail("an entry is cut off");
  if (shared == 0) {
    key_ = Slice(p, non_shared);
  } else {
    // The other string: the previous key may be in the first one, and callers may still use it.
    std::string& built = key_.data() == built_[0].data() ? built_[1] : built_[0];
    built.assign(key_.data(), shared);
    built.append(p, non_shared);
    key_ = built;
  }
  value_ = Slice(p + non_shared, value_bytes);
  p_ = p + non_shared + value_bytes;
  assert(p_ <= entries_end_);
  return true;
}

bool PlainBlockParser::Fail(const char* what) {
  assert(status_.ok());  // the first damage ends the iteration
  status_ =
      Status::Corruption(StrCat("block byte ", static_cast<uint64_t>(p_ - begin_), ": ", what));
  return false;
}

}  // namespace ashlar
