// SPDX-License-Identifier: Apache-2.0
//
// Random options, which are the same for the same seed.
#include "shape.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_partitioner.h>
#include <rocksdb/table.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>

namespace differential {
namespace {

constexpr uint64_t kShapeStream = 1u << 20;  // no session has this number
constexpr uint64_t kLogStream = kShapeStream + 2;

// A merge operator that appends operands; the first byte of an operand can have a special meaning:
// "!" makes the merge fail, "=x" makes the value x, "^x" makes the value the operand itself
// (returned as existing operand if it is the last one); all other operands are appended after a
// dot. Consecutive operands without special meaning can be merged with each other, and the result
// does not depend on where that happens.
class CarefulOperator : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "differential.Careful"; }
  bool FullMergeV2(const MergeOperationInput& input, MergeOperationOutput* output) const override;
  bool PartialMergeMulti(const rocksdb::Slice& key, const std::deque<rocksdb::Slice>& operands,
                         std::string* result, rocksdb::Logger* logger) const override;
};

char MarkOf(const rocksdb::Slice& operand) {
  const char first = operand.empty() ? '\0' : operand[0];
  return first == '!' || first == '=' || first == '^' ? first : '\0';
}

bool CarefulOperator::FullMergeV2(const MergeOperationInput& input,
                                  MergeOperationOutput* output) const {
  bool has_value = input.existing_value != nullptr;
  std::string value = has_value ? input.existing_value->ToString() : "";
  for (const rocksdb::Slice& operand : input.operand_list) {
    const char mark = MarkOf(operand);
    if (mark == '!') return false;
    if (mark == '=') {
      value.assign(operand.data() + 1, operand.size() - 1);
    } else if (mark == '^') {
      value = operand.ToString();
    } else {
      if (has_value) value += ".";
      value.append(operand.data(), operand.size());
    }
    has_value = true;
  }
  const rocksdb::Slice& last = input.operand_list.back();
  if (MarkOf(last) == '^')
    output->existing_operand = last;
  else
    output->new_value = value;
  return true;
}

bool CarefulOperator::PartialMergeMulti(const rocksdb::Slice&,
                                        const std::deque<rocksdb::Slice>& operands,
                                        std::string* result, rocksdb::Logger*) const {
  result->clear();
  bool is_first = true;
  for (const rocksdb::Slice& operand : operands) {
    if (MarkOf(operand) != '\0') return false;
    if (!is_first) result->append(".");
    result->append(operand.data(), operand.size());
    is_first = false;
  }
  return true;
}

void SetOperator(Family* family) {
  if (family->operator_name.empty()) return;
  if (family->IsCareful()) {
    family->merge_operator = std::make_shared<CarefulOperator>();
    return;
  }
  const rocksdb::Status status = rocksdb::MergeOperator::CreateFromString(
      rocksdb::ConfigOptions(), family->operator_name, &family->merge_operator);
  if (status.ok()) return;
  std::fprintf(stderr, "merge operator %s: %s\n", family->operator_name.c_str(),
               status.ToString().c_str());
  std::exit(2);
}

rocksdb::DBOptions DbOptions(Draw* draw, bool* is_rocksdb) {
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.avoid_flush_during_recovery = draw->OneIn(2);
  options.avoid_flush_during_shutdown = draw->OneIn(2);
  options.enable_pipelined_write = draw->OneIn(4);
  options.max_open_files = draw->OneIn(3) ? 24 : -1;
  const size_t row_bytes = draw->Of<size_t>({0, 0, 4096, 1 << 20});
  // Only Ashlar has this option: RocksDB always writes files that it can read.
  rocksdb::DBOptions compatible;
  *is_rocksdb = !rocksdb::GetDBOptionsFromString(rocksdb::ConfigOptions(), options,
                                                 "write_compatible_with=7.8", &compatible)
                     .ok();
  // The row cache of RocksDB 7.8 returns rows that DeleteRange has deleted.
  if (*is_rocksdb) return options;
  if (row_bytes != 0) compatible.row_cache = rocksdb::NewLRUCache(row_bytes);
  return compatible;
}

std::shared_ptr<const rocksdb::SliceTransform> Extractor(Draw* draw) {
  switch (draw->Below(6)) {
    case 0:
      return std::shared_ptr<const rocksdb::SliceTransform>(rocksdb::NewFixedPrefixTransform(3));
    case 1:
      return std::shared_ptr<const rocksdb::SliceTransform>(rocksdb::NewFixedPrefixTransform(2));
    case 2:
      return std::shared_ptr<const rocksdb::SliceTransform>(rocksdb::NewCappedPrefixTransform(3));
    case 3: return std::shared_ptr<const rocksdb::SliceTransform>(rocksdb::NewNoopTransform());
    default: return nullptr;
  }
}

using TableOptions = rocksdb::BlockBasedTableOptions;

