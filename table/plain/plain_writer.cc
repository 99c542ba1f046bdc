// SPDX-License-Identifier: Apache-2.0
//
// Rows, and the two blocks of a stored index, which RocksDB's reader searches; ours does not need
// them.
#include "table/plain/plain_writer.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "ashlar/slice_transform.h"
#include "ashlar/table_properties.h"
#include "util/hash/hash.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// Offsets of rows have 31 bits, of which the greatest value means that there is no row.
constexpr uint32_t kMaxFileBytes = (uint32_t{1} << 31) - 1;
constexpr uint32_t kNoRow = kMaxFileBytes;
constexpr uint32_t kManyRows = uint32_t{1} << 31;  // the place of a list of rows

constexpr std::string_view kIndexName = "PlainTableIndexBlock";
constexpr std::string_view kBloomName = "kBloomBlock";

uint32_t PlainHash(const Slice& bytes) {
  constexpr uint32_t kSeed = 397;
  return Hash32(bytes.data(), bytes.size(), kSeed);
}

// The kind of a key with shared prefixes, and a size: see PlainRows::TakeControl().
enum KeyPart : uint8_t { kWhole = 0, kPrefixLength = 1, kSuffix = 2 };
void AppendControl(KeyPart part, size_t bytes, std::string* rows) {
  assert(rows != nullptr);
  constexpr size_t kLongSize = 63;
  const auto kind = static_cast<uint8_t>(part << 6);
  rows->push_back(static_cast<char>(kind | std::min(bytes, kLongSize)));
  if (bytes >= kLongSize) PutVarint32(rows, static_cast<uint32_t>(bytes - kLongSize));
}

// Of one key, the bits are spread over the whole filter.
void SetBits(uint32_t hash, std::string* bits, uint32_t bit_count, int probe_count) {
  assert(bits != nullptr);
  assert(bit_count > 0 && bits->size() * 8 == bit_count);
  const uint32_t step = std::rotr(hash, 17);
  for (int i = 0; i < probe_count; i++, hash += step) {
    const uint32_t bit = hash % bit_count;
    (*bits)[bit / 8] = static_cast<char>((*bits)[bit / 8] | (1 << (bit % 8)));
  }
}

// Of one key, all bits are in one cache line.
void SetBitsInLine(uint32_t hash, std::string* bits, uint32_t line_count, int probe_count) {
  assert(bits != nullptr);
  constexpr uint32_t kLineBits = 512;
  assert(line_count > 0 && bits->size() == size_t{line_count} * (kLineBits / 8));
  const uint32_t step = std::rotr(hash, 17);
  const size_t line = size_t{std::rotr(hash, 11) % line_count} * (kLineBits / 8);
  for (int i = 0; i < probe_count; i++) {
    const size_t bit = hash % kLineBits;
    char& byte = (*bits)[line + bit / 8];
    byte = static_cast<char>(byte | (1 << (bit % 8)));
    hash = std::rotr(hash, 9) + step;
  }
}

}  // namespace

void PlainIndexBuilder::Add(const Slice& prefix, uint32_t row_offset) {
  if (prefix_count_ == 0 || Slice(prefix_) != prefix) {
    prefix_count_++;
    rows_of_prefix_ = 0;
    prefix_.assign(prefix.data(), prefix.size());
  }
  if (sparseness_ == 0 || rows_of_prefix_ % sparseness_ == 0) {
    assert(places_.empty() || places_.back().row_offset < row_offset);
    places_.push_back({PlainHash(prefix), row_offset});
  }
  rows_of_prefix_++;
}

// The rows of a bucket are found by sorting the places by bucket, which keeps the order of rows.
std::string PlainIndexBuilder::Finish() const {
  uint32_t bucket_count = 1;
  if (hash_table_ratio_ > 0) {
    const double buckets = static_cast<double>(prefix_count_) / hash_table_ratio_;
    bucket_count += static_cast<uint32_t>(std::min(buckets, 1e9));
  }
  std::vector<Place> places = places_;
  std::stable_sort(places.begin(), places.end(), [bucket_count](const Place& a, const Place& b) {
    return a.hash % bucket_count < b.hash % bucket_count;
  });
  std::string block, lists;
  PutVarint32(&block, bucket_count);
  PutVarint32(&block, prefix_count_);
  auto next = places.begin();
  for (uint32_t bucket = 0; bucket < bucket_count; bucket++) {
    const auto first = next;
    while (next != places.end() && next->hash % bucket_count == bucket) ++next;
    const auto count = static_cast<uint32_t>(next - first);
    if (count <= 1) {
      PutFixed32(&block, count == 0 ? kNoRow : first->row_offset);
      continue;
    }
    PutFixed32(&block, kManyRows | static_cast<uint32_t>(lists.size()));
    PutVarint32(&lists, count);
    for (auto place = first; place != next; ++place) PutFixed32(&lists, place->row_offset);
  }
  assert(next == places.end());
  return block + lists;
}

PlainTableWriter::PlainTableWriter(const BareTableFormat& format)
    : format_(format),
      index_(format.plain.index_sparseness,
             format.prefix_extractor == nullptr ? 0 : format.plain.hash_table_ratio) {}

// A key that is not in the extractor's domain is its own prefix.
Slice PlainTableWriter::PrefixOf(const Slice& user_key) const {
  const SliceTransform* const extractor = format_.prefix_extractor;
  if (extractor == nullptr) return Slice();
  return extractor->InDomain(user_key) ? extractor->Transform(user_key) : user_key;
}

