// SPDX-License-Identifier: Apache-2.0
//
// The number of bytes reveals nothing else about a key, but helps to tell which of several keys it
// was.
#include "util/text/data_in_errors.h"

#include <atomic>

#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// Relaxed: it does not matter which of several concurrent messages first shows a key.
std::atomic<bool> is_allowed{false};

std::string SizeOf(const Slice& key) { return StrCat("(", key.size(), " bytes)"); }

}  // namespace

void AllowDataInErrors() { is_allowed.store(true, std::memory_order_relaxed); }

std::string KeyInError(const Slice& user_key) {
  return is_allowed.load(std::memory_order_relaxed) ? user_key.ToString(/*hex=*/true)
                                                    : SizeOf(user_key);
}

// Unless the program allows it, messages contain sizes and numbers, but no bytes of keys.
std::string InternalKeyInError(const Slice& internal_key) {
  if (is_allowed.load(std::memory_order_relaxed)) {
    return DescribeInternalKey(internal_key, /*hex=*/true);
  }
  if (internal_key.size() < kTrailerBytes) {
    return StrCat("(too short for an internal key)", SizeOf(internal_key));
  }
  const uint64_t trailer = ExtractTrailer(internal_key);
  return StrCat(SizeOf(ExtractUserKey(internal_key)), " seq:", TrailerSeqno(trailer),
                ", type:", uint32_t{TrailerType(trailer)});
}

}  // namespace ashlar
