// SPDX-License-Identifier: Apache-2.0
//
// Operations on a WriteBatch that only the engine uses: access to the header, markers of two-phase
// commit, appending one batch to another.
//
// Threads: as WriteBatch.
#pragma once

#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "ashlar/write_batch.h"
#include "db/write/write_batch_reader.h"

namespace ashlar {

// Sizes that the length fields of the format allow: a trailer must still fit behind a key.
inline constexpr size_t kMaxBatchKeyBytes = 0xffffffffu - 8;
inline constexpr size_t kMaxBatchValueBytes = 0xffffffffu;

class WriteBatchInternal {
 public:
  // What kinds of records a batch holds.
  enum ContentFlags : uint32_t {
    kContentUnknown = 1 << 0,  // constructed from bytes, not scanned yet
    kHasPut = 1 << 1,
    kHasDelete = 1 << 2,
    kHasSingleDelete = 1 << 3,
    kHasMerge = 1 << 4,
    kHasBeginPrepare = 1 << 5,
    kHasEndPrepare = 1 << 6,
    kHasCommit = 1 << 7,
    kHasRollback = 1 << 8,
    kHasDeleteRange = 1 << 9,
    kHasBlobIndex = 1 << 10,
    kHasBeginUnprepare = 1 << 11,
    kHasPutEntity = 1 << 12,
    kHasTimedPut = 1 << 13,
    // An update of a family with timestamps got a placeholder that no UpdateTimestamps() has
    // replaced.
    kHasPlaceholder = 1 << 14,
  };
  static uint32_t ContentFlagOf(ValueType type);

  // The header.
  static SequenceNumber Sequence(const WriteBatch& batch) {
    return DecodeFixed64(batch.rep_.data());
  }
  static void SetSequence(WriteBatch* batch, SequenceNumber seqno) {
    assert(batch != nullptr);
    EncodeFixed64(batch->rep_.data(), seqno);
  }
  static uint32_t Count(const WriteBatch& batch) { return DecodeFixed32(batch.rep_.data() + 8); }
  static void SetCount(WriteBatch* batch, uint32_t count) {
    assert(batch != nullptr);
    EncodeFixed32(batch->rep_.data() + 8, count);
  }

  static Slice Contents(const WriteBatch& batch) { return Slice(batch.rep_); }
  // Returns the error for a key and value that are too large for a table (kMaxUserEntryBytes).
  static Status RefuseEntrySize(size_t key_bytes, size_t value_bytes);
  // Replaces the contents of the batch by these bytes: Corruption if they are shorter than a
  // header.
  static Status SetContents(WriteBatch* batch, const Slice& contents);

  // The part that goes to the WAL: all records, or only the records before the WAL termination
  // point. The header counts all records, so use the count given here.
  struct WalPart {
    Slice records;  // without the header
    uint32_t count;
  };
  static WalPart PartForWal(const WriteBatch& batch);

  // Adds the records of src to dst; with wal_only those before src's WAL termination point.
  // dst keeps its sequence number.
  static Status Append(WriteBatch* dst, const WriteBatch& src, bool wal_only = false);

  // Sets dst to the counted records of src: without markers and log data, and with sequence number
  // 0.
  static Status CopyUpdates(const WriteBatch& src, WriteBatch* dst);

  // Updates by family number instead of handle. Keys include their timestamp.
  static Status Put(WriteBatch* batch, uint32_t family, const Slice& key, const Slice& value);
  static Status Delete(WriteBatch* batch, uint32_t family, const Slice& key);
  static Status SingleDelete(WriteBatch* batch, uint32_t family, const Slice& key);
  static Status DeleteRange(WriteBatch* batch, uint32_t family, const Slice& begin,
                            const Slice& end);
  static Status Merge(WriteBatch* batch, uint32_t family, const Slice& key, const Slice& value);
  static Status PutBlobIndex(WriteBatch* batch, uint32_t family, const Slice& key,
                             const Slice& blob_index);
  // `entity` is the stored form.
  static Status PutEntity(WriteBatch* batch, uint32_t family, const Slice& key,
                          const Slice& entity);
  static Status TimedPut(WriteBatch* batch, uint32_t family, const Slice& key, const Slice& value,
                         uint64_t write_unix_time);

  // Markers of two-phase commit. A batch that may be prepared later begins with a Noop.
  // MarkEndPrepare() turns this Noop into the begin marker of the policy.
  enum class PreparePolicy : uint8_t { kWriteCommitted, kWritePrepared, kWriteUnprepared };
  static Status InsertNoop(WriteBatch* batch);
  static Status MarkEndPrepare(WriteBatch* batch, const Slice& xid, PreparePolicy policy);
  // Undoes MarkEndPrepare(). `end` is the size of the batch before that call.
  static void TakeBackPrepare(WriteBatch* batch, size_t end);
  // Appends a Noop, which ends a batch under the policies write-prepared and write-unprepared. The
  // size limit of the batch does not apply to it.
  static void AppendSeparator(WriteBatch* batch);
  static void TakeBackSeparator(WriteBatch* batch);
  static Status MarkCommit(WriteBatch* batch, const Slice& xid);
  static bool HasPlaceholder(const WriteBatch& batch) {
    return (batch.content_flags_.load(std::memory_order_relaxed) & kHasPlaceholder) != 0;
  }
  static void SetWalTerminationPoint(WriteBatch* batch, const SavePoint& point) {
    batch->wal_term_point_ = point;
  }
  // For a copy that was made record by record: its bytes do not tell which timestamps are
  // placeholders.
  static void TakeOverPlaceholders(const WriteBatch& from, WriteBatch* to) {
    if (!HasPlaceholder(from)) return;
    to->content_flags_.fetch_or(kHasPlaceholder, std::memory_order_relaxed);
  }
  static Status MarkCommitWithTimestamp(WriteBatch* batch, const Slice& xid,
                                        const Slice& commit_ts);
  static Status MarkRollback(WriteBatch* batch, const Slice& xid);

  // Iterate() over the records in [begin, end) of a batch; the count is not checked.
  static Status Iterate(const WriteBatch& batch, WriteBatch::Handler* handler, size_t begin,
                        size_t end);

  // The per-update checksums of a batch with protection, else an empty list.
  static const std::vector<uint64_t>& Protection(const WriteBatch& batch);
  // Adds protection to a batch without it: computes the checksums of all its updates.
  static Status AddProtection(WriteBatch* batch);

  // After KeepOldBytes(batch, true) the bytes that the batch holds keep their address even if the
  // batch grows: memory that becomes too small is kept until KeepOldBytes(batch, false). For
  // callers that hand out slices of a batch that is still written to. The promise does not cover
  // rollbacks to a save point and assignments to the batch.
  static void KeepOldBytes(WriteBatch* batch, bool are_kept);

 private:
  friend class WriteBatch;
  struct Update;
  struct Dispatch;
  static Status AddUpdate(WriteBatch* batch, const Update& update);
  static Status AddForHandle(WriteBatch* batch, const Update& update);
  static Status AddMarker(WriteBatch* batch, ValueType tag, std::initializer_list<Slice> parts);
  // Called before `bytes` are appended. Hot: one comparison for most batches.
  static void MakeRoom(WriteBatch* batch, size_t bytes) {
    assert(batch != nullptr);
    if (batch->extras_ != nullptr) [[unlikely]]
      MakeRoomKeepingBytes(batch, bytes);
  }
  static void MakeRoomKeepingBytes(WriteBatch* batch, size_t bytes);
  static void TruncateTo(WriteBatch* batch, const SavePoint& point);
};

}  // namespace ashlar