TableOptions PlainTable(Draw* draw, const std::shared_ptr<rocksdb::Cache>& cache) {
  TableOptions table;
  table.block_size = draw->Of<size_t>({64, 256, 1024, 4096});
  table.block_restart_interval = draw->Of<int>({1, 4, 16});
  table.format_version = static_cast<uint32_t>(2 + draw->Below(4));
  if (draw->OneIn(2))
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(draw->Of({4.0, 10.0})));
  table.whole_key_filtering = !draw->OneIn(4);
  table.cache_index_and_filter_blocks = draw->OneIn(2);
  table.pin_l0_filter_and_index_blocks_in_cache = draw->OneIn(2);
  if (draw->OneIn(3)) table.data_block_index_type = TableOptions::kDataBlockBinaryAndHash;
  table.checksum =
      draw->Of({rocksdb::kCRC32c, rocksdb::kxxHash, rocksdb::kxxHash64, rocksdb::kXXH3});
  table.no_block_cache = draw->OneIn(5) && !table.cache_index_and_filter_blocks &&
                         !table.pin_l0_filter_and_index_blocks_in_cache;
  if (!table.no_block_cache) table.block_cache = cache;
  return table;
}

// Adds options for features that not every build can write.
TableOptions ElaborateTable(TableOptions table, const rocksdb::SliceTransform* extractor,
                            Draw* draw) {
  table.use_delta_encoding = !draw->OneIn(5);
  table.index_shortening =
      draw->Of({TableOptions::IndexShorteningMode::kNoShortening,
                TableOptions::IndexShorteningMode::kShortenSeparators,
                TableOptions::IndexShorteningMode::kShortenSeparatorsAndSuccessor});
  if (draw->OneIn(4))
    table.prepopulate_block_cache = TableOptions::PrepopulateBlockCache::kFlushOnly;
  table.enable_index_compression = draw->OneIn(2);
  table.optimize_filters_for_memory = draw->OneIn(3);
  // A hash index of RocksDB computes the prefixes of all keys, also of keys without one.
  const bool all_have_prefixes = extractor != nullptr && extractor->InDomain(rocksdb::Slice());
  switch (draw->Below(5)) {
    case 0:
      table.index_type = TableOptions::kTwoLevelIndexSearch;
      table.metadata_block_size = 128;
      table.partition_filters = table.filter_policy != nullptr && draw->OneIn(2);
      break;
    case 1: table.index_type = TableOptions::kBinarySearchWithFirstKey; break;
    case 2:
      if (all_have_prefixes) table.index_type = TableOptions::kHashSearch;
      break;
    default: break;
  }
  if (table.filter_policy != nullptr && draw->OneIn(3)) {
    table.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10));
  }
  return table;
}

std::shared_ptr<rocksdb::Cache> BlockCache(Draw* draw) {
  rocksdb::LRUCacheOptions options;
  options.capacity = draw->OneIn(2) ? 8192 : 1 << 20;
  options.num_shard_bits = 0;
  if (draw->OneIn(4)) options.secondary_cache = rocksdb::NewCompressedSecondaryCache(1 << 20);
  return rocksdb::NewLRUCache(options);
}

void DrawBlobs(rocksdb::ColumnFamilyOptions* options, const std::shared_ptr<rocksdb::Cache>& cache,
               Draw* draw) {
  options->enable_blob_files = !draw->OneIn(4);
  options->min_blob_size = draw->Of<uint64_t>({0, 16, 300});
  options->blob_file_size = draw->Of<uint64_t>({1 << 10, 16 << 10, 1 << 20});
  options->blob_compression_type =
      draw->Of({rocksdb::kNoCompression, rocksdb::kLZ4Compression, rocksdb::kZSTD});
  options->enable_blob_garbage_collection = draw->OneIn(2);
  options->blob_garbage_collection_age_cutoff = draw->Of({0.25, 0.5, 1.0});
  options->blob_garbage_collection_force_threshold = draw->Of({0.3, 1.0});
  options->blob_file_starting_level = draw->Of<int>({0, 0, 1, 3});
  if (draw->OneIn(2)) options->blob_cache = cache;
  if (draw->OneIn(4)) options->prepopulate_blob_cache = rocksdb::PrepopulateBlobCache::kFlushOnly;
}

// Contents of tables other than entries, and their partitioning.
void DrawTables(rocksdb::ColumnFamilyOptions* options, Draw* draw) {
  options->bottommost_compression =
      draw->Of({rocksdb::kDisableCompressionOption, rocksdb::kNoCompression, rocksdb::kZSTD});
  options->compression_opts.max_dict_bytes = draw->Of<uint32_t>({0, 0, 512, 4096});
  const bool trains = draw->OneIn(2);
  if (trains && options->compression_opts.max_dict_bytes != 0) {
    options->compression_opts.zstd_max_train_bytes = 20000;
  }
  options->compression_opts.parallel_threads = draw->OneIn(4) ? 2 : 1;
  if (draw->OneIn(6)) {
    options->sst_partitioner_factory = rocksdb::NewSstPartitionerFixedPrefixFactory(2);
  }
}

bool IsFragile(uint64_t seed, int session) {
  return session >= 0 && Draw(seed, static_cast<uint64_t>(session), kShapeStream + 1).OneIn(4);
}