Status PlainTableWriter::Add(const Slice& internal_key, const Slice& value, std::string* rows) {
  assert(rows != nullptr);
  const Slice user_key = ExtractUserKey(internal_key);
  const uint64_t trailer = ExtractTrailer(internal_key);
  RETURN_IF_ERROR(CheckBareEntry(format_, TrailerType(trailer), user_key.size()));
  const size_t begin = rows->size();
  const Slice prefix = PrefixOf(user_key);
  if (format_.plain.store_index_in_file) {
    index_.Add(prefix, static_cast<uint32_t>(row_bytes_));
    hashes_.push_back(PlainHash(format_.prefix_extractor == nullptr ? user_key : prefix));
  }
  AppendKey(user_key, prefix, rows);
  if (trailer == PackTrailer(0, kTypeValue)) {
    rows->push_back('\xff');  // no type has this number
  } else {
    PutFixed64(rows, trailer);
  }
  PutLengthPrefixedSlice(rows, value);
  assert(rows->size() > begin);
  row_bytes_ += rows->size() - begin;
  if (row_bytes_ < kMaxFileBytes) return Status::OK();
  return Status::NotSupported(StrCat(
      "PlainTable: rows of ", row_bytes_, " bytes, but a table has less than ", kMaxFileBytes,
      "; a smaller write_buffer_size or target_file_size_base ends it before"));
}

void PlainTableWriter::AppendKey(const Slice& user_key, const Slice& prefix, std::string* rows) {
  assert(rows != nullptr);
  if (format_.plain.encoding_type == kPrefix) return AppendSharedKey(user_key, prefix, rows);
  if (format_.plain.user_key_len == kPlainTableVariableLength) {
    PutVarint32(rows, static_cast<uint32_t>(user_key.size()));
  }
  rows->append(user_key.data(), user_key.size());
}

// The first row of a prefix has its whole key, and so has every index_sparseness-th, from which a
// search can begin. The second one says how long the prefix is. A transform of the program may
// return something that the key does not begin with; such a key shares nothing.
void PlainTableWriter::AppendSharedKey(const Slice& user_key, const Slice& prefix,
                                       std::string* rows) {
  assert(rows != nullptr);
  const size_t sparseness = format_.plain.index_sparseness;
  const bool can_share = user_key.starts_with(prefix);
  if (!can_share || rows_of_whole_key_ == 0 || Slice(shared_prefix_) != prefix || sparseness == 0 ||
      rows_of_whole_key_ % sparseness == 0) {
    rows_of_whole_key_ = can_share ? 1 : 0;
    shared_prefix_.assign(prefix.data(), prefix.size());
    AppendControl(kWhole, user_key.size(), rows);
    rows->append(user_key.data(), user_key.size());
    return;
  }
  assert(prefix.size() <= user_key.size());
  rows_of_whole_key_++;
  if (rows_of_whole_key_ == 2) AppendControl(kPrefixLength, prefix.size(), rows);
  AppendControl(kSuffix, user_key.size() - prefix.size(), rows);
  rows->append(user_key.data() + prefix.size(), user_key.size() - prefix.size());
}

std::string PlainTableWriter::BloomBlock(uint32_t* line_count) const {
  assert(line_count != nullptr);
  assert(format_.plain.bloom_bits_per_key > 0);
  constexpr int kProbeCount = 6;
  constexpr uint32_t kLineBits = 512;
  constexpr uint64_t kMostBits = uint64_t{1} << 31;
  const auto bits_per_key = static_cast<uint64_t>(format_.plain.bloom_bits_per_key);
  const auto wanted = static_cast<uint32_t>(std::min(hashes_.size() * bits_per_key, kMostBits));
  std::string bits;
  *line_count = 0;
  if (format_.bloom_locality == 0) {
    const uint32_t bit_count = (wanted + 7) / 8 * 8;
    bits.resize(bit_count / 8);
    for (const uint32_t hash : hashes_) SetBits(hash, &bits, bit_count, kProbeCount);
    return bits;
  }
  // An odd number of lines uses more bits of the hash.
  *line_count = ((wanted + kLineBits - 1) / kLineBits) | 1;
  bits.resize(size_t{*line_count} * (kLineBits / 8));
  for (const uint32_t hash : hashes_) SetBitsInLine(hash, &bits, *line_count, kProbeCount);
  return bits;
}

Status PlainTableWriter::Finish(std::string*, std::vector<BareMetaBlock>* blocks,
                                TableProperties* properties) {
  assert(properties != nullptr);
  assert(row_bytes_ > 0);
  UserCollectedProperties& own = properties->user_collected_properties;
  const bool shares_prefixes = format_.plain.encoding_type == kPrefix;
  properties->format_version = shares_prefixes ? 1 : 0;
  properties->fixed_key_len = format_.plain.user_key_len;
  properties->prefix_extractor_name =
      format_.prefix_extractor == nullptr ? "nullptr" : format_.prefix_extractor->AsString();
  PutFixed32(&own[kPlainEncodingProperty], shares_prefixes ? 1 : 0);
  if (!format_.plain.store_index_in_file) return Status::OK();
  assert(blocks != nullptr);
  own[kPlainBloomVersionProperty] = "1";
  uint32_t line_count = 0;
  if (format_.plain.bloom_bits_per_key > 0) {
    blocks->push_back({kBloomName, BloomBlock(&line_count)});
    properties->filter_size = blocks->back().contents.size();
  }
  PutVarint32(&own[kPlainBloomLinesProperty], line_count);
  blocks->push_back({kIndexName, index_.Finish()});
  properties->index_size = blocks->back().contents.size();
  return Status::OK();
}

}  // namespace ashlar
