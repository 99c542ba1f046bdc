// SPDX-License-Identifier: Apache-2.0
//
// Making, parsing and describing internal keys.
#include "util/keys/internal_key.h"

#include <cassert>

#include "util/statistics/perf_level_impl.h"

namespace ashlar {

bool ParseInternalKey(const Slice& internal_key, ParsedInternalKey* result) {
  if (internal_key.size() < kTrailerBytes) return false;
  const uint64_t trailer = ExtractTrailer(internal_key);
  result->user_key = ExtractUserKey(internal_key);
  result->seqno = TrailerSeqno(trailer);
  result->type = TrailerType(trailer);
  return IsPointEntryType(result->type) || result->type == kTypeRangeDeletion;
}

void AppendInternalKey(std::string* dst, const Slice& user_key, uint64_t trailer) {
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

std::string DescribeInternalKey(const Slice& internal_key, bool hex) {
  if (internal_key.size() < kTrailerBytes) {
    return "(too short for an internal key)'" + internal_key.ToString(true) + "'";
  }
  const uint64_t trailer = ExtractTrailer(internal_key);
  return "'" + ExtractUserKey(internal_key).ToString(hex) +
         "' seq:" + std::to_string(TrailerSeqno(trailer)) +
         ", type:" + std::to_string(TrailerType(trailer));
}

InternalKeyComparator::InternalKeyComparator(const Comparator* user_comparator)
    : user_comparator_(user_comparator),
      order_(user_comparator == BytewiseComparator()          ? KeyOrder::kBytewise
             : user_comparator == ReverseBytewiseComparator() ? KeyOrder::kReverseBytewise
                                                              : KeyOrder::kCustom) {}

int InternalKeyComparator::OrderCustom(const Slice& a, const Slice& b) const {
  assert(order_ == KeyOrder::kCustom);
  AddPerfCount(&PerfContextBase::user_key_comparison_count);
  return user_comparator_->Compare(a, b);
}

}  // namespace ashlar
