// SPDX-License-Identifier: Apache-2.0
//
// The framing of log files, shared by WALs and MANIFESTs: logical records of any length, cut into
// physical records that never cross a block of 32 KiB. Bytes: docs/formats/wal.md, sections 1 to 4.
//
// The fragmentation of a record depends only on its offset and length. So the size of a record in
// the file is known as soon as its offset is known, and writers can fill ranges of one log
// concurrently. Threads: pure functions over the caller's memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "util/hash/crc32c.h"
#include "util/keys/coding.h"
#include "util/keys/file_number.h"

namespace ashlar {

enum class LogRecordType : uint8_t {
  kZero = 0,  // preallocated, never written on purpose
  kFull = 1,
  kFirst = 2,
  kMiddle = 3,
  kLast = 4,
  kRecyclableFull = 5,
  kRecyclableFirst = 6,
  kRecyclableMiddle = 7,
  kRecyclableLast = 8,
  kSetCompression = 9,
  kTimestampSizes = 10,
  kRecyclableTimestampSizes = 11,
  kPredecessorInfo = 130,
  kRecyclablePredecessorInfo = 131,
};

inline constexpr size_t kLogBlockBytes = 32768;
inline constexpr size_t kLogHeaderBytes = 7;             // CRC, length, type
inline constexpr size_t kRecyclableLogHeaderBytes = 11;  // the same fields, then the log number

// For unknown types from 10 on, the low bit selects the header form, and bit 7 means that readers
// may ignore the record.
constexpr bool IsRecyclableType(uint8_t type) {
  return (type >= 5 && type <= 8) || (type >= 10 && (type & 1) != 0);
}
constexpr bool IsIgnorableType(uint8_t type) { return (type & 0x80) != 0; }

// Contents of a kPredecessorInfo record.
struct PredecessorWalInfo {
  FileNumber log_number = 0;
  uint64_t size_bytes = 0;
  uint64_t last_seqno = 0;  // 0 if that log held no record
};
std::string EncodePredecessorInfo(const PredecessorWalInfo& info);
bool DecodePredecessorInfo(const Slice& payload, PredecessorWalInfo* info);

// One entry of a kTimestampSizes record.
struct TimestampSize {
  uint32_t column_family = 0;
  uint16_t bytes = 0;
};
std::string EncodeTimestampSizes(const std::vector<TimestampSize>& sizes);
// Appends to *sizes; false if the payload is not a multiple of the entry size.
bool DecodeTimestampSizes(const Slice& payload, std::vector<TimestampSize>* sizes);

// The parameters of framing that are fixed for one file.
class LogFraming {
 public:
  // A recyclable log stores its number in every record, so that readers recognise records of the
  // log that used the file before.
  //
  // In a compressed log a fragment that fills a block from its begin is divided in two. The reader
  // of RocksDB 7.8 reads each block into the same memory and takes a fragment for one that it has
  // decompressed already if it has the same address as the fragment before it.
  LogFraming(FileNumber log_number, bool is_recyclable, bool is_compressed = false);

  bool is_recyclable() const { return is_recyclable_; }
  uint32_t log_number() const { return log_number_; }
  size_t header_bytes() const {
    return is_recyclable_ ? kRecyclableLogHeaderBytes : kLogHeaderBytes;
  }
  // The type byte of the k-th kind of kFull, kFirst, kMiddle, kLast, and the checksum of this byte
  // (in recyclable files, together with the log number).
  uint8_t TypeOf(int kind) const { return static_cast<uint8_t>(kind + (is_recyclable_ ? 5 : 1)); }
  uint32_t SeedOf(int kind) const { return seeds_[kind]; }
  // The payload bytes of a fragment that does not end its record, when `left` bytes of the block
  // are left for it.
  size_t FragmentRoom(size_t left) const {
    const bool is_divided = is_compressed_ && left == kLogBlockBytes;
    return (is_divided ? kLogBlockBytes / 2 : left) - header_bytes();
  }
  // The payload bytes that a whole block has of a record that continues behind it.
  size_t BlockRoom() const { return kLogBlockBytes - (is_compressed_ ? 2 : 1) * header_bytes(); }

