// SPDX-License-Identifier: Apache-2.0
//
// Layout: batch header (seqno, count 0), tag kTypeLogData, length, magic, number, end.
#include "db/wal/log_beginning.h"

#include "util/keys/coding.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

constexpr size_t kBatchHeaderBytes = 12;
constexpr char kRemarkMagic[] = "ashlar.log.follows";  // stored with its terminating zero
constexpr size_t kRemarkBytes = sizeof(kRemarkMagic) + 2 * sizeof(uint64_t);
static_assert(kRemarkBytes < 128, "its length takes one byte");

}  // namespace

// The record is an empty batch with a remark, which every reader of logs skips, also that of
// RocksDB.
std::string EncodeLogBeginning(SequenceNumber first_seqno, const LogPredecessor& predecessor) {
  std::string batch;
  PutFixed64(&batch, first_seqno);
  PutFixed32(&batch, 0);
  batch.push_back(static_cast<char>(kTypeLogData));
  batch.push_back(static_cast<char>(kRemarkBytes));
  batch.append(kRemarkMagic, sizeof(kRemarkMagic));
  PutFixed64(&batch, predecessor.number.value());
  PutFixed64(&batch, predecessor.end_bytes);
  return batch;
}

std::optional<LogPredecessor> DecodeLogBeginning(const Slice& batch) {
  constexpr size_t kBytes = kBatchHeaderBytes + 2 + kRemarkBytes;
  if (batch.size() != kBytes || DecodeFixed32(batch.data() + 8) != 0) return std::nullopt;
  const char* p = batch.data() + kBatchHeaderBytes;
  if (p[0] != static_cast<char>(kTypeLogData) || p[1] != static_cast<char>(kRemarkBytes) ||
      Slice(p + 2, sizeof(kRemarkMagic)) != Slice(kRemarkMagic, sizeof(kRemarkMagic))) {
    return std::nullopt;
  }
  p += 2 + sizeof(kRemarkMagic);
  return LogPredecessor{.number = FileNumber{DecodeFixed64(p)}, .end_bytes = DecodeFixed64(p + 8)};
}

}  // namespace ashlar
