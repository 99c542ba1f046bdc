// SPDX-License-Identifier: Apache-2.0
//
// The four built-in orders: bytes ascending or descending, each with or without a user timestamp of
// 8 bytes at the end of the key. Shortened separators are stored in the index blocks of tables, so
// the way they are shortened must not change: docs/formats/block_based_table.md, section 6.1.
#include "ashlar/comparator.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "ashlar/convenience.h"
#include "util/interfaces/registered_objects.h"

namespace ashlar {

namespace {

constexpr size_t kU64TsBytes = 8;

unsigned char ByteAt(const Slice& s, size_t i) { return static_cast<unsigned char>(s[i]); }

// The default order, which is that of memcmp(). A prefix comes before longer keys.
class BytewiseOrder final : public Comparator {
 public:
  static const char* kClassName() { return "leveldb.BytewiseComparator"; }
  const char* Name() const override { return kClassName(); }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  bool Equal(const Slice& a, const Slice& b) const override { return a == b; }
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }

  // Cuts *start behind the first byte that can be incremented without reaching `limit`.
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    assert(start != nullptr);
    const size_t i = Slice(*start).difference_offset(limit);
    if (i >= std::min(start->size(), limit.size())) return;  // one is a prefix of the other
    const unsigned char start_byte = ByteAt(*start, i), limit_byte = ByteAt(limit, i);
    if (start_byte >= limit_byte) return;
    if (i + 1 < limit.size() || start_byte + 1 < limit_byte) {
      CutAndIncrement(start, i);
      return;
    }
    // Incrementing byte i would give `limit` itself, so a later byte is incremented.
    for (size_t j = i + 1; j < start->size(); ++j) {
      if (ByteAt(*start, j) == 0xff) continue;
      CutAndIncrement(start, j);
      return;
    }
  }

  // A key that consists only of 0xff bytes has no shorter successor, and stays as it is.
  void FindShortSuccessor(std::string* key) const override {
    assert(key != nullptr);
    for (size_t i = 0; i < key->size(); ++i) {
      if (ByteAt(*key, i) == 0xff) continue;
      CutAndIncrement(key, i);
      return;
    }
  }

  // Whether t = s + 1, if both are read as big-endian numbers of the same length.
  bool IsSameLengthImmediateSuccessor(const Slice& s, const Slice& t) const override {
    if (s.size() != t.size() || s.empty()) return false;
    const size_t i = s.difference_offset(t);
    if (i == s.size() || ByteAt(s, i) == 0xff || ByteAt(s, i) + 1 != ByteAt(t, i)) return false;
    for (size_t j = i + 1; j < s.size(); ++j) {
      if (ByteAt(s, j) != 0xff || ByteAt(t, j) != 0x00) return false;
    }
    return true;
  }

  int CompareWithoutTimestamp(const Slice& a, bool, const Slice& b, bool) const override {
    return a.compare(b);
  }

 private:
  // Increments byte i and drops the bytes behind it, so the result is short and still greater.
  static void CutAndIncrement(std::string* key, size_t i) {
    assert(i < key->size());
    key->resize(i + 1);
    assert(static_cast<unsigned char>(key->back()) != 0xff);
    key->back() = static_cast<char>(static_cast<unsigned char>(key->back()) + 1);
  }
};

// The exact reverse of the default order. A prefix comes behind longer keys.
class ReverseBytewiseOrder final : public Comparator {
 public:
  static const char* kClassName() { return "rocksdb.ReverseBytewiseComparator"; }
  const char* Name() const override { return kClassName(); }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  bool Equal(const Slice& a, const Slice& b) const override { return a == b; }
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }

  // In this order, a prefix of *start comes behind it. The prefix is a separator if it still
  // differs from `limit`.
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    assert(start != nullptr);
    const size_t i = Slice(*start).difference_offset(limit);
    if (i >= std::min(start->size(), limit.size())) return;
    if (ByteAt(*start, i) > ByteAt(limit, i) && i + 1 < start->size()) start->resize(i + 1);
  }

  // A shorter key that is not before *key could only be a prefix of it, which would not help
  // readers.
  void FindShortSuccessor(std::string*) const override {}

  int CompareWithoutTimestamp(const Slice& a, bool, const Slice& b, bool) const override {
    return b.compare(a);
  }
};

// Keys with a timestamp at their end. `Order` compares the rest of the keys. Of equal keys, the one
// with the newer timestamp comes first.
template <typename Order>
class WithU64Ts final : public Comparator {
 public:
  WithU64Ts() : Comparator(kU64TsBytes), name_(std::string(Order::kClassName()) + ".u64ts") {}

