// SPDX-License-Identifier: Apache-2.0
//
// The hash functions are not needed: all buckets are read.
#include "table/plain/cuckoo_buckets.h"

#include <algorithm>
#include <cassert>

#include "env/random_reader.h"
#include "table/plain/bare_table.h"
#include "util/keys/coding.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {

// The sizes come from the file, so they are limited before anything is computed from them.
Result<CuckooFormat> CuckooFormatOf(const RandomReader& file, const TableProperties& properties) {
  const UserCollectedProperties& own = properties.user_collected_properties;
  const auto value_length = own.find(kCuckooValueLengthProperty);
  const auto last_level = own.find(kCuckooLastLevelProperty);
  const auto empty_key = own.find(kCuckooEmptyKeyProperty);
  if (value_length == own.end() || value_length->second.size() != sizeof(uint64_t)) {
    return DamagedBareTable(file, kCuckooValueLengthProperty);
  }
  if (last_level == own.end() || last_level->second.size() != 1) {
    return DamagedBareTable(file, kCuckooLastLevelProperty);
  }
  CuckooFormat format;
  format.key_bytes = properties.fixed_key_len;
  format.value_bytes = DecodeFixed64(value_length->second.data());
  format.has_user_keys = last_level->second[0] != 0;
  // A table without entries has no empty key.
  if (empty_key != own.end()) format.empty_key = empty_key->second;
  constexpr uint64_t kMaxBytes = uint64_t{1} << 31;
  const bool has_trailer = format.has_user_keys || format.key_bytes >= kTrailerBytes;
  if (format.key_bytes > kMaxBytes || format.value_bytes > kMaxBytes || !has_trailer ||
      (properties.num_entries != 0 && format.key_bytes + format.value_bytes == 0)) {
    return DamagedBareTable(
        file, StrCat("keys of ", format.key_bytes, " bytes and values of ", format.value_bytes));
  }
  return format;
}

// Buckets are in the order of hashes; the copy into a block-based table needs the order of keys.
// Buckets that hold the empty key are unused.
Result<std::vector<CuckooEntry>> SortedEntries(const Slice& buckets, const CuckooFormat& format,
                                               const InternalKeyComparator& order) {
  std::vector<CuckooEntry> entries;
  const size_t key_bytes = static_cast<size_t>(format.key_bytes);
  const size_t bucket_bytes = key_bytes + static_cast<size_t>(format.value_bytes);
  if (buckets.empty()) return entries;
  if (bucket_bytes == 0 || buckets.size() % bucket_bytes != 0) {
    return Status::Corruption(
        StrCat(buckets.size(), " bytes are no whole buckets of ", bucket_bytes));
  }
  for (size_t offset = 0; offset < buckets.size(); offset += bucket_bytes) {
    const Slice stored(buckets.data() + offset, key_bytes);
    if (stored == Slice(format.empty_key)) continue;
    CuckooEntry& entry = entries.emplace_back();
    entry.first.assign(stored.data(), stored.size());
    if (format.has_user_keys) PutFixed64(&entry.first, PackTrailer(0, kTypeValue));
    entry.second = Slice(buckets.data() + offset + key_bytes, bucket_bytes - key_bytes);
  }
  assert(entries.size() <= buckets.size() / bucket_bytes);
  std::sort(entries.begin(), entries.end(), [&](const CuckooEntry& a, const CuckooEntry& b) {
    return order.Compare(a.first, b.first) < 0;
  });
  return entries;
}

}  // namespace ashlar
