// SPDX-License-Identifier: Apache-2.0
//
// Flags of large values, each with the name and default of its option, or with those of RocksDB's
// db_bench.
#include "tools/db_bench/blob_options.h"

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "tools/db_bench/flags.h"

namespace {
const ashlar::ColumnFamilyOptions& Defaults() {
  static const ashlar::ColumnFamilyOptions defaults;
  return defaults;
}
}  // namespace

DEFINE_bool(enable_blob_files, Defaults().enable_blob_files, "large values go to blob files");
DEFINE_uint64(min_blob_size, Defaults().min_blob_size, "bytes of the smallest value that does");
DEFINE_uint64(blob_file_size, Defaults().blob_file_size, "bytes at which a blob file ends");
DEFINE_string(blob_compression_type, "none", "none, snappy, zlib, bzip2, lz4, lz4hc or zstd");
DEFINE_bool(enable_blob_garbage_collection, Defaults().enable_blob_garbage_collection,
            "compactions move what is alive out of old blob files");
DEFINE_double(blob_garbage_collection_age_cutoff, Defaults().blob_garbage_collection_age_cutoff,
              "the part of the blob files, oldest first, that is old");
DEFINE_double(blob_garbage_collection_force_threshold,
              Defaults().blob_garbage_collection_force_threshold,
              "the share of garbage in old blob files that starts a compaction; 1: never");
DEFINE_uint64(blob_compaction_readahead_size, Defaults().blob_compaction_readahead_size,
              "bytes that compactions read ahead of blob files; 0: none");
DEFINE_int32(blob_file_starting_level, Defaults().blob_file_starting_level,
             "the first level whose tables have values in blob files");
DEFINE_bool(use_blob_cache, false, "large values that were read are cached");
DEFINE_bool(use_shared_block_and_blob_cache, true, "in the block cache, not in one of their own");
DEFINE_uint64(blob_cache_size, 8 << 20, "bytes of that one");
DEFINE_int32(blob_cache_numshardbits, 6, "it has 2 to this many shards; negative: by size");
DEFINE_int32(prepopulate_blob_cache, 0, "1: flushes put large values into the cache");

namespace ashlar {
namespace bench {
namespace {

struct NamedCompression {
  const char* name;
  CompressionType type;
};
constexpr NamedCompression kCompressions[] = {
    {"none", kNoCompression},
    {"snappy", kSnappyCompression},
    {"zlib", kZlibCompression},
    {"bzip2", kBZip2Compression},
    {"lz4", kLZ4Compression},
    {"lz4hc", kLZ4HCCompression},
    {"zstd", kZSTD},
};

}  // namespace

Status ParseCompression(const char* flag, const std::string& name, CompressionType* type) {
  for (const NamedCompression& known : kCompressions) {
    if (name == known.name) {
      *type = known.type;
      return Status::OK();
    }
  }
  return Status::InvalidArgument(std::string(flag) + ": no such compression", name);
}

Status SetBlobs(const std::shared_ptr<Cache>& block_cache, ColumnFamilyOptions* options) {
  options->enable_blob_files = FLAGS_enable_blob_files;
  options->min_blob_size = FLAGS_min_blob_size;
  options->blob_file_size = FLAGS_blob_file_size;
  options->enable_blob_garbage_collection = FLAGS_enable_blob_garbage_collection;
  options->blob_garbage_collection_age_cutoff = FLAGS_blob_garbage_collection_age_cutoff;
  options->blob_garbage_collection_force_threshold = FLAGS_blob_garbage_collection_force_threshold;
  options->blob_compaction_readahead_size = FLAGS_blob_compaction_readahead_size;
  options->blob_file_starting_level = FLAGS_blob_file_starting_level;
  if (FLAGS_use_blob_cache) {
    options->blob_cache = FLAGS_use_shared_block_and_blob_cache
                              ? block_cache
                              : NewLRUCache(FLAGS_blob_cache_size, FLAGS_blob_cache_numshardbits);
    if (options->blob_cache == nullptr) {
      return Status::InvalidArgument("--use_blob_cache: there is no block cache to share",
                                     "set --cache_size, or --use_shared_block_and_blob_cache=0");
    }
    if (FLAGS_prepopulate_blob_cache == 1) {
      options->prepopulate_blob_cache = PrepopulateBlobCache::kFlushOnly;
    } else if (FLAGS_prepopulate_blob_cache != 0) {
      return Status::InvalidArgument("--prepopulate_blob_cache: 0 or 1");
    }
  }
  return ParseCompression("--blob_compression_type", FLAGS_blob_compression_type,
                          &options->blob_compression_type);
}

}  // namespace bench
}  // namespace ashlar
