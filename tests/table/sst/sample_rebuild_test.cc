// SPDX-License-Identifier: Apache-2.0
//
// Rebuilds sample tables from their listings. The bytes must be those of RocksDB: always for data
// blocks, filter and index, and for samples of version 11.9 for the whole file.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "ashlar/table_properties.h"
#include "table/format/compression.h"
#include "table/format/footer.h"
#include "table/format/meta_block_names.h"
#include "table/format/plain_block.h"
#include "table/format/properties.h"
#include "table/format/table_property_names.h"
#include "table/sst/write/table_builder.h"
#include "tests/support/json.h"
#include "tests/support/memory_writer.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

// How the samples were written, according to their descriptions.
struct Sample {
  const char* name;
  CompressionType compression = kNoCompression;
  uint64_t block_bytes = 512;
  const char* setting = "";  // see Configure
};

// v78_comp_lz4_* are missing, because 7.8 calls another function of the library.
const Sample kSamples[] = {
    {"v78_basic20_fv5"},
    {"v78_crc32c_fv2"},
    {"v78_crc32c_fv3"},
    {"v78_crc32c_fv4"},
    {"v78_checksum_crc32c_fv5"},
    {"v78_checksum_nochecksum_fv5"},
    {"v78_checksum_xxh3_fv5"},
    {"v78_checksum_xxhash64_fv5"},
    {"v78_checksum_xxhash_fv5"},
    {"v78_comp_snappy_fv2", kSnappyCompression, 2048},
    {"v78_comp_snappy_fv5", kSnappyCompression, 2048},
    {"v78_comp_zlib_fv2", kZlibCompression, 2048},
    {"v78_comp_zlib_fv5", kZlibCompression, 2048},
    {"v78_comp_bzip2_fv5", kBZip2Compression, 2048},
    {"v78_comp_lz4hc_fv2", kLZ4HCCompression, 2048},
    {"v78_comp_lz4hc_fv5", kLZ4HCCompression, 2048},
    {"v78_comp_zstd_fv2", kZSTD, 2048},
    {"v78_comp_zstd_fv5", kZSTD, 2048},
    {"v78_blockalign_fv5", kNoCompression, 4096, "aligned"},
    {"v78_dict_lz4_fv5", kLZ4Compression, 1024, "dictionary"},
    {"v78_dict_snappy_fv5", kSnappyCompression, 1024, "dictionary"},
    {"v78_dict_zlib_fv5", kZlibCompression, 1024, "dictionary"},
    {"v78_dict_zstd_fv5", kZSTD, 1024, "dictionary"},
    {"v78_dict_zstd_trained_fv5", kZSTD, 1024, "dictionary, trained"},
    {"v78_datablock_hash_fv5", kNoCompression, 1024, "hash 0.75"},
    {"v78_datablock_hash_ri4_fv5", kNoCompression, 1024, "hash 1, data interval 4"},
    {"v78_index_firstkey_fv5", kNoCompression, 512, "first keys"},
    {"v78_index_firstkey_ri8_fv5", kNoCompression, 512, "first keys, index interval 8"},
    {"v78_index_hash_fv5", kNoCompression, 512, "prefix index, fixed 6"},
    {"v78_index_ri8_fv3", kNoCompression, 512, "index interval 8"},
    {"v78_index_ri8_fv4", kNoCompression, 512, "index interval 8"},
    {"v78_index_ri8_fv5", kNoCompression, 512, "index interval 8"},
    {"v78_index_twolevel_fv5", kNoCompression, 512, "partitions 128"},
    {"v78_legacybloom_fv4"},
    {"v78_partitioned_filter_fv3", kNoCompression, 512, "partitions 256, filter partitions"},
    {"v78_partitioned_filter_fv5", kNoCompression, 512,
     "partitions 256, filter partitions, index interval 4"},
    {"v78_partitioned_filter_prefix_fv5", kNoCompression, 512,
     "partitions 256, filter partitions, fixed 7"},
    {"v78_ribbon_fv5", kZSTD, 4096, "ribbon"},
    {"v119_ribbon_fv7", kZSTD, 4096, "ribbon"},
    {"v119_partitioned_decoupled_fv7", kNoCompression, 512,
     "partitions 256, filter partitions, decoupled"},
    {"v78_mixedtypes_fv5"},
    {"v78_nodelta_fv5", kNoCompression, 512, "no delta"},
    {"v78_nofilter_fv5", kNoCompression, 512, "no filter"},
    {"v78_prefix_and_whole_fv4", kNoCompression, 512, "capped 7"},
    {"v78_prefix_bloom_only_fv5", kNoCompression, 512, "fixed 8, no whole keys"},
    {"v78_rangedel_fv5"},
    {"v78_rangedel_only_fv5"},
    {"v78_reverse_fv5"},
    {"v78_shorten_none_fv5", kNoCompression, 512, "shorten none"},
    {"v78_shorten_successor_fv5", kNoCompression, 512, "shorten successor"},
    {"v78_versions_fv5"},
    {"v119_none_fv2", kNoCompression, 512, "newer separators"},
    {"v119_none_fv3"},
    {"v119_none_fv4"},
    {"v119_none_fv5"},
    {"v119_checksum_crc32c_fv6"},
    {"v119_checksum_crc32c_fv7"},
    {"v119_checksum_nochecksum_fv6"},
    {"v119_checksum_nochecksum_fv7"},
    {"v119_checksum_xxh3_fv6"},
    {"v119_checksum_xxh3_fv7"},
    {"v119_checksum_xxhash64_fv6"},
    {"v119_checksum_xxhash64_fv7"},
    {"v119_checksum_xxhash_fv6"},
    {"v119_checksum_xxhash_fv7"},
    {"v119_comp_snappy_fv6", kSnappyCompression, 2048},
    {"v119_comp_lz4_fv6", kLZ4Compression, 2048},
    {"v119_comp_lz4_fv7", kLZ4Compression, 2048},
    {"v119_comp_lz4hc_fv6", kLZ4HCCompression, 2048},
    {"v119_comp_zstd_fv6", kZSTD, 2048},
    {"v119_comp_zstd_fv7", kZSTD, 2048},
    {"v119_defaults", kLZ4Compression, 4096, "fit probes"},
    {"v119_dict_zstd_fv7", kZSTD, 1024, "dictionary"},
    {"v119_superblock_fv7", kNoCompression, 512, "super blocks"},
    {"v119_separate_kv_fv7", kNoCompression, 512, "separate, data interval 8"},
    {"v119_separate_kv_hash_fv7", kNoCompression, 512, "separate, hash, data interval 4"},
    {"v119_uniform_index_fv7_shorten_none", kNoCompression, 512, "uniform, shorten none"},
    {"v119_versions_fv7"},
};

