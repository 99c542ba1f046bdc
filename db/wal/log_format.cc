// SPDX-License-Identifier: Apache-2.0
//
// The parts of log framing that are not on the hot path.
#include "db/wal/log_format.h"

#include <cassert>

namespace ashlar {

std::string EncodePredecessorInfo(const PredecessorWalInfo& info) {
  std::string payload;
  PutFixed64(&payload, info.log_number.value());
  PutFixed64(&payload, info.size_bytes);
  PutFixed64(&payload, info.last_seqno);
  return payload;
}

bool DecodePredecessorInfo(const Slice& payload, PredecessorWalInfo* info) {
  assert(info != nullptr);
  Slice rest = payload;
  uint64_t number;
  if (payload.size() != 3 * sizeof(uint64_t) || !GetFixed64(&rest, &number)) return false;
  info->log_number = FileNumber{number};
  return GetFixed64(&rest, &info->size_bytes) && GetFixed64(&rest, &info->last_seqno);
}

[[gnu::cold]] std::string EncodeTimestampSizes(const std::vector<TimestampSize>& sizes) {
  std::string payload;
  for (const TimestampSize& size : sizes) {
    PutFixed32(&payload, size.column_family);
    PutFixed16(&payload, size.bytes);
  }
  return payload;
}

bool DecodeTimestampSizes(const Slice& payload, std::vector<TimestampSize>* sizes) {
  assert(sizes != nullptr);
  Slice rest = payload;
  while (!rest.empty()) {
    TimestampSize size;
    if (!GetFixed32(&rest, &size.column_family) || !GetFixed16(&rest, &size.bytes)) return false;
    sizes->push_back(size);
  }
  return true;
}

// The checksum covers the type and the log number. Their part of it is computed once for each type.
LogFraming::LogFraming(FileNumber log_number, bool is_recyclable, bool is_compressed)
    : log_number_(static_cast<uint32_t>(log_number.value())),
      is_recyclable_(is_recyclable),
      is_compressed_(is_compressed) {
  for (int kind = 0; kind < 4; ++kind) {
    char bytes[1 + sizeof(uint32_t)] = {static_cast<char>(TypeOf(kind))};
    EncodeFixed32(bytes + 1, log_number_);
    seeds_[kind] = crc32c::Value(bytes, is_recyclable_ ? sizeof(bytes) : 1);
  }
}

// The bytes that a record takes in the log from this offset on: headers, padding and payload.
uint64_t FramedBytes(const LogFraming& framing, uint64_t offset, uint64_t payload_bytes) {
  const size_t header_bytes = framing.header_bytes();
  size_t left = kLogBlockBytes - offset % kLogBlockBytes;
  size_t padding = 0;
  if (left < header_bytes) {
    padding = left;
    left = kLogBlockBytes;
  }
  if (header_bytes + payload_bytes <= left) return padding + header_bytes + payload_bytes;
  // Whole blocks follow the rest of the first one, until what is left fits into one fragment.
  const uint64_t first = left < kLogBlockBytes ? left : 0;
  const uint64_t rest = first > 0 ? payload_bytes - (first - header_bytes) : payload_bytes;
  const uint64_t last_room = kLogBlockBytes - header_bytes;
  const uint64_t block_room = framing.BlockRoom();
  const uint64_t blocks = rest > last_room ? (rest - last_room + block_room - 1) / block_room : 0;
  assert(rest > blocks * block_room);  // the last fragment is not empty
  return padding + first + blocks * kLogBlockBytes + header_bytes + rest - blocks * block_room;
}

void AppendFramedRecord(const LogFraming& framing, uint64_t offset, const Slice& payload,
                        std::string* dst) {
  assert(dst != nullptr);
  const size_t begin = dst->size();
  dst->resize(begin + FramedBytes(framing, offset, payload.size()));
  char* const memory = dst->data() + begin;
  FrameRecord(
      framing, offset, Slice(), payload, [&](uint64_t at) { return memory + (at - offset); },
      [](const LogHeaderStore& header) { header.Commit(); });
}

[[gnu::cold]] void AppendSpecialRecord(const LogFraming& framing, uint64_t offset,
                                       LogRecordType legacy_type, const Slice& payload,
                                       std::string* dst) {
  assert(dst != nullptr);
  // A compression record has the short header in every file.
  const bool is_recyclable =
      framing.is_recyclable() && legacy_type != LogRecordType::kSetCompression;
  const size_t header_bytes = is_recyclable ? kRecyclableLogHeaderBytes : kLogHeaderBytes;
  assert(header_bytes + payload.size() <= kLogBlockBytes);
  const size_t left = kLogBlockBytes - offset % kLogBlockBytes;
  if (header_bytes + payload.size() > left) dst->append(left, '\0');

  std::string checked(1, static_cast<char>(static_cast<uint8_t>(legacy_type) + is_recyclable));
  if (is_recyclable) PutFixed32(&checked, framing.log_number());
  checked.append(payload.data(), payload.size());
  PutFixed32(dst, crc32c::Mask(crc32c::Value(checked.data(), checked.size())));
  PutFixed16(dst, static_cast<uint16_t>(payload.size()));
  dst->append(checked);
}

}  // namespace ashlar
