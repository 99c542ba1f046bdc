// SPDX-License-Identifier: Apache-2.0
//
// BlockFetcher reads blocks of one file. Each block goes through the same steps: its bytes are
// read, the checksum is verified, it is decompressed, and only then it is parsed. If the checksum
// does not match, the bytes are read once more, past the page cache, because bytes that were
// damaged in memory or on their way may be intact on the disk. Errors name file, block and offset.
//
// Threads: const functions from any thread.
#pragma once

#include <cassert>
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

// Names of blocks in error messages.
inline constexpr std::string_view kDataKind = "data block";
inline constexpr std::string_view kDictionaryKind = "compression dictionary";

// The uncompressed bytes of a block that is not kept in the cache. `contents` points into `memory`,
// or into memory of the file.
struct LooseBlock {
  PageArray memory;
  Slice contents;
};

class BlockFetcher {
 public:
  // `file` outlives the fetcher. Blocks must end at or before offset `limit`. `statistics` may be
  // null, and outlives the fetcher.
  BlockFetcher(const RandomReader* file, const ChecksumContext& checksum, uint64_t limit,
               Statistics* statistics = nullptr)
      : file_(file), checksum_(checksum), limit_(limit), statistics_(statistics) {
    assert(file != nullptr);
  }

  // From now on data blocks may be compressed with this dictionary. It may be null, and outlives
  // the fetcher.
  void SetDictionary(const UncompressionDict* dictionary) { dictionary_ = dictionary; }

  // From now on data blocks in memory get checksums of this many bytes per entry; 0: none.
  void ProtectEntries(uint8_t checksum_bytes) { checksum_bytes_ = checksum_bytes; }

  const RandomReader& file() const { return *file_; }
  const std::string& path() const { return file_->path(); }
  uint64_t limit() const { return limit_; }
  const ChecksumContext& checksum() const { return checksum_; }

  // How a data block is made from its stored bytes.
  struct Making {
    const UncompressionDict* dictionary = nullptr;  // null: the one of SetDictionary()
    // If set, the block is decoded for keys of this order, provided that this is worth its memory.
    std::optional<KeyOrder> decode_in;
  };
  // Reads and parses a data block, which has one reference. `readahead` may be null.
  Result<DataBlock*> ReadData(const BlockHandle& handle, Readahead* readahead, const IOOptions& io,
                              const Making& making) const;
  // The same in two steps, for callers that read several blocks together: CheckData() checks that
  // the handle lies inside the file, ParseData() makes the block from its stored bytes, which
  // include the trailer.
  Status CheckData(const BlockHandle& handle) const;
  Result<DataBlock*> ParseData(const BlockHandle& handle, const char* stored,
                               const Making& making) const;
  // True if the stored bytes match the checksum in their trailer.
  bool IsIntact(const BlockHandle& handle, const char* stored) const;
  // Reads a filter or a filter partition; these are never compressed.
  Result<FilterBlock*> ReadFilter(const BlockHandle& handle,
                                  const IOOptions& io = IOOptions()) const;
  // Make a filter, or any other block, from stored bytes that the caller has read, like
  // ParseData().
  Result<FilterBlock*> ParseFilter(const BlockHandle& handle, const char* stored) const;
  Result<LooseBlock> ParseLoose(const BlockHandle& handle, std::string_view kind,
                                const char* stored) const;
  // Reads any other block. `kind` names it in messages.
  Result<LooseBlock> ReadLoose(const BlockHandle& handle, std::string_view kind,
                               const IOOptions& io = IOOptions()) const;
  // Reads the properties block, whose checksum rule has an exception (see VerifyPropertiesBlock()).
  Result<LooseBlock> ReadProperties(const BlockHandle& handle) const;

  // Adds kind, file and offset to an error that was found inside a block.
  Status Describe(const Status& status, std::string_view kind, const BlockHandle& handle) const;

  // True if the checksum of a block depends on its offset and file, so a block in the wrong place
  // is detected.
  bool KnowsPlaces() const { return checksum_.base != 0; }

 private:
  Status CheckHandle(const BlockHandle& handle, std::string_view kind) const;
  Result<FilterBlock*> FinishFilter(const BlockHandle& handle, const char* stored,
                                    ObjectRef<FilterBlock> filter) const;
  Result<LooseBlock> FinishLoose(const BlockHandle& handle, std::string_view kind,
                                 const char* bytes, PageArray memory) const;
  // Returns verified stored bytes: `stored` itself or, if its checksum is wrong, the bytes of a
  // second read, which are kept in `again`.
  Result<const char*> Verified(const BlockHandle& handle, const char* stored, std::string_view kind,
                               PageArray* again) const;
  // Verifies the checksum of stored bytes, and counts and times that.
  Status Verify(const BlockHandle& handle, const char* stored, std::string_view kind) const;
  // Decompresses into `raw`, which has `compressed.raw_bytes` bytes.
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
  uint8_t checksum_bytes_ = 0;  // per entry of data blocks in memory; 0: none
};

}  // namespace ashlar
