// SPDX-License-Identifier: Apache-2.0
//
// The writers of tables: with blocks, PlainTables and CuckooTables, with any options, and entries
// of any type. A writer takes exactly the entries that its format can hold, and the table that it
// writes has them all: in both directions, by seeks and by lookups, as a map has them.
//
//   form, 6 bytes | entries: lengths, type and sequence number, key, value
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "table/format/compression.h"
#include "table/plain/bare_table_writer.h"
#include "table/sst/read/table_reader.h"
#include "table/sst/write/table_builder.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/support/memory_writer.h"
#include "tests/support/sample_table.h"
#include "tests/support/table_lookup.h"
#include "util/keys/internal_key.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

void Require(bool is_right) {
  if (!is_right) std::abort();
}

// The versions of each key, newest first.
struct Place {
  std::string user_key;
  SequenceNumber seqno;
  bool operator<(const Place& other) const {
    if (user_key != other.user_key) return user_key < other.user_key;
    return seqno > other.seqno;
  }
};
struct Entry {
  ValueType type;
  std::string value;  // of deletions empty
};
using Rows = std::map<Place, Entry>;

std::string KeyOf(const Place& place, const Entry& entry) {
  return MakeInternalKey(place.user_key, place.seqno, entry.type);
}

struct Form {
  explicit Form(Input* input);
  void DrawBlocks(uint8_t index, uint8_t filter, uint8_t packing);
  void DrawPlain(uint8_t index, uint8_t filter, uint8_t packing);
  void DrawCuckoo(uint8_t ratio, uint8_t search, uint8_t hashes);

  BareTableFormat bare;
  BlockBasedTableOptions table;
  TableBuilderOptions options;  // points to the other members
  std::unique_ptr<const SliceTransform> extractor;
  bool drops_others = false;  // entries that the format cannot hold are not offered
  size_t key_bytes = 0;       // 0: any
  size_t value_bytes = 0;     // of CuckooTables, if others are dropped
  const InternalKeyComparator icmp{BytewiseComparator()};
};

Form::Form(Input* input) {
  const uint8_t kind = input->Byte(), extractors = input->Byte(), lengths = input->Byte(),
                first = input->Byte(), second = input->Byte(), third = input->Byte();
  if (extractors % 4 == 1) extractor.reset(NewFixedPrefixTransform(2));
  if (extractors % 4 == 2) extractor.reset(NewCappedPrefixTransform(3));
  if (extractors % 4 == 3) extractor.reset(NewNoopTransform());
  drops_others = (kind & 128) != 0;
  key_bytes = lengths % 16;
  value_bytes = lengths / 16;
  switch (kind % 3) {
    case 0: DrawBlocks(first, second, third); break;
    case 1: DrawPlain(first, second, third); break;
    default: DrawCuckoo(first, second, third);
  }
  bare.prefix_extractor = extractor.get();
  options.icmp = &icmp;
  options.table = &table;
  options.bare = &bare;
  options.prefix_extractor = extractor.get();
}

void Form::DrawBlocks(uint8_t index, uint8_t filter, uint8_t packing) {
  using Table = BlockBasedTableOptions;
  key_bytes = 0;
  table.format_version = 2 + index % 6;
  table.index_type = static_cast<Table::IndexType>(index / 8 % 4);
  constexpr ChecksumType kChecksums[] = {kXXH3, kCRC32c, kxxHash64, kNoChecksum};
  table.checksum = kChecksums[index / 32 % 4];
  if (filter % 4 == 1) table.filter_policy.reset(NewBloomFilterPolicy(10));
  if (filter % 4 == 2) table.filter_policy.reset(NewRibbonFilterPolicy(10, -1));
  table.partition_filters = (filter & 8) != 0;
  table.whole_key_filtering = (filter & 16) != 0;
  table.block_size = 1 + 16 * uint64_t{filter};
  table.block_restart_interval = 1 + packing % 5;
  if ((packing & 8) != 0) table.data_block_index_type = Table::kDataBlockBinaryAndHash;
  constexpr CompressionType kTypes[] = {kNoCompression, kLZ4Compression, kZSTD, kSnappyCompression};
  options.compression = kTypes[packing / 64];
  if (!IsCompressionSupported(options.compression)) options.compression = kNoCompression;
}

