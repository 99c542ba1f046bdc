// SPDX-License-Identifier: Apache-2.0
//
// Tables are small, so that a thousand of them take seconds, and their blocks and partitions are
// even smaller, so that there are many boundaries.
#include "tests/support/table_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "table/format/compression.h"
#include "tests/support/memory_writer.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {

int MatrixChoices::Pick(const char* axis, int count) {
  const int value = static_cast<int>(random_.Uniform(static_cast<uint64_t>(count)));
  choices_.emplace_back(axis, value);
  return value;
}

std::string MatrixChoices::Describe() const {
  std::string text;
  for (const auto& [axis, value] : choices_) text += StrCat(axis, "=", value, " ");
  return text;
}

void MatrixCoverage::Add(const MatrixChoices& choices) {
  combinations_.insert(choices.Describe());
  const auto& all = choices.all();
  for (size_t i = 0; i < all.size(); ++i) {
    values_.insert(StrCat(all[i].first, "=", all[i].second));
    for (size_t j = i + 1; j < all.size(); ++j) {
      pairs_.emplace(StrCat(all[i].first, "=", all[i].second),
                     StrCat(all[j].first, "=", all[j].second));
    }
  }
}

size_t MatrixCoverage::possible_pairs() const {
  size_t pairs = 0;
  for (auto a = values_.begin(); a != values_.end(); ++a) {
    for (auto b = std::next(a); b != values_.end(); ++b) {
      pairs += a->substr(0, a->find('=')) != b->substr(0, b->find('='));
    }
  }
  return pairs;
}

