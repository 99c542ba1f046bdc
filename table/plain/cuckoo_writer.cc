// SPDX-License-Identifier: Apache-2.0
//
// Values are placed before deletions, as in RocksDB; otherwise the order is that of the entries.
#include "table/plain/cuckoo_writer.h"

#include <algorithm>
#include <cassert>

#include "ashlar/table_properties.h"
#include "table/plain/cuckoo_placement.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// The bytes of values that nobody reads.
constexpr char kFiller = 'a';

constexpr std::string_view kOtherFormat =
    "; open the database with a block-based table_factory to store such entries";

// Replaces `number`, in big endian order, by the one before or behind it. False if there is none of
// this length.
bool Decrease(std::string* number) {
  assert(number != nullptr);
  for (size_t i = number->size(); i-- > 0;) {
    if ((*number)[i]-- != 0) return true;
  }
  return false;
}

bool Increase(std::string* number) {
  assert(number != nullptr);
  for (size_t i = number->size(); i-- > 0;) {
    if (++(*number)[i] != 0) return true;
  }
  return false;
}

std::string Fixed32(uint32_t value) {
  std::string bytes;
  PutFixed32(&bytes, value);
  return bytes;
}
std::string Fixed64(uint64_t value) {
  std::string bytes;
  PutFixed64(&bytes, value);
  return bytes;
}
std::string Flag(bool value) { return std::string(1, value ? '\1' : '\0'); }

}  // namespace

Status CuckooTableWriter::CheckFits(const Slice& user_key, const Slice& value,
                                    ValueType type) const {
  RETURN_IF_ERROR(CheckBareEntry(format_, type, user_key.size()));
  if (count() == 0) return Status::OK();
  if (user_key.size() != last_key_.size()) {
    return Status::NotSupported(StrCat("CuckooTable: a key of ", user_key.size(),
                                       " bytes behind keys of ", last_key_.size(), kOtherFormat));
  }
  if (user_key == Slice(last_key_)) {
    return Status::NotSupported(
        StrCat("CuckooTable: Same key is being inserted again: a snapshot keeps two versions of a ",
               "key; release it and call DB::Resume()"));
  }
  const bool has_other_length = !values_.trailers.empty() && value.size() != value_length_;
  if (type == kTypeValue && has_other_length) {
    return Status::NotSupported(StrCat("CuckooTable: a value of ", value.size(),
                                       " bytes behind values of ", value_length_, kOtherFormat));
  }
  if (count() + 1 < CuckooPlacement::kFree) return Status::OK();
  return Status::NotSupported(StrCat("CuckooTable: more than ", count(), " entries"));
}

Status CuckooTableWriter::Add(const Slice& internal_key, const Slice& value, std::string*) {
  const Slice user_key = ExtractUserKey(internal_key);
  const uint64_t trailer = ExtractTrailer(internal_key);
  const bool is_value = TrailerType(trailer) == kTypeValue;
  RETURN_IF_ERROR(CheckFits(user_key, value, TrailerType(trailer)));
  Group& group = is_value ? values_ : deletions_;
  group.user_keys.append(user_key.data(), user_key.size());
  group.trailers.push_back(trailer);
  if (is_value) {
    value_bytes_.append(value.data(), value.size());
    value_length_ = value.size();
  }
  assert(group.user_keys.size() == group.trailers.size() * user_key.size());
  assert(value_bytes_.size() == values_.trailers.size() * value_length_);
  last_key_.assign(user_key.data(), user_key.size());
  has_user_keys_ = has_user_keys_ && trailer == PackTrailer(0, kTypeValue);
  // It grows by at most one step with each entry, as in RocksDB.
  const double wanted = static_cast<double>(count()) / format_.cuckoo.hash_table_ratio;
  if (static_cast<double>(power_of_two_) < wanted) power_of_two_ *= 2;
  return Status::OK();
}

uint64_t CuckooTableWriter::TableSize() const {
  assert(format_.cuckoo.hash_table_ratio > 0);
  if (!format_.cuckoo.use_module_hash) return power_of_two_;
  return static_cast<uint64_t>(static_cast<double>(count()) / format_.cuckoo.hash_table_ratio);
}

