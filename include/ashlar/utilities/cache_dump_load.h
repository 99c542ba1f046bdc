// SPDX-License-Identifier: Apache-2.0
//
// Saving the blocks of a block cache, and giving them to the second tier of another one, so that a
// database which moves or starts again does not begin with an empty cache.
//
// A dump is written in packets through a CacheDumpWriter, to a file or wherever a program puts
// them, and read back through a CacheDumpReader. Each packet has a checksum of its own: of a dump
// that is damaged or cut off nothing is taken that was not written. The form is Ashlar's own: dumps
// of RocksDB are not read, nor the other way round.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/file_system.h"
#include "ashlar/io_status.h"
#include "ashlar/secondary_cache.h"
#include "ashlar/table.h"

namespace ashlar {

class DB;
class SystemClock;

inline constexpr int kCacheDumpMajorVersion = 0;
inline constexpr int kCacheDumpMinorVersion = 1;

// Used by one thread at a time.
class ASHLAR_EXPORT CacheDumpWriter {
 public:
  virtual ~CacheDumpWriter() = default;
  // Once, before the packets.
  virtual IOStatus WriteMetadata(const Slice& metadata) = 0;
  virtual IOStatus WritePacket(const Slice& data) = 0;
  virtual IOStatus Close() = 0;
};

class ASHLAR_EXPORT CacheDumpReader {
 public:
  virtual ~CacheDumpReader() = default;
  // Once, before the packets.
  virtual IOStatus ReadMetadata(std::string* metadata) = 0;
  // An empty string: there are no more.
  virtual IOStatus ReadPacket(std::string* data) = 0;
};

struct CacheDumpOptions {
  SystemClock* clock = nullptr;  // nullptr: the system's
  // Dumping and loading end without an error after so long, and with so many bytes of blocks. 0 =
  // no limit.
  std::chrono::microseconds deadline = std::chrono::microseconds::zero();
  uint64_t max_size_bytes = 0;
};

class ASHLAR_EXPORT CacheDumper {
 public:
  virtual ~CacheDumper() = default;
  // Only blocks of tables that these databases have now. Without a filter: all blocks.
  virtual Status SetDumpFilter(std::vector<DB*> /*db_list*/) {
    return Status::NotSupported("SetDumpFilter is not supported");
  }
  // Once. The cache may be in use; blocks that come or go meanwhile may be missed.
  virtual IOStatus DumpCacheEntriesToWriter() {
    return IOStatus::NotSupported("DumpCacheEntriesToWriter is not supported");
  }
};

class ASHLAR_EXPORT CacheDumpedLoader {
 public:
  virtual ~CacheDumpedLoader() = default;
  // Once. Corruption for a dump that is damaged: what came before the damage has been taken.
  virtual IOStatus RestoreCacheEntriesToSecondaryCache() {
    return IOStatus::NotSupported("RestoreCacheEntriesToSecondaryCache is not supported");
  }
};

// Replaces the file. The writer's Close() makes it durable.
ASHLAR_EXPORT IOStatus NewToFileCacheDumpWriter(const std::shared_ptr<FileSystem>& fs,
                                                const FileOptions& file_opts,
                                                const std::string& file_name,
                                                std::unique_ptr<CacheDumpWriter>* writer);
ASHLAR_EXPORT IOStatus NewFromFileCacheDumpReader(const std::shared_ptr<FileSystem>& fs,
                                                  const FileOptions& file_opts,
                                                  const std::string& file_name,
                                                  std::unique_ptr<CacheDumpReader>* reader);
// Data blocks, filters and compression dictionaries of `cache`. Indexes and blob values are read
// again instead.
ASHLAR_EXPORT Status NewDefaultCacheDumper(const CacheDumpOptions& dump_options,
                                           const std::shared_ptr<Cache>& cache,
                                           std::unique_ptr<CacheDumpWriter>&& writer,
                                           std::unique_ptr<CacheDumper>* cache_dumper);
// `toptions` is of no consequence.
ASHLAR_EXPORT Status NewDefaultCacheDumpedLoader(
    const CacheDumpOptions& dump_options, const BlockBasedTableOptions& toptions,
    const std::shared_ptr<SecondaryCache>& secondary_cache,
    std::unique_ptr<CacheDumpReader>&& reader,
    std::unique_ptr<CacheDumpedLoader>* cache_dump_loader);

}  // namespace ashlar