std::string BasePath(const std::string& name) {
  const std::string own = SourcePath("tests/data/sst/" + name);
  return std::filesystem::exists(own + ".sst") ? own : SharedPath("data/sst/" + name);
}

// The parts of a table, found without the table reader.
struct Parts {
  Footer footer;
  std::map<std::string, BlockHandle> meta;
  TableProperties properties;

  explicit Parts(const std::string& file) {
    const Slice tail(file.data() + file.size() - kFooterBytes, kFooterBytes);
    footer = DecodeFooter(tail, file.size(), "sample").Take();
    PlainBlockParser block(BlockOf(file, footer.metaindex));
    while (block.Next()) {
      Slice value = block.value();
      EXPECT_TRUE(GetBlockHandle(&value, &meta[block.key().ToString()]));
    }
    const BlockHandle handle = meta[std::string(kPropertiesBlockName)];
    properties = ParsePropertiesBlock(BlockOf(file, handle), handle.offset, "sample").Take();
    if (footer.index.IsNull()) footer.index = meta[std::string(kIndexBlockName)];
  }

  static Slice BlockOf(const std::string& file, const BlockHandle& handle) {
    return Slice(file.data() + handle.offset, handle.size);
  }
};

class Rebuilder {
 public:
  explicit Rebuilder(const Sample& sample) : sample_(sample) {
    original_ = ReadTestFile(BasePath(sample.name) + ".sst");
    listing_ = Json::ParseFile(BasePath(sample.name) + ".json");
    parts_ = std::make_unique<Parts>(original_);
    Configure();
    CopyFacts();
  }

  const std::string& original() const { return original_; }
  const Parts& parts() const { return *parts_; }

  std::string Rebuild() {
    std::string contents;
    const std::unique_ptr<FileWriter> writer = WriterIntoString(&contents);
    TableBuilder builder(options_, writer.get());
    AddAll(listing_["entries"], &builder);
    AddAll(listing_["range_tombstones"], &builder);
    EXPECT_OK(builder.Finish());
    return contents;
  }

 private:
  bool Has(std::string_view setting) const {
    return std::string_view(sample_.setting).find(setting) != std::string_view::npos;
  }