void Form::DrawPlain(uint8_t index, uint8_t filter, uint8_t packing) {
  bare.kind = BareTableKind::kPlain;
  constexpr double kRatios[] = {0, 0.01, 0.75, 3};
  bare.plain.hash_table_ratio = kRatios[index % 4];
  bare.plain.index_sparseness = index / 4;
  bare.plain.bloom_bits_per_key = filter % 32;
  bare.bloom_locality = filter / 128;
  bare.plain.encoding_type = (packing & 1) != 0 ? kPrefix : kPlain;
  bare.plain.full_scan_mode = (packing & 2) != 0;
  bare.plain.store_index_in_file = (packing & 4) != 0;
  if ((packing & 8) != 0) key_bytes = 0;
  bare.plain.user_key_len = static_cast<uint32_t>(key_bytes);
}

void Form::DrawCuckoo(uint8_t ratio, uint8_t search, uint8_t hashes) {
  bare.kind = BareTableKind::kCuckoo;
  bare.cuckoo.hash_table_ratio = std::min(1.0, 0.01 + ratio / 200.0);
  bare.cuckoo.max_search_depth = 1 + search;
  bare.cuckoo.cuckoo_block_size = 1 + hashes / 4;
  bare.cuckoo.identity_as_first_hash = (hashes & 1) != 0;
  bare.cuckoo.use_module_hash = (hashes & 2) != 0;
}

// Whether the format can hold the entry behind those that it has.
bool Fits(const Form& form, const Rows& before, const Place& place, const Entry& entry) {
  if (!CheckBareEntry(form.bare, entry.type, place.user_key.size()).ok()) return false;
  if (form.bare.kind != BareTableKind::kCuckoo || before.empty()) return true;
  const Place& last = before.rbegin()->first;
  if (place.user_key.size() != last.user_key.size() || place.user_key == last.user_key) {
    return false;
  }
  if (entry.type != kTypeValue) return true;
  const auto value = std::find_if(before.begin(), before.end(),
                                  [](const auto& row) { return row.second.type == kTypeValue; });
  return value == before.end() || value->second.value.size() == entry.value.size();
}

Rows DrawRows(const Form& form, Input* input) {
  constexpr ValueType kTypes[] = {kTypeValue, kTypeValue, kTypeDeletion, kTypeMerge,
                                  kTypeSingleDeletion};
  Rows rows;
  while (!input->empty()) {
    const uint8_t lengths = input->Byte(), version = input->Byte();
    const bool is_fixed = form.drops_others && form.key_bytes != 0;
    std::string key = input->Bytes(is_fixed ? form.key_bytes : lengths % 16);
    if (is_fixed) key.resize(form.key_bytes, 'k');
    const ValueType type = kTypes[version % 5];
    const bool has_value = type == kTypeValue || type == kTypeMerge;
    std::string value;
    if (has_value) value = input->Bytes(lengths / 32) + std::string(lengths / 16, 'v');
    if (has_value && form.drops_others && form.bare.kind == BareTableKind::kCuckoo) {
      value.resize(form.value_bytes, 'v');
    }
    rows[{std::move(key), version / 5u}] = {type, std::move(value)};
  }
  return rows;
}

