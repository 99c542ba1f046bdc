// SPDX-License-Identifier: Apache-2.0
//
// Seeks are for pairs of user key and sequence number. Numbers of the database are below those of
// the batch, so its versions are older than all updates of the key.
#include "db/transaction/indexed_batch/batch_run.h"

#include "db/read/newest_run.h"

namespace ashlar {
namespace {

SequenceNumber NumberOf(const UpdateCursor& cursor) {
  return NewestRun::kFirstSeqno + cursor.offset();
}

}  // namespace

void BatchRun::SeekToFirst() {
  cursor_.SeekToFirst();
  Expose();
}

void BatchRun::SeekToLast() {
  cursor_.SeekToLast();
  Expose();
}

// All updates of a key come before the versions of the key in the database.
void BatchRun::Seek(const Slice& internal_key) {
  const Slice user_key = ExtractUserKey(internal_key);
  const SequenceNumber seqno = TrailerSeqno(ExtractTrailer(internal_key));
  if (seqno < NewestRun::kFirstSeqno) {
    cursor_.SeekAfter(user_key);
    return Expose();
  }
  cursor_.Seek(user_key);
  while (cursor_.Valid() && NumberOf(cursor_) > seqno && cursor_.IsOn(user_key)) cursor_.Next();
  Expose();
}

// The greatest sequence number stands before all versions of a key, so the search begins with the
// key before it. Otherwise updates of the key that are older than the target are passed over: in
// internal order they come after it.
void BatchRun::SeekForPrev(const Slice& internal_key) {
  const Slice user_key = ExtractUserKey(internal_key);
  const SequenceNumber seqno = TrailerSeqno(ExtractTrailer(internal_key));
  if (seqno == kMaxSequenceNumber) {
    cursor_.SeekBefore(user_key);
    return Expose();
  }
  cursor_.SeekForPrev(user_key);
  while (cursor_.Valid() && NumberOf(cursor_) < seqno && cursor_.IsOn(user_key)) cursor_.Prev();
  Expose();
}

void BatchRun::NextSlow() {
  if (!cursor_.Valid()) return Expose();
  cursor_.Next();
  Expose();
}

void BatchRun::PrevSlow() {
  if (!cursor_.Valid()) return Expose();
  cursor_.Prev();
  Expose();
}

// Copies the key, because there is no room for the trailer behind it in the batch. The value is not
// copied.
void BatchRun::Expose() {
  valid_ = cursor_.Valid();
  if (!valid_) return;
  const WriteBatchRecord& record = cursor_.record();
  internal_key_.clear();
  AppendInternalKey(&internal_key_, record.key, PackTrailer(NumberOf(cursor_), record.type));
  key_ = internal_key_;
  value_ = record.value;
}

}  // namespace ashlar