namespace {

template <typename T, size_t n>
T OneOf(MatrixChoices* choices, const char* axis, const T (&values)[n]) {
  return values[choices->Pick(axis, static_cast<int>(n))];
}

CompressionType PickCompression(MatrixChoices* choices) {
  const CompressionType type =
      OneOf(choices, "compression",
            {kNoCompression, kSnappyCompression, kZlibCompression, kBZip2Compression,
             kLZ4Compression, kLZ4HCCompression, kZSTD});
  return IsCompressionSupported(type) ? type : kNoCompression;
}

void PickIndex(MatrixChoices* choices, MatrixTable* matrix) {
  using Table = BlockBasedTableOptions;
  using Shortening = Table::IndexShorteningMode;
  Table& table = matrix->table;
  table.index_type = OneOf(choices, "index",
                           {Table::kBinarySearch, Table::kHashSearch, Table::kTwoLevelIndexSearch,
                            Table::kTwoLevelIndexSearch, Table::kBinarySearchWithFirstKey});
  table.index_shortening = OneOf(choices, "shortening",
                                 {Shortening::kNoShortening, Shortening::kShortenSeparators,
                                  Shortening::kShortenSeparatorsAndSuccessor});
  table.index_block_restart_interval = OneOf(choices, "index_interval", {1, 3, 16});
  if (table.index_type == Table::kHashSearch) table.index_block_restart_interval = 1;
  table.enable_index_compression = choices->Flip("index_compression");
  table.metadata_block_size = OneOf(choices, "partition_bytes", {40, 200, 4096});
}

void PickFilter(MatrixChoices* choices, MatrixTable* matrix) {
  BlockBasedTableOptions& table = matrix->table;
  switch (choices->Pick("filter", 5)) {
    case 0: break;
    case 1: table.filter_policy.reset(NewBloomFilterPolicy(3.5)); break;
    case 2: table.filter_policy.reset(NewRibbonFilterPolicy(10, -1)); break;
    case 3: table.filter_policy.reset(NewRibbonFilterPolicy(10, 3)); break;
    default: table.filter_policy.reset(NewBloomFilterPolicy(10)); break;
  }
  matrix->options.level = OneOf(choices, "level", {0, 5});
  table.partition_filters = choices->Pick("filter_partitions", 3) != 0;
  table.decouple_partitioned_filters = choices->Flip("decoupled");
  table.whole_key_filtering = choices->Pick("whole_keys", 3) != 0;
  table.optimize_filters_for_memory = choices->Flip("fit_probes");
  table.detect_filter_construct_corruption = choices->Flip("check_filter");
  switch (choices->Pick("prefix", 3)) {
    case 0: break;
    case 1: matrix->extractor.reset(NewFixedPrefixTransform(4)); break;
    default: matrix->extractor.reset(NewCappedPrefixTransform(6)); break;
  }
}

void PickBlocks(MatrixChoices* choices, MatrixTable* matrix) {
  BlockBasedTableOptions& table = matrix->table;
  table.block_size = OneOf(choices, "block_bytes", {1, 64, 300, 4096});
  table.block_size_deviation = OneOf(choices, "deviation", {0, 10, 70});
  table.block_restart_interval = OneOf(choices, "interval", {1, 4, 16});
  table.use_delta_encoding = choices->Pick("delta", 4) != 0;
  table.data_block_index_type = choices->Flip("block_hash")
                                    ? BlockBasedTableOptions::kDataBlockBinaryAndHash
                                    : BlockBasedTableOptions::kDataBlockBinarySearch;
  table.data_block_hash_table_util_ratio = OneOf(choices, "hash_ratio", {0.5, 0.75, 1.0});
  table.checksum = OneOf(choices, "checksum", {kNoChecksum, kCRC32c, kxxHash, kxxHash64, kXXH3});
}

void PickCompressionOptions(MatrixChoices* choices, MatrixTable* matrix) {
  matrix->options.compression = PickCompression(choices);
  CompressionOptions& o = matrix->options.compression_opts;
  o.level =
      OneOf(choices, "compression_level", {CompressionOptions::kDefaultCompressionLevel, 1, 5});
  o.checksum = choices->Flip("frame_checksum");
  o.max_compressed_bytes_per_kb = OneOf(choices, "max_per_kb", {896, 1024});
  o.max_dict_bytes = OneOf<uint32_t>(choices, "dictionary", {0, 0, 100, 4000});
  o.zstd_max_train_bytes = OneOf<uint32_t>(choices, "train", {0, 0, 20'000});
  o.use_zstd_dict_trainer = choices->Flip("trainer");
  o.max_dict_buffer_bytes = OneOf<uint64_t>(choices, "dictionary_buffer", {0, 1, 2000});
  matrix->table.verify_compression = choices->Flip("verify_compression");
  const bool can_align = (matrix->table.block_size & (matrix->table.block_size - 1)) == 0;
  matrix->table.block_align = choices->Pick("align", 4) == 0 && can_align;
  if (matrix->table.block_align) matrix->options.compression = kNoCompression;
  matrix->table.super_block_alignment_size = OneOf(choices, "super_block", {0, 0, 512, 4096});
  matrix->table.super_block_alignment_space_overhead_ratio = OneOf(choices, "super_ratio", {1, 4});
}

// Options that no release of RocksDB before 11 can read.
void PickNewForms(MatrixChoices* choices, MatrixTable* matrix) {
  matrix->table.separate_key_value_in_data_block = choices->Pick("separate_values", 3) == 0;
  matrix->table.uniform_cv_threshold = OneOf(choices, "uniform", {-1.0, 0.3, 100.0});
}

// User keys, not sorted, with repetitions.
std::vector<std::string> PickKeys(MatrixChoices* choices, Random64* random) {
  std::vector<std::string> keys;
  const int kind = choices->Pick("keys", 7);
  const uint64_t count = kind == 5 ? 1 : kind == 6 ? 0 : 1 + random->Uniform(160);
  for (uint64_t i = 0; i < count; ++i) {
    char number[24];
    std::snprintf(number, sizeof(number), "%06llu", static_cast<unsigned long long>(i));
    switch (kind) {
      case 0: keys.push_back(StrCat("key", number)); break;
      case 1: keys.push_back(random->Bytes(random->Uniform(8))); break;
      case 2: keys.push_back(StrCat(std::string(40, 'p'), number)); break;
      case 3: keys.push_back(StrCat("few", random->Uniform(4))); break;
      default: keys.push_back(random->Letters(1 + random->Uniform(2)) + number); break;
    }
  }
  return keys;
}

void MakeEntries(MatrixChoices* choices, Random64* random, MatrixTable* matrix) {
  std::vector<std::string> keys = PickKeys(choices, random);
  const uint64_t most_versions = choices->Pick("versions", 2) == 0 ? 1 : 9;
  const bool has_long_values = choices->Flip("long_values");
  const Comparator& order = *matrix->icmp->user_comparator();
  std::sort(keys.begin(), keys.end(),
            [&](const auto& a, const auto& b) { return order.Compare(a, b) < 0; });
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const std::string& key : keys) {
    const uint64_t versions = 1 + random->Uniform(most_versions);
    for (uint64_t version = versions; version > 0; --version) {
      constexpr ValueType kTypes[] = {kTypeValue,    kTypeValue,          kTypeValue, kTypeValue,
                                      kTypeDeletion, kTypeSingleDeletion, kTypeMerge};
      const ValueType type = kTypes[random->Uniform(std::size(kTypes))];
      const bool has_value = type == kTypeValue || type == kTypeMerge;
      std::string value;
      if (has_value) value = random->Letters(random->Uniform(12));
      if (has_value) value += std::string(random->Uniform(has_long_values ? 900 : 40), 'v');
      matrix->points.push_back({MakeInternalKey(key, 10 * version, type), value});
    }
  }
  if (choices->Pick("tombstones", 3) != 0 && !keys.empty()) return;
  // Older than all points: they hide none.
  matrix->tombstones.push_back({MakeInternalKey("c", 3, kTypeRangeDeletion), "d"});
  matrix->tombstones.push_back({MakeInternalKey("c", 2, kTypeRangeDeletion), "d"});
  if (matrix->icmp->order() == KeyOrder::kReverseBytewise) {
    for (SampleEntry& tombstone : matrix->tombstones) tombstone.value = "a";
  }
}

void Write(MatrixTable* matrix) {
  const std::unique_ptr<FileWriter> writer = WriterIntoString(&matrix->bytes);
  TableBuilder builder(matrix->options, writer.get());
  for (const SampleEntry& entry : matrix->points) {
    ASSERT_OK(builder.Add(entry.internal_key, entry.value)) << matrix->description;
  }
  for (const SampleEntry& entry : matrix->tombstones) {
    ASSERT_OK(builder.Add(entry.internal_key, entry.value)) << matrix->description;
  }
  const uint64_t estimate = builder.EstimatedFileSize();
  ASSERT_OK(builder.Finish()) << matrix->description;
  EXPECT_GE(estimate + 4096, builder.FileSize() / 4) << matrix->description;
  EXPECT_EQ(builder.FileSize(), matrix->bytes.size());
  matrix->properties = builder.properties();
}

// Whatever the options, the number of compression threads does not change the output.
void WriteInParallel(const MatrixTable& matrix, uint32_t threads) {
  MatrixTable again;
  again.description = matrix.description;
  again.options = matrix.options;
  again.options.compression_opts.parallel_threads = threads;
  again.points = matrix.points;
  again.tombstones = matrix.tombstones;
  Write(&again);
  ASSERT_TRUE(again.bytes == matrix.bytes) << matrix.description << threads << " threads";
}

}  // namespace

std::unique_ptr<MatrixTable> MakeMatrixTable(uint64_t seed, bool reader_of_7_8) {
  auto matrix = std::make_unique<MatrixTable>();
  MatrixChoices choices(seed);
  matrix->table.format_version =
      static_cast<uint32_t>(2 + choices.Pick("format", reader_of_7_8 ? 4 : 6));
  const bool is_reverse = choices.Pick("reverse", 5) == 0;
  matrix->icmp = std::make_unique<InternalKeyComparator>(is_reverse ? ReverseBytewiseComparator()
                                                                    : BytewiseComparator());
  PickIndex(&choices, matrix.get());
  PickFilter(&choices, matrix.get());
  PickBlocks(&choices, matrix.get());
  PickCompressionOptions(&choices, matrix.get());
  if (!reader_of_7_8) PickNewForms(&choices, matrix.get());
  matrix->uses_cache = choices.Flip("cache");
  TableBuilderOptions& options = matrix->options;
  options.icmp = matrix->icmp.get();
  options.table = &matrix->table;
  options.prefix_extractor = matrix->extractor.get();
  options.column_family_id = 0;
  options.column_family_name = "default";
  options.db_id = "matrix";
  options.db_session_id = "ABCDEFGHIJKLMNOPQRST";
  options.file_number = FileNumber{seed + 1};
  Random64 random(seed ^ 0x5eed);
  MakeEntries(&choices, &random, matrix.get());
  matrix->description = StrCat("seed ", seed, ": ", choices.Describe());
  matrix->choices = choices;
  Write(matrix.get());
  if (seed % 3 != 0) WriteInParallel(*matrix, static_cast<uint32_t>(2 + seed % 2));
  return matrix;
}

}  // namespace ashlar
