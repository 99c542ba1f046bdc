// SPDX-License-Identifier: Apache-2.0
//
// A row is a key, a trailer or one byte in its place, and a value behind its length.
#include "table/plain/plain_rows.h"

#include <cassert>

#include "env/random_reader.h"
#include "table/plain/bare_table.h"
#include "util/keys/coding.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {

Result<PlainRowFormat> PlainRowFormatOf(const RandomReader& file,
                                        const TableProperties& properties) {
  constexpr uint64_t kMaxKeyBytes = uint64_t{1} << 31;
  if (properties.fixed_key_len > kMaxKeyBytes) {
    return DamagedBareTable(file, StrCat("keys of ", properties.fixed_key_len, " bytes"));
  }
  PlainRowFormat format;
  format.fixed_key_bytes = static_cast<uint32_t>(properties.fixed_key_len);
  const auto encoding = properties.user_collected_properties.find(kPlainEncodingProperty);
  if (encoding == properties.user_collected_properties.end()) return format;
  if (encoding->second.size() != sizeof(uint32_t))
    return DamagedBareTable(file, kPlainEncodingProperty);
  const uint32_t kind = DecodeFixed32(encoding->second.data());
  if (kind > 1) {
    return Status::NotSupported(StrCat("plain table ", file.path(), ": encoding ", kind));
  }
  format.shares_prefixes = kind == 1;
  return format;
}

bool PlainRows::Fail(std::string_view what) {
  assert(status_.ok());  // nothing is read behind damage
  status_ = Status::Corruption(StrCat("row at offset ", offset_, ": ", what));
  return false;
}

bool PlainRows::Next() {
  if (!status_.ok() || offset_ >= rows_.size()) return false;
  Slice rest(rows_.data() + offset_, rows_.size() - offset_);
  const bool has_key = format_.shares_prefixes ? TakeSharedKey(&rest) : TakeUserKey(&rest);
  if (!has_key || !TakeTrailer(&rest)) return false;
  if (!GetLengthPrefixedSlice(&rest, &value_)) return Fail("the value is cut");
  assert(rest.size() < rows_.size() - offset_);
  offset_ = rows_.size() - rest.size();
  return true;
}

bool PlainRows::TakeUserKey(Slice* rest) {
  assert(rest != nullptr);
  uint32_t bytes = format_.fixed_key_bytes;
  if (bytes == 0 && !GetVarint32(rest, &bytes)) return Fail("the length of the key is cut");
  Slice key;
  if (!GetBytes(rest, bytes, &key)) return Fail("the key is cut");
  key_.assign(key.data(), key.size());
  return true;
}

// A control byte has the kind in its upper two bits and a size in the lower six. If all six are
// set, a varint with the rest of the size follows.
bool PlainRows::TakeControl(Slice* rest, uint8_t* kind, uint32_t* bytes) {
  assert(rest != nullptr);
  assert(kind != nullptr && bytes != nullptr);
  constexpr uint8_t kSizeBits = 6;
  constexpr uint8_t kLongSize = (1 << kSizeBits) - 1;
  if (rest->empty()) return Fail("a control byte is cut");
  const auto control = static_cast<uint8_t>((*rest)[0]);
  rest->remove_prefix(1);
  *kind = control >> kSizeBits;
  *bytes = control & kLongSize;
  if (*bytes != kLongSize) return true;
  uint32_t more;
  if (!GetVarint32(rest, &more) || more > UINT32_MAX - kLongSize) return Fail("a size is cut");
  *bytes += more;
  return true;
}

// Three forms: a whole key; the length of the prefix that the row shares with the last whole key,
// and a suffix; a suffix behind the same prefix as in the row before.
bool PlainRows::TakeSharedKey(Slice* rest) {
  assert(rest != nullptr);
  enum Kind : uint8_t { kWhole = 0, kPrefix = 1, kSuffix = 2 };
  uint8_t kind;
  uint32_t bytes;
  if (!TakeControl(rest, &kind, &bytes)) return false;
  if (kind == kPrefix) {
    if (bytes > full_key_.size()) {
      return Fail(StrCat("a prefix of ", bytes, " bytes of a key of ", full_key_.size()));
    }
    prefix_bytes_ = bytes;
    has_prefix_ = true;
    if (!TakeControl(rest, &kind, &bytes)) return false;
    if (kind != kSuffix) return Fail("a prefix without suffix");
  }
  if (kind != kWhole && kind != kSuffix) return Fail(StrCat("unknown kind of key ", kind));
  if (kind == kSuffix && !has_prefix_) return Fail("a suffix without prefix");
  Slice part;
  if (!GetBytes(rest, bytes, &part)) return Fail("the key is cut");
  if (kind == kWhole) {
    full_key_.assign(part.data(), part.size());
    has_prefix_ = false;
    key_ = full_key_;
    return true;
  }
  assert(prefix_bytes_ <= full_key_.size());
  key_.assign(full_key_, 0, prefix_bytes_);
  key_.append(part.data(), part.size());
  return true;
}

// One byte, which no trailer begins with, means a value with sequence number 0.
bool PlainRows::TakeTrailer(Slice* rest) {
  assert(rest != nullptr);
  constexpr char kPlainValue = '\xff';
  if (!rest->empty() && (*rest)[0] == kPlainValue) {
    rest->remove_prefix(1);
    PutFixed64(&key_, PackTrailer(0, kTypeValue));
    return true;
  }
  uint64_t trailer;
  if (!GetFixed64(rest, &trailer)) return Fail("the trailer of the key is cut");
  PutFixed64(&key_, trailer);
  return true;
}

}  // namespace ashlar