 private:
  const uint32_t log_number_;
  const bool is_recyclable_;
  const bool is_compressed_;
  uint32_t seeds_[4];
};

// The number of bytes that a logical record of `payload_bytes` takes from `offset` on, including
// zeros before it at the end of a block.
uint64_t FramedBytes(const LogFraming& framing, uint64_t offset, uint64_t payload_bytes);

// The first seven or eight bytes of a physical record, kept back so that they can be stored last
// and in one store. Until then the file holds zeros there, which readers treat as the end of the
// log.
struct LogHeaderStore {
  char* at = nullptr;
  uint64_t word = 0;
  bool has_payload = true;  // if false, the eighth byte belongs to the next record

  void Commit() const {
    std::atomic_signal_fence(std::memory_order_release);  // not before the bytes behind it
    if (has_payload) [[likely]] {
      EncodeFixed64(at, word);
      return;
    }
    EncodeFixed32(at, static_cast<uint32_t>(word));
    at[4] = at[5] = 0;
    at[6] = static_cast<char>(word >> 48);
  }
};

// Writes one physical record at `dst` except for its header word, which it returns. The payload is
// `head` followed by `body`.
inline LogHeaderStore FrameFragment(const LogFraming& framing, int kind, const Slice& head,
                                    const Slice& body, char* dst) {
  const size_t length = head.size() + body.size();
  char* payload = dst + framing.header_bytes();
  if (framing.is_recyclable()) EncodeFixed32(dst + kLogHeaderBytes, framing.log_number());
  if (!head.empty()) std::memcpy(payload, head.data(), head.size());
  if (!body.empty()) std::memcpy(payload + head.size(), body.data(), body.size());
  const uint32_t crc = crc32c::Extend(framing.SeedOf(kind), payload, length);
  LogHeaderStore store;
  store.at = dst;
  store.has_payload = length > 0 || framing.is_recyclable();
  store.word = crc32c::Mask(crc) | uint64_t{length} << 32 | uint64_t{framing.TypeOf(kind)} << 48;
  if (store.has_payload) store.word |= uint64_t{static_cast<uint8_t>(dst[7])} << 56;
  return store;
}

// Frames a logical record whose payload is `head` followed by `body` at `offset` of the file.
// memory_at(o) gives the memory for file offset o, which must reach to the end of o's block.
// keep(LogHeaderStore) receives the headers in the order of the file, after all payload bytes have
// been written. Hot for records that fit into the rest of a block: one copy and one checksum.
template <typename MemoryAt, typename Keep>
void FrameRecord(const LogFraming& framing, uint64_t offset, Slice head, Slice body,
                 MemoryAt&& memory_at, Keep&& keep) {
  const size_t header_bytes = framing.header_bytes();
  size_t left = kLogBlockBytes - offset % kLogBlockBytes;
  if (left < header_bytes) [[unlikely]] {
    std::memset(memory_at(offset), 0, left);
    offset += left;
    left = kLogBlockBytes;
  }
  if (header_bytes + head.size() + body.size() <= left) [[likely]] {
    keep(FrameFragment(framing, /*kind=*/0, head, body, memory_at(offset)));
    return;
  }
  std::vector<LogHeaderStore> headers;
  bool is_first = true, is_last = false;
  while (!is_last) {
    left = kLogBlockBytes - offset % kLogBlockBytes;
    is_last = head.size() + body.size() <= left - header_bytes;
    const size_t room = is_last ? left - header_bytes : framing.FragmentRoom(left);
    const Slice head_part(head.data(), std::min(head.size(), room));
    const Slice body_part(body.data(), std::min(body.size(), room - head_part.size()));
    const int kind = is_last ? 3 : is_first ? 1 : 2;
    headers.push_back(FrameFragment(framing, kind, head_part, body_part, memory_at(offset)));
    head.remove_prefix(head_part.size());
    body.remove_prefix(body_part.size());
    offset += header_bytes + head_part.size() + body_part.size();
    is_first = false;
  }
  for (const LogHeaderStore& header : headers) keep(header);
}

// Appends the framed record to *dst, where dst->size() corresponds to `offset`.
void AppendFramedRecord(const LogFraming& framing, uint64_t offset, const Slice& payload,
                        std::string* dst);

// Appends a record of a kind that is never cut (kSetCompression and above), for `offset`, with
// zeros before it if it does not fit into the rest of the block. The payload must fit into a block.
void AppendSpecialRecord(const LogFraming& framing, uint64_t offset, LogRecordType legacy_type,
                         const Slice& payload, std::string* dst);

}  // namespace ashlar