  void Configure() {
    table_.format_version = parts_->footer.format_version;
    table_.checksum = parts_->footer.checksum.type;
    table_.block_size = sample_.block_bytes;
    if (!Has("no filter")) table_.filter_policy.reset(NewBloomFilterPolicy(10));
    if (Has("ribbon")) table_.filter_policy.reset(NewRibbonFilterPolicy(10, /*before level*/ -1));
    table_.data_block_index_type = BlockBasedTableOptions::kDataBlockBinarySearch;
    if (Has("hash")) {
      table_.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
      table_.data_block_hash_table_util_ratio = Has("hash 1") ? 1.0 : 0.75;
    }
    table_.optimize_filters_for_memory = Has("fit probes");
    if (Has("data interval 4")) table_.block_restart_interval = 4;
    if (Has("data interval 8")) table_.block_restart_interval = 8;
    table_.separate_key_value_in_data_block = Has("separate");
    if (Has("uniform")) table_.uniform_cv_threshold = 0.5;
    if (Has("index interval 4")) table_.index_block_restart_interval = 4;
    if (Has("index interval 8")) table_.index_block_restart_interval = 8;
    if (Has("first keys")) table_.index_type = BlockBasedTableOptions::kBinarySearchWithFirstKey;
    if (Has("prefix index")) table_.index_type = BlockBasedTableOptions::kHashSearch;
    if (Has("partitions")) table_.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
    if (Has("filter partitions")) table_.decouple_partitioned_filters = Has("decoupled");
    table_.partition_filters = Has("filter partitions");
    if (Has("partitions 256")) table_.metadata_block_size = 256;
    if (Has("partitions 128")) table_.metadata_block_size = 128;
    table_.block_align = Has("aligned");
    if (Has("super blocks")) table_.super_block_alignment_size = 4096;
    if (Has("super blocks")) table_.super_block_alignment_space_overhead_ratio = 4;
    if (Has("no delta")) table_.use_delta_encoding = false;
    if (Has("no whole keys")) table_.whole_key_filtering = false;
    if (Has("capped 7")) extractor_.reset(NewCappedPrefixTransform(7));
    if (Has("fixed 6")) extractor_.reset(NewFixedPrefixTransform(6));
    if (Has("fixed 7")) extractor_.reset(NewFixedPrefixTransform(7));
    if (Has("fixed 8")) extractor_.reset(NewFixedPrefixTransform(8));
    using Mode = BlockBasedTableOptions::IndexShorteningMode;
    if (Has("shorten none")) table_.index_shortening = Mode::kNoShortening;
    if (Has("shorten successor")) table_.index_shortening = Mode::kShortenSeparatorsAndSuccessor;
  }

  void CopyFacts() {
    const TableProperties& p = parts_->properties;
    const bool is_reverse = p.comparator_name == ReverseBytewiseComparator()->Name();
    icmp_ = std::make_unique<InternalKeyComparator>(is_reverse ? ReverseBytewiseComparator()
                                                               : BytewiseComparator());
    options_.icmp = icmp_.get();
    options_.table = &table_;
    options_.compression = sample_.compression;
    if (Has("dictionary")) options_.compression_opts.max_dict_bytes = 2048;
    if (Has("trained")) options_.compression_opts.zstd_max_train_bytes = 65536;
    options_.prefix_extractor = extractor_.get();
    options_.column_family_id = static_cast<uint32_t>(p.column_family_id);
    options_.column_family_name = p.column_family_name;
    if (p.merge_operator_name != "nullptr") options_.merge_operator_name = p.merge_operator_name;
    options_.db_id = p.db_id;
    options_.db_session_id = p.db_session_id;
    options_.db_host_id = p.db_host_id;
    options_.file_number = FileNumber{p.orig_file_number};
    options_.oldest_ancestor_time = p.creation_time;
    options_.oldest_key_time = p.oldest_key_time;
    options_.newest_key_time = p.newest_key_time;
    options_.file_creation_time = p.file_creation_time;
    options_.base_context_checksum = parts_->footer.checksum.base;
  }

  static void AddAll(const Json& entries, TableBuilder* builder) {
    for (const Json& entry : entries.elements()) {
      ASSERT_OK(builder->Add(MakeInternalKey(FromHex(entry[0].text()), entry[1].number(),
                                             static_cast<ValueType>(entry[2].number())),
                             FromHex(entry[3].text())));
    }
  }

  const Sample sample_;
  std::string original_;
  Json listing_;
  std::unique_ptr<Parts> parts_;
  BlockBasedTableOptions table_;
  std::unique_ptr<const SliceTransform> extractor_;
  std::unique_ptr<InternalKeyComparator> icmp_;
  TableBuilderOptions options_;
};