rocksdb::ColumnFamilyOptions FamilyOptions(const Shape& shape, const Family& family,
                                           bool must_not_flush, Draw* draw) {
  rocksdb::ColumnFamilyOptions options;
  options.comparator = family.comparator;
  options.merge_operator = family.merge_operator;
  options.num_levels = 5;
  options.level_compaction_dynamic_level_bytes = shape.has_dynamic_levels;
  options.write_buffer_size = must_not_flush || draw->OneIn(2) ? 4 << 20 : 64 << 10;
  options.target_file_size_base = draw->Of<uint64_t>({2 << 10, 16 << 10, 1 << 20});
  options.max_bytes_for_level_base = draw->Of<uint64_t>({8 << 10, 64 << 10, 4 << 20});
  options.max_bytes_for_level_multiplier = 3;
  options.level0_file_num_compaction_trigger = static_cast<int>(2 + draw->Below(3));
  options.disable_auto_compactions = draw->OneIn(2);
  options.prefix_extractor = Extractor(draw);
  options.memtable_prefix_bloom_size_ratio = draw->Of({0.0, 0.0, 0.02, 0.2});
  options.memtable_whole_key_filtering = draw->OneIn(2);
  options.max_successive_merges = draw->Of<size_t>({0, 0, 0, 2, 5});
  options.max_sequential_skip_in_iterations = draw->Of<uint64_t>({0, 1, 8});
  options.optimize_filters_for_hits = draw->OneIn(4);
  options.compression = draw->Of({rocksdb::kNoCompression, rocksdb::kSnappyCompression,
                                  rocksdb::kLZ4Compression, rocksdb::kZSTD});
  if (family.is_universal) options.compaction_style = rocksdb::kCompactionStyleUniversal;
  DrawTables(&options, draw);
  return options;
}

// After a change of the prefix extractor RocksDB 7.8 uses the current one for the filter of an
// older memtable and computes prefixes of keys that have none for a hash index; and seeks miss keys
// if the change comes during a flush.
bool MayChangeExtractor(const rocksdb::ColumnFamilyOptions& options, const TableOptions& table) {
  return options.disable_auto_compactions && options.write_buffer_size > 1 << 20 &&
         options.memtable_prefix_bloom_size_ratio == 0 &&
         table.index_type != TableOptions::kHashSearch;
}

}  // namespace

Shape ShapeOf(uint64_t seed) {
  Draw draw(seed, kShapeStream, 0);
  Shape shape;
  shape.seed = seed;
  shape.sessions = 3;
  shape.has_dynamic_levels = draw.OneIn(2);
  shape.ingests = draw.OneIn(3);
  for (const char* name : {"default", "first", "second"}) {
    Family family;
    family.name = name;
    family.comparator =
        draw.OneIn(4) ? rocksdb::ReverseBytewiseComparator() : rocksdb::BytewiseComparator();
    // Not sortlist: that of RocksDB reads beyond the end of its operands.
    family.operator_name =
        draw.Of({"careful", "careful", "careful", "uint64add", "put", "put_v1", "max",
                 "stringappend", "stringappendtest", "bytesxor", "", "", ""});
    family.is_universal = draw.OneIn(5);
    family.has_blobs = draw.OneIn(3);
    SetOperator(&family);
    shape.families.push_back(family);
  }
  // With a separate stream, so that the other values of a seed stay the same.
  return shape;
}

namespace {

// With a separate stream, so that the other values of a seed stay the same.
void DrawLogs(uint64_t seed, int session, rocksdb::DBOptions* options) {
  Draw draw(seed, static_cast<uint64_t>(session), kLogStream);
  if (draw.OneIn(3)) options->wal_compression = rocksdb::kZSTD;
  options->track_and_verify_wals_in_manifest = draw.OneIn(3);
}

}  // namespace

SessionShape SessionShapeOf(const Shape& shape, int session) {
  Draw draw(shape.seed, static_cast<uint64_t>(session), kShapeStream);
  SessionShape result;
  result.is_fragile = IsFragile(shape.seed, session);
  // Recovery must not flush entries between a session's write and its deletion.
  const bool must_not_flush = result.is_fragile || IsFragile(shape.seed, session - 1);
  result.ends_by_kill = draw.OneIn(2);
  result.db_options = DbOptions(&draw, &result.is_rocksdb);
  DrawLogs(shape.seed, session, &result.db_options);
  const std::shared_ptr<rocksdb::Cache> cache = BlockCache(&draw);
  for (const Family& family : shape.families) {
    rocksdb::ColumnFamilyOptions options = FamilyOptions(shape, family, must_not_flush, &draw);
    if (family.has_blobs) DrawBlobs(&options, cache, &draw);
    const TableOptions table = PlainTable(&draw, cache);
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    result.plain.push_back(options);
    TableOptions elaborate = ElaborateTable(table, options.prefix_extractor.get(), &draw);
    // RocksDB 7.8 puts indexes into the cache in their file format, and aborts.
    if (result.is_rocksdb) {
      elaborate.prepopulate_block_cache = TableOptions::PrepopulateBlockCache::kDisable;
    }
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(elaborate));
    result.elaborate.push_back(options);
    result.may_change_extractor.push_back(MayChangeExtractor(options, elaborate));
  }
  return result;
}

}  // namespace differential