uint64_t CuckooTableWriter::held_bytes() const {
  if (count() == 0) return 0;
  const size_t trailer_bytes = has_user_keys_ ? 0 : kTrailerBytes;
  const uint64_t bucket_count = TableSize() + format_.cuckoo.cuckoo_block_size - 1;
  return bucket_count * (last_key_.size() + trailer_bytes + value_length_);
}

// Readers know a free bucket by its key. RocksDB takes the key before the first one or behind the
// last one; if both ends are used, there may be a gap between two keys.
Result<std::string> CuckooTableWriter::UnusedKey(const Slice& user_keys) const {
  assert(count() > 0);
  assert(user_keys.size() == count() * last_key_.size());
  const size_t bytes = last_key_.size();
  std::vector<std::string> keys;
  for (size_t i = 0; i < count(); i++) keys.emplace_back(user_keys.data() + i * bytes, bytes);
  std::sort(keys.begin(), keys.end());
  std::string unused = keys.front();
  if (Decrease(&unused)) return unused;
  unused = keys.back();
  if (Increase(&unused)) return unused;
  for (size_t i = 0; i + 1 < keys.size(); i++) {
    unused = keys[i];
    if (Increase(&unused) && unused != keys[i + 1]) return unused;
  }
  return Status::NotSupported(
      StrCat("CuckooTable: no key of ", bytes, " bytes is left for free buckets", kOtherFormat));
}

Status CuckooTableWriter::Finish(std::string* rows, std::vector<BareMetaBlock>*,
                                 TableProperties* properties) {
  assert(rows != nullptr);
  assert(properties != nullptr);
  assert(count() > 0);
  const CuckooTableOptions& options = format_.cuckoo;
  const size_t user_key_bytes = last_key_.size();
  const std::string keys = values_.user_keys + deletions_.user_keys;
  std::vector<uint64_t> trailers = values_.trailers;
  trailers.insert(trailers.end(), deletions_.trailers.begin(), deletions_.trailers.end());
  CuckooPlacement placement;
  ASSIGN_OR_RETURN(placement,
                   PlaceInCuckooTable(keys, user_key_bytes, count(), TableSize(), options));
  assert(placement.buckets.size() == TableSize() + options.cuckoo_block_size - 1);
  std::string free_key;
  ASSIGN_OR_RETURN(free_key, UnusedKey(keys));
  if (!has_user_keys_) PutFixed64(&free_key, PackTrailer(0, kTypeValue));
  rows->reserve(rows->size() + placement.buckets.size() * (free_key.size() + value_length_));
  for (const uint32_t entry : placement.buckets) {
    if (entry == CuckooPlacement::kFree) {
      rows->append(free_key);
    } else {
      rows->append(keys, entry * user_key_bytes, user_key_bytes);
      if (!has_user_keys_) PutFixed64(rows, trailers[entry]);
    }
    if (entry < values_.trailers.size()) {
      rows->append(value_bytes_, entry * value_length_, value_length_);
    } else {
      rows->append(value_length_, kFiller);
    }
  }
  properties->fixed_key_len = free_key.size();
  properties->raw_key_size = free_key.size() * count();
  properties->raw_value_size = value_length_ * count();
  UserCollectedProperties& own = properties->user_collected_properties;
  own[kCuckooEmptyKeyProperty] = free_key;
  own[kCuckooValueLengthProperty] = Fixed64(value_length_);
  own[kCuckooHashCountProperty] = Fixed32(placement.hash_count);
  own[kCuckooBlockSizeProperty] = Fixed32(options.cuckoo_block_size);
  own[kCuckooTableSizeProperty] = Fixed64(TableSize());
  own[kCuckooLastLevelProperty] = Flag(has_user_keys_);
  own[kCuckooIdentityProperty] = Flag(options.identity_as_first_hash);
  own[kCuckooModuloProperty] = Flag(options.use_module_hash);
  own[kCuckooUserKeyLengthProperty] = Fixed32(static_cast<uint32_t>(user_key_bytes));
  return Status::OK();
}

}  // namespace ashlar