  const char* Name() const override { return name_.c_str(); }
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }
  // Separators are not shortened, because a cut key would lack its timestamp.
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  int Compare(const Slice& a, const Slice& b) const override {
    const int by_key = CompareWithoutTimestamp(a, true, b, true);
    return by_key != 0 ? by_key : CompareTimestamp(Timestamp(b), Timestamp(a));
  }

  using Comparator::CompareWithoutTimestamp;
  int CompareWithoutTimestamp(const Slice& a, bool a_has_ts, const Slice& b,
                              bool b_has_ts) const override {
    return order_.Compare(a_has_ts ? WithoutTimestamp(a) : a, b_has_ts ? WithoutTimestamp(b) : b);
  }

  int CompareTimestamp(const Slice& ts1, const Slice& ts2) const override {
    uint64_t first = 0, second = 0;
    [[maybe_unused]] const bool has_valid_size =
        DecodeU64Ts(ts1, &first).ok() && DecodeU64Ts(ts2, &second).ok();
    assert(has_valid_size);
    return first < second ? -1 : first > second ? +1 : 0;
  }

  Slice GetMaxTimestamp() const override { return MaxU64Ts(); }
  Slice GetMinTimestamp() const override { return MinU64Ts(); }
  std::string TimestampToString(const Slice& timestamp) const override {
    uint64_t number = 0;
    return DecodeU64Ts(timestamp, &number).ok() ? std::to_string(number) : timestamp.ToString(true);
  }

 private:
  static Slice Timestamp(const Slice& key) {
    assert(key.size() >= kU64TsBytes);
    return Slice(key.data() + key.size() - kU64TsBytes, kU64TsBytes);
  }
  static Slice WithoutTimestamp(const Slice& key) {
    assert(key.size() >= kU64TsBytes);
    return Slice(key.data(), key.size() - kU64TsBytes);
  }

  const Order order_;
  const std::string name_;
};

}  // namespace

Slice Comparator::GetMaxTimestamp() const {
  assert(timestamp_size_ == 0);  // a comparator with timestamps overrides this
  return Slice();
}

Slice Comparator::GetMinTimestamp() const {
  assert(timestamp_size_ == 0);
  return Slice();
}

// The objects are never destroyed, because a database may be closed by the destructor of a static
// object.
const Comparator* BytewiseComparator() {
  static const auto* comparator = new BytewiseOrder;
  return comparator;
}
const Comparator* ReverseBytewiseComparator() {
  static const auto* comparator = new ReverseBytewiseOrder;
  return comparator;
}
const Comparator* BytewiseComparatorWithU64Ts() {
  static const auto* comparator = new WithU64Ts<BytewiseOrder>;
  return comparator;
}
const Comparator* ReverseBytewiseComparatorWithU64Ts() {
  static const auto* comparator = new WithU64Ts<ReverseBytewiseOrder>;
  return comparator;
}

Status Comparator::CreateFromString(const ConfigOptions& opts, const std::string& id,
                                    const Comparator** comp) {
  Status registered;
  Comparator* own = nullptr;
  // A program may have registered its comparator as constant or not; both are accepted.
  if (FindRegistered<const Comparator>(opts, id, comp, &registered)) return registered;
  if (FindRegistered<Comparator>(opts, id, &own, &registered)) {
    if (registered.ok()) *comp = own;
    return registered;
  }
  std::string name;
  std::unordered_map<std::string, std::string> options;
  Status status = Configurable::GetOptionsMap(id, "", &name, &options);
  if (!status.ok()) return status;
  if (name.empty() || name == "nullptr") {
    *comp = nullptr;
    return Status::OK();
  }
  for (const Comparator* known :
       {BytewiseComparator(), ReverseBytewiseComparator(), BytewiseComparatorWithU64Ts(),
        ReverseBytewiseComparatorWithU64Ts()}) {
    if (name != known->Name()) continue;
    *comp = known;
    return Status::OK();
  }
  // With this option the caller keeps the comparator that it has.
  if (opts.ignore_unsupported_options) return Status::OK();
  return Status::NotSupported("comparator: unknown name; set Options::comparator in code", name);
}

// Timestamps are stored as little-endian numbers.
Status DecodeU64Ts(const Slice& ts, uint64_t* int_ts) {
  if (ts.size() != kU64TsBytes) {
    return Status::InvalidArgument("timestamp: expected 8 bytes, found", std::to_string(ts.size()));
  }
  std::memcpy(int_ts, ts.data(), kU64TsBytes);
  if constexpr (std::endian::native == std::endian::big) *int_ts = __builtin_bswap64(*int_ts);
  return Status::OK();
}

Slice EncodeU64Ts(uint64_t ts, std::string* ts_buf) {
  assert(ts_buf != nullptr);
  if constexpr (std::endian::native == std::endian::big) ts = __builtin_bswap64(ts);
  ts_buf->assign(reinterpret_cast<const char*>(&ts), kU64TsBytes);
  return *ts_buf;
}

Slice MaxU64Ts() { return Slice("\xff\xff\xff\xff\xff\xff\xff\xff", kU64TsBytes); }
Slice MinU64Ts() { return Slice("\0\0\0\0\0\0\0\0", kU64TsBytes); }

}  // namespace ashlar
