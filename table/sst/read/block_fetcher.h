// SPDX-License-Identifier: Apache-2.0
//
// BlockFetcher reads blocks of one file: bytes, then checksum, then decompression, in this order
// for every block, and only then anybody parses. Bytes that do not fit their checksum are read once
// more, past the page cache: what was damaged on its way, or in memory, need not be on the disk.
// Errors name file, block and offset.
//
// Threads: const functions from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "ashlar/slice.h"
#include "env/random_reader.h"
#include "table/format/block_handle.h"
#include "table/format/checksum.h"
#include "table/format/compression.h"
#include "table/sst/read/table_objects.h"
#include "util/memory/page_allocator.h"
#include "util/result.h"

namespace ashlar {

class Readahead;
class Statistics;

// What errors call a block.
inline constexpr std::string_view kDataKind = "data block";
inline constexpr std::string_view kDictionaryKind = "compression dictionary";

// The uncompressed bytes of a block that is not kept in the cache.
struct LooseBlock {
  PageArray memory;
  Slice contents;
};

class BlockFetcher {
 public:
  // `file` outlives the fetcher. No block may reach beyond `limit`.
  // `statistics` may be null; outlives this.
  BlockFetcher(const RandomReader* file, const ChecksumContext& checksum, uint64_t limit,
               Statistics* statistics = nullptr)
      : file_(file), checksum_(checksum), limit_(limit), statistics_(statistics) {}

  // Data blocks may be compressed with this dictionary from now on. May be null; outlives this.
  void SetDictionary(const UncompressionDict* dictionary) { dictionary_ = dictionary; }

  // Data blocks get checksums of so many bytes an entry from now on; 0: none.
  void ProtectEntries(uint8_t checksum_bytes) { checksum_bytes_ = checksum_bytes; }

  const RandomReader& file() const { return *file_; }
  const std::string& path() const { return file_->path(); }
  uint64_t limit() const { return limit_; }
  const ChecksumContext& checksum() const { return checksum_; }

  // How a data block is made of its stored bytes.
  struct Making {
    const UncompressionDict* dictionary = nullptr;  // null: that which was set
    // If set, the block comes decoded for keys of this order, where that is worth its memory.
    std::optional<KeyOrder> decode_in;
  };
  // A data block, parsed, with one reference. `readahead` may be null.
  Result<DataBlock*> ReadData(const BlockHandle& handle, Readahead* readahead, const IOOptions& io,
                              const Making& making) const;
  // The same in two steps, for those who read several blocks at once: whether the place can be
  // right, and what to make of its stored bytes with their trailer.
  Status CheckData(const BlockHandle& handle) const;
  Result<DataBlock*> ParseData(const BlockHandle& handle, const char* stored,
                               const Making& making) const;
  // Whether stored bytes with their trailer are those that were written.
  bool IsIntact(const BlockHandle& handle, const char* stored) const;
  // A filter or filter partition: never compressed.
  Result<FilterBlock*> ReadFilter(const BlockHandle& handle,
                                  const IOOptions& io = IOOptions()) const;
  // The same and an index, for those who have the stored bytes already, like ParseData().
  Result<FilterBlock*> ParseFilter(const BlockHandle& handle, const char* stored) const;
  Result<LooseBlock> ParseLoose(const BlockHandle& handle, std::string_view kind,
                                const char* stored) const;
  // Any other block. `kind` names it in messages.
  Result<LooseBlock> ReadLoose(const BlockHandle& handle, std::string_view kind,
                               const IOOptions& io = IOOptions()) const;
  // The properties block, whose checksum has an exception.
  Result<LooseBlock> ReadProperties(const BlockHandle& handle) const;

  // Adds file and place to what is wrong inside a block.
  Status Describe(const Status& status, std::string_view kind, const BlockHandle& handle) const;

  // Checksums tell a block from any other block of the file and of other files.
  bool KnowsPlaces() const { return checksum_.base != 0; }

 private:
  Status CheckHandle(const BlockHandle& handle, std::string_view kind) const;
  Result<FilterBlock*> FinishFilter(const BlockHandle& handle, const char* stored,
                                    ObjectRef<FilterBlock> filter) const;
  Result<LooseBlock> FinishLoose(const BlockHandle& handle, std::string_view kind,
                                 const char* bytes, PageArray memory) const;
  // Stored bytes that fit their checksum: those given or, in `again`, those of a second read.
  Result<const char*> Verified(const BlockHandle& handle, const char* stored, std::string_view kind,
                               PageArray* again) const;
  // The checksum of stored bytes, counted and timed.
  Status Verify(const BlockHandle& handle, const char* stored, std::string_view kind) const;
  Status Uncompress(const CompressedBlock& compressed, const UncompressionDict* dictionary,
                    char* raw) const;
  Result<DataBlock*> MakeAsStored(const CompressedBlock& compressed,
                                  const UncompressionDict* dictionary) const;
  Result<DataBlock*> MakeDecoded(const CompressedBlock& compressed,
                                 const UncompressionDict* dictionary, KeyOrder order) const;

  const RandomReader* const file_;
  const ChecksumContext checksum_;
  const uint64_t limit_;
  Statistics* const statistics_;
  const UncompressionDict* dictionary_ = nullptr;
  uint8_t checksum_bytes_ = 0;  // of entries in memory
};

}  // namespace ashlar
