// SPDX-License-Identifier: Apache-2.0
//
// Saves the blocks of a block cache, and loads them into the second tier of another cache, so that
// a database that has moved or restarted does not begin with an empty cache.
//
// A dump is written in packets through a CacheDumpWriter, to a file or to any place that a program
// provides, and read through a CacheDumpReader. Each packet has a checksum, so that damaged or
// truncated parts of a dump are never used. The format is Ashlar's own: Ashlar and RocksDB cannot
// read each other's dumps.
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

// Receives the packets of a dump. Threads: one at a time.
class ASHLAR_EXPORT CacheDumpWriter {
 public:
  virtual ~CacheDumpWriter() = default;
  // Called once, before the packets.
  virtual IOStatus WriteMetadata(const Slice& metadata) = 0;
  virtual IOStatus WritePacket(const Slice& data) = 0;
  virtual IOStatus Close() = 0;
};

// Returns the packets of a dump. Threads: one at a time.
class ASHLAR_EXPORT CacheDumpReader {
 public:
  virtual ~CacheDumpReader() = default;
  // Called once, before the packets.
  virtual IOStatus ReadMetadata(std::string* metadata) = 0;
  // Returns the next packet; an empty string at the end.
  virtual IOStatus ReadPacket(std::string* data) = 0;
};

// Options of a dumper or loader.
struct CacheDumpOptions {
  SystemClock* clock = nullptr;  // nullptr: SystemClock::Default()
  // Dumping and loading stop, without an error, after this time or after this many bytes of blocks.
  // 0 = no limit.
  std::chrono::microseconds deadline = std::chrono::microseconds::zero();
  uint64_t max_size_bytes = 0;
};

// Writes the blocks of a cache to a dump.
class ASHLAR_EXPORT CacheDumper {
 public:
  virtual ~CacheDumper() = default;
  // Dump only blocks of tables that these databases have now. Without this call all blocks are
  // dumped.
  virtual Status SetDumpFilter(std::vector<DB*> /*db_list*/) {
    return Status::NotSupported("SetDumpFilter is not supported");
  }
  // Writes the dump; may be called once. The cache may be in use; blocks that are inserted or
  // evicted during the dump may be missing.
  virtual IOStatus DumpCacheEntriesToWriter() {
    return IOStatus::NotSupported("DumpCacheEntriesToWriter is not supported");
  }
};

// Loads a dump into a secondary cache.
class ASHLAR_EXPORT CacheDumpedLoader {
 public:
  virtual ~CacheDumpedLoader() = default;
  // Loads the dump; may be called once. Corruption if the dump is damaged; the blocks before the
  // damage have been loaded then.
  virtual IOStatus RestoreCacheEntriesToSecondaryCache() {
    return IOStatus::NotSupported("RestoreCacheEntriesToSecondaryCache is not supported");
  }
};

// Writer and reader of dumps in files. The writer replaces an existing file, and its Close() syncs
// the file.
ASHLAR_EXPORT IOStatus NewToFileCacheDumpWriter(const std::shared_ptr<FileSystem>& fs,
                                                const FileOptions& file_opts,
                                                const std::string& file_name,
                                                std::unique_ptr<CacheDumpWriter>* writer);
ASHLAR_EXPORT IOStatus NewFromFileCacheDumpReader(const std::shared_ptr<FileSystem>& fs,
                                                  const FileOptions& file_opts,
                                                  const std::string& file_name,
                                                  std::unique_ptr<CacheDumpReader>* reader);
// Creates a dumper for the data blocks, filters and compression dictionaries of `cache`. Index
// blocks and blob values are not dumped.
ASHLAR_EXPORT Status NewDefaultCacheDumper(const CacheDumpOptions& dump_options,
                                           const std::shared_ptr<Cache>& cache,
                                           std::unique_ptr<CacheDumpWriter>&& writer,
                                           std::unique_ptr<CacheDumper>* cache_dumper);
// Creates a loader. `toptions` is ignored.
ASHLAR_EXPORT Status NewDefaultCacheDumpedLoader(
    const CacheDumpOptions& dump_options, const BlockBasedTableOptions& toptions,
    const std::shared_ptr<SecondaryCache>& secondary_cache,
    std::unique_ptr<CacheDumpReader>&& reader,
    std::unique_ptr<CacheDumpedLoader>* cache_dump_loader);

}  // namespace ashlar