class SampleRebuild : public testing::TestWithParam<Sample> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(BasePath(GetParam().name) + ".sst")) {
      return SkipAsMissing("shared sample tables");
    }
    if (!IsCompressionSupported(GetParam().compression)) return SkipAsMissing("compression");
    rebuilder_ = std::make_unique<Rebuilder>(GetParam());
  }
  // 11.9 does not count data blocks in files that are compressed with a sampled dictionary.
  bool CountsNoBlocks() const { return GetParam().name == std::string("v119_dict_zstd_fv7"); }
  bool IsOf119() const { return std::string_view(GetParam().name).starts_with("v119_"); }
  // In format_version 5 and older we end shortened separators as 7.8 does, which differs from 11.9.
  bool HasOtherSeparators() const { return GetParam().setting == std::string("newer separators"); }
  std::unique_ptr<Rebuilder> rebuilder_;
};

// Compares the first `n` bytes, in pieces, so that a failure shows the place.
void ExpectEqualBytes(const Slice& ours, const Slice& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) ASSERT_EQ(ours[i], theirs[i]) << "at byte " << i;
}

TEST_P(SampleRebuild, DataBlocksAreEqual) {
  const std::string rebuilt = rebuilder_->Rebuild();
  const size_t data_bytes = rebuilder_->parts().properties.data_size;
  ASSERT_EQ(Parts(rebuilt).properties.data_size, data_bytes);
  ExpectEqualBytes(Slice(rebuilt.data(), data_bytes),
                   Slice(rebuilder_->original().data(), data_bytes));
}

TEST_P(SampleRebuild, FilterIndexAndTombstonesAreEqual) {
  const std::string rebuilt = rebuilder_->Rebuild();
  const Parts ours(rebuilt);
  const Parts& theirs = rebuilder_->parts();
  if (!HasOtherSeparators()) {
    ExpectEqualBytes(Parts::BlockOf(rebuilt, ours.footer.index),
                     Parts::BlockOf(rebuilder_->original(), theirs.footer.index));
  }
  for (const auto& [name, handle] : theirs.meta) {
    if (name == kPropertiesBlockName || name == kIndexBlockName) continue;
    // RocksDB 7 adds an empty prefix to filters that have only prefixes.
    if (GetParam().name == std::string("v78_prefix_bloom_only_fv5")) continue;
    ASSERT_EQ(ours.meta.count(name), 1u) << name;
    ExpectEqualBytes(Parts::BlockOf(rebuilt, ours.meta.at(name)),
                     Parts::BlockOf(rebuilder_->original(), handle));
  }
  EXPECT_EQ(ours.meta.size(), theirs.meta.size());
}

// Data, filters, indexes with all their partitions, and range tombstones.
TEST_P(SampleRebuild, EveryByteBeforeThePropertiesIsEqual) {
  if (HasOtherSeparators()) GTEST_SKIP() << "index keys end in another kind";
  if (GetParam().name == std::string("v78_prefix_bloom_only_fv5")) GTEST_SKIP() << "see above";
  const std::string rebuilt = rebuilder_->Rebuild();
  const std::string properties(kPropertiesBlockName);
  const uint64_t end = rebuilder_->parts().meta.at(properties).offset;
  ASSERT_EQ(Parts(rebuilt).meta.at(properties).offset, end);
  ExpectEqualBytes(Slice(rebuilt.data(), end), Slice(rebuilder_->original().data(), end));
}

TEST_P(SampleRebuild, HoldsEveryPropertyOfTheOriginal) {
  const Parts ours(rebuilder_->Rebuild());
  const EncodedProperties rebuilt = EncodeProperties(ours.properties);
  for (const auto& [name, value] : EncodeProperties(rebuilder_->parts().properties)) {
    ASSERT_EQ(rebuilt.count(name), 1u) << name;
    if (CountsNoBlocks() && name == "rocksdb.num.data.blocks") continue;
    if (IsOf119()) {
      EXPECT_EQ(rebuilt.at(name), value) << name;
    }
  }
}

TEST_P(SampleRebuild, WholeFileIsEqualToThatOf119) {
  if (CountsNoBlocks()) GTEST_SKIP() << "its count of data blocks is 0";
  if (!IsOf119() || HasOtherSeparators()) GTEST_SKIP() << "older releases write fewer properties";
  ExpectEqualBytes(rebuilder_->Rebuild(), rebuilder_->original());
}

INSTANTIATE_TEST_SUITE_P(Samples, SampleRebuild, testing::ValuesIn(kSamples),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ashlar
