// SPDX-License-Identifier: Apache-2.0
//
// Creates, parses and describes internal keys.
#include "util/keys/internal_key.h"

#include <cassert>

#include "util/statistics/perf_level_impl.h"

namespace ashlar {

// Checks the kind, because keys come from files: a damaged byte must not select another branch of a
// reader.
bool ParseInternalKey(const Slice& internal_key, ParsedInternalKey* result) {
  assert(result != nullptr);
  if (internal_key.size() < kTrailerBytes) return false;
  const uint64_t trailer = ExtractTrailer(internal_key);
  result->user_key = ExtractUserKey(internal_key);
  result->seqno = TrailerSeqno(trailer);
  result->type = TrailerType(trailer);
  return IsPointEntryType(result->type) || result->type == kTypeRangeDeletion;
}

// The trailer is little-endian on every machine.
void AppendInternalKey(std::string* dst, const Slice& user_key, uint64_t trailer) {
  assert(dst != nullptr);
  if constexpr (std::endian::native == std::endian::big) trailer = __builtin_bswap64(trailer);
  dst->append(user_key.data(), user_key.size());
  dst->append(reinterpret_cast<const char*>(&trailer), kTrailerBytes);
}

std::string MakeInternalKey(const Slice& user_key, SequenceNumber seqno, ValueType type) {
  std::string key;
  key.reserve(user_key.size() + kTrailerBytes);
  AppendInternalKey(&key, user_key, PackTrailer(seqno, type));
  return key;
}

[[gnu::cold]] std::string DescribeInternalKey(const Slice& internal_key, bool hex) {
  if (internal_key.size() < kTrailerBytes) {
    return "(too short for an internal key)'" + internal_key.ToString(true) + "'";
  }
  const uint64_t trailer = ExtractTrailer(internal_key);
  return "'" + ExtractUserKey(internal_key).ToString(hex) +
         "' seq:" + std::to_string(TrailerSeqno(trailer)) +
         ", type:" + std::to_string(TrailerType(trailer));
}

// The built-in orders are recognized by the address of their only object, so that hot loops need no
// virtual call.
InternalKeyComparator::InternalKeyComparator(const Comparator* user_comparator)
    : user_comparator_(user_comparator),
      order_(user_comparator == BytewiseComparator()          ? KeyOrder::kBytewise
             : user_comparator == ReverseBytewiseComparator() ? KeyOrder::kReverseBytewise
                                                              : KeyOrder::kCustom),
      stamp_bytes_(user_comparator == nullptr ? 0 : user_comparator->timestamp_size()) {}

namespace {

// Comparators may assume that keys have their timestamp, so they do not get keys without one.
// Returns false if both keys have one.
bool OrderTruncated(const Slice& a, const Slice& b, size_t stamp_bytes, int* order) {
  const bool a_is_whole = a.size() >= stamp_bytes, b_is_whole = b.size() >= stamp_bytes;
  if (a_is_whole && b_is_whole) return false;
  *order = a_is_whole ? +1 : b_is_whole ? -1 : a.compare(b);
  return true;
}

}  // namespace

int InternalKeyComparator::OrderCustom(const Slice& a, const Slice& b, bool with_stamps) const {
  assert(order_ == KeyOrder::kCustom);
  AddPerfCount(&PerfContextBase::user_key_comparison_count);
  if (stamp_bytes_ == 0) return user_comparator_->Compare(a, b);
  int order = 0;
  if (OrderTruncated(a, b, stamp_bytes_, &order)) return order;
  return with_stamps ? user_comparator_->Compare(a, b)
                     : user_comparator_->CompareWithoutTimestamp(a, b);
}

bool InternalKeyComparator::SameCustom(const Slice& a, const Slice& b, bool with_stamps) const {
  if (stamp_bytes_ == 0) return user_comparator_->Equal(a, b);
  int order = 0;
  if (OrderTruncated(a, b, stamp_bytes_, &order)) return order == 0;
  return with_stamps ? user_comparator_->Compare(a, b) == 0
                     : user_comparator_->EqualWithoutTimestamp(a, b);
}

void InternalKeyComparator::AppendFirst(std::string* dst, const Slice& stored,
                                        uint64_t trailer) const {
  if (stamp_bytes_ == 0) return AppendInternalKey(dst, stored, trailer);
  AppendInternalKey(dst, FirstStored(WithoutStamp(stored)), trailer);
}

void InternalKeyComparator::AppendLast(std::string* dst, const Slice& stored,
                                       uint64_t trailer) const {
  if (stamp_bytes_ == 0) return AppendInternalKey(dst, stored, trailer);
  AppendInternalKey(dst, LastStored(WithoutStamp(stored)), trailer);
}

}  // namespace ashlar