// The entries that the table has, with its bytes; none if an entry was refused, as it must be.
Rows Write(const Form& form, const Rows& rows, std::string* bytes) {
  const std::unique_ptr<FileWriter> writer = WriterIntoString(bytes);
  TableBuilder builder(form.options, writer.get());
  Rows written;
  for (const auto& [place, entry] : rows) {
    const bool fits = Fits(form, written, place, entry);
    if (!fits && form.drops_others) continue;
    const Status status = builder.Add(KeyOf(place, entry), entry.value);
    Require(status.ok() == fits);
    if (!fits) {
      Require(status.IsNotSupported() || status.IsInvalidArgument());
      builder.Abandon();
      return {};
    }
    written.emplace(place, entry);
  }
  if (written.empty()) {
    builder.Abandon();
    return {};
  }
  const Status status = builder.Finish();
  if (status.ok()) return written;
  // The hash functions may not suffice to place all entries, and every key may be in use.
  Require(form.bare.kind == BareTableKind::kCuckoo && status.IsNotSupported());
  return {};
}

class Comparison {
 public:
  Comparison(const Form& form, const TableReader& table, const Rows& rows)
      : form_(form), table_(table), rows_(rows) {}

  void Run() {
    const std::unique_ptr<InternalIterator> it(table_.NewIterator(ReadOptions(), nullptr));
    it->SeekToFirst();
    for (auto row = rows_.begin(); row != rows_.end(); ++row, it->Next()) ExpectAt(*it, row);
    ExpectAt(*it, rows_.end());
    it->SeekToLast();
    for (auto row = rows_.end(); row != rows_.begin(); it->Prev()) ExpectAt(*it, --row);
    ExpectAt(*it, rows_.end());
    for (auto row = rows_.begin(); row != rows_.end(); ++row) {
      it->Seek(KeyOf(row->first, row->second));
      ExpectAt(*it, row);
      // Behind all versions of the key.
      it->Seek(MakeInternalKey(row->first.user_key + '\0', kMaxSequenceNumber, kValueTypeForSeek));
      ExpectAt(*it, rows_.lower_bound({row->first.user_key + '\0', kMaxSequenceNumber}));
      Look(row->first, row->second);
    }
    const TableProperties& properties = table_.properties();
    Require(properties.num_entries == rows_.size());
    Require(table_.VerifyChecksums(ReadOptions()).ok());
  }

 private:
  void ExpectAt(const InternalIterator& it, Rows::const_iterator row) const {
    Require(it.status().ok());
    Require(it.Valid() == (row != rows_.end()));
    if (!it.Valid()) return;
    Require(it.key() == Slice(KeyOf(row->first, row->second)));
    const bool has_filler =
        form_.bare.kind == BareTableKind::kCuckoo && row->second.type == kTypeDeletion;
    Require(has_filler || it.value() == Slice(row->second.value));
  }

  void Look(const Place& place, const Entry& entry) const {
    const LookupKey key(place.user_key, place.seqno, KeyOrder::kBytewise);
    PinnableSlice value;
    PointLookup lookup(key, &value);
    Require(LookUp(table_, ReadOptions(), &lookup).ok());
    switch (entry.type) {
      case kTypeValue:
        Require(lookup.outcome() == PointLookup::Outcome::kFound && value == Slice(entry.value));
        break;
      case kTypeMerge:
        Require(lookup.operands() != nullptr);
        Require(lookup.operands()->all().front() == Slice(entry.value));
        break;
      default: Require(lookup.outcome() == PointLookup::Outcome::kDeleted);
    }
  }

  const Form& form_;
  const TableReader& table_;
  const Rows& rows_;
};

void Run(Input* input) {
  const Form form(input);
  if (!CheckBareFormat(form.bare).ok()) return;
  std::string bytes;
  const Rows rows = Write(form, DrawRows(form, input), &bytes);
  if (rows.empty()) return;
  TableReaderOptions options;
  options.icmp = &form.icmp;
  options.prefix_extractor = form.extractor.get();
  auto table = TableReader::Open(ReaderOverBytes(std::move(bytes), "fuzz.sst"), options);
  Require(table.ok());
  Comparison(form, **table, rows).Run();
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ashlar::Input input(data, size);
  ashlar::Run(&input);
  ashlar::EpochDrain();
  return 0;
}
