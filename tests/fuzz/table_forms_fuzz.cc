// SPDX-License-Identifier: Apache-2.0
//
// Tables of every form that is written: partitioned filters and indexes, Ribbon, hash and first-key
// indexes, dictionaries, separate values, aligned blocks. Any entries can be read back, entry by
// entry and key by key; and a table with any bytes replaced, and without checksums, is read without
// a crash.
//
//   form, 4 bytes | patches, 3 bytes each, their number first | entries: key length, key, value
#include <algorithm>
#include <cstdint>
#include <cstdlib>
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

using Rows = std::map<std::string, std::string>;

constexpr size_t kMaxSteps = 100000;

struct Form {
  explicit Form(Input* input);

  BlockBasedTableOptions table;
  TableBuilderOptions options;  // points to the other members
  std::unique_ptr<const SliceTransform> extractor;
  const InternalKeyComparator icmp{BytewiseComparator()};
};

Form::Form(Input* input) {
  using Table = BlockBasedTableOptions;
  const uint8_t index = input->Byte(), filter = input->Byte(), blocks = input->Byte(),
                packing = input->Byte();
  table.checksum = kNoChecksum;
  table.format_version = 2 + index % 6;
  table.index_type = static_cast<Table::IndexType>(index / 8 % 4);
  table.index_block_restart_interval = 1 + index / 32 % 4;
  table.metadata_block_size = 32 + index;
  if (filter % 4 == 1) table.filter_policy.reset(NewBloomFilterPolicy(10));
  if (filter % 4 == 2) table.filter_policy.reset(NewRibbonFilterPolicy(10, -1));
  if (filter % 4 == 3) table.filter_policy.reset(NewBloomFilterPolicy(2));
  table.partition_filters = (filter & 8) != 0;
  table.decouple_partitioned_filters = (filter & 16) != 0;
  table.whole_key_filtering = (filter & 32) != 0;
  table.optimize_filters_for_memory = (filter & 64) != 0;
  if ((filter & 128) != 0) extractor.reset(NewFixedPrefixTransform(2));
  table.block_size = 1 + 8 * uint64_t{blocks};
  table.block_restart_interval = 1 + blocks % 5;
  table.separate_key_value_in_data_block = (packing & 1) != 0;
  if ((packing & 2) != 0) table.data_block_index_type = Table::kDataBlockBinaryAndHash;
  if ((packing & 4) != 0) table.super_block_alignment_size = 512;
  if ((packing & 8) != 0) table.uniform_cv_threshold = 0.5;
  if ((packing & 16) != 0) options.compression_opts.max_dict_bytes = 200;
  constexpr CompressionType kTypes[] = {kNoCompression, kLZ4Compression, kZSTD, kSnappyCompression};
  options.compression = kTypes[packing / 64];
  if (!IsCompressionSupported(options.compression)) options.compression = kNoCompression;
  options.icmp = &icmp;
  options.table = &table;
  options.prefix_extractor = extractor.get();
}

std::string Build(const Form& form, const Rows& rows) {
  std::string bytes;
  const std::unique_ptr<FileWriter> writer = WriterIntoString(&bytes);
  TableBuilder builder(form.options, writer.get());
  for (const auto& [key, value] : rows) {
    if (!builder.Add(MakeInternalKey(key, 7, kTypeValue), value).ok()) std::abort();
  }
  if (!builder.Finish().ok()) std::abort();
  return bytes;
}

Result<std::unique_ptr<TableReader>> Open(const Form& form, std::string bytes) {
  TableReaderOptions options;
  options.icmp = &form.icmp;
  options.prefix_extractor = form.extractor.get();
  return TableReader::Open(ReaderOverBytes(std::move(bytes), "fuzz.sst"), options);
}

void CheckRows(const TableReader& table, const Rows& rows) {
  const std::unique_ptr<InternalIterator> iterator(table.NewIterator(ReadOptions(), nullptr));
  iterator->SeekToFirst();
  for (const auto& [user_key, value] : rows) {
    if (!iterator->Valid() || ExtractUserKey(iterator->key()) != Slice(user_key) ||
        iterator->value() != Slice(value)) {
      std::abort();
    }
    iterator->Next();
    const LookupKey key(user_key, kMaxSequenceNumber, KeyOrder::kBytewise);
    PinnableSlice found;
    PointLookup lookup(key, &found);
    if (!LookUp(table, ReadOptions(), &lookup).ok() ||
        lookup.outcome() != PointLookup::Outcome::kFound || found != Slice(value)) {
      std::abort();
    }
  }
  if (iterator->Valid() || !iterator->status().ok()) std::abort();
  if (!table.VerifyChecksums(ReadOptions()).ok()) std::abort();
}

void ReadAnything(const TableReader& table, const Rows& rows) {
  const std::unique_ptr<InternalIterator> iterator(table.NewIterator(ReadOptions(), nullptr));
  size_t steps = 0;
  for (iterator->SeekToFirst(); iterator->Valid() && steps < kMaxSteps; iterator->Next()) ++steps;
  steps = 0;
  for (iterator->SeekToLast(); iterator->Valid() && steps < kMaxSteps; iterator->Prev()) ++steps;
  for (const auto& row : rows) {
    const LookupKey key(row.first, kMaxSequenceNumber, KeyOrder::kBytewise);
    PinnableSlice value;
    PointLookup lookup(key, &value);
    IgnoreError(LookUp(table, ReadOptions(), &lookup), "any answer will do");
    iterator->Seek(MakeInternalKey(row.first, 7, kTypeValue));
  }
  IgnoreError(table.VerifyChecksums(ReadOptions()), "any answer will do");
}

void Run(Input* input) {
  const Form form(input);
  std::string patches;
  const size_t patch_count = input->Byte() % 8;
  patches = input->Bytes(3 * patch_count);
  Rows rows;
  while (!input->empty()) {
    const uint8_t lengths = input->Byte();
    std::string key = input->Bytes(1 + lengths % 16);
    rows[std::move(key)] = std::string(lengths / 4, 'v') + input->Bytes(lengths / 16);
  }
  if (rows.empty()) return;
  std::string bytes = Build(form, rows);
  auto table = Open(form, bytes);
  if (!table.ok()) std::abort();
  CheckRows(**table, rows);
  if (patches.empty()) return;
  for (size_t i = 0; i + 2 < patches.size(); i += 3) {
    const size_t place =
        static_cast<uint8_t>(patches[i]) * size_t{256} + static_cast<uint8_t>(patches[i + 1]);
    bytes[place % bytes.size()] = patches[i + 2];
  }
  auto damaged = Open(form, bytes);
  if (damaged.ok()) ReadAnything(**damaged, rows);
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ashlar::Input input(data, size);
  ashlar::Run(&input);
  ashlar::EpochDrain();
  return 0;
}
