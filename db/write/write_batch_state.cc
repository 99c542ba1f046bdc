// SPDX-License-Identifier: Apache-2.0
//
// The functions of a WriteBatch other than adding updates: save points, markers of two-phase
// commit, content flags, protection by checksums, timestamps, and appending one batch to another.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <utility>

#include "ashlar/write_batch.h"
#include "db/write/write_batch_extras.h"
#include "db/write/write_batch_internal.h"
#include "db/write/write_batch_reader.h"
#include "util/hash/hash.h"
#include "util/keys/coding.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

uint64_t ChecksumOfRecord(const WriteBatchRecord& record) {
  // The factors are odd and different, so that swapping key and value, or equal changes in both,
  // alter the sum.
  constexpr uint64_t kKeyFactor = 0x9e3779b97f4a7c15, kKindFactor = 0xc2b2ae3d27d4eb4f;
  const uint64_t kind = uint64_t{record.family} << 8 | record.type;
  return XxHash3_64(record.key.data(), record.key.size()) * kKeyFactor +
         XxHash3_64(record.value.data(), record.value.size()) + (kind + 1) * kKindFactor;
}

// The memory of the batch is kept for the next updates.
void WriteBatch::Clear() {
  rep_.assign(kWriteBatchHeaderBytes, '\0');
  content_flags_.store(0, std::memory_order_relaxed);
  // Save points and protection are remnants of the old contents; the settings of the batch stay.
  wal_term_point_.clear();
  if (extras_ == nullptr) return;
  extras_->save_points.clear();
  extras_->protection.clear();
  extras_->ts_bytes_of_family.clear();
}

std::string WriteBatch::Release() {
  std::string rep = std::move(rep_);
  Clear();
  return rep;
}

uint32_t WriteBatch::Count() const {
  return rep_.size() < kWriteBatchHeaderBytes ? 0 : WriteBatchInternal::Count(*this);
}

// Save points.

void WriteBatch::SetSavePoint() {
  EnsureExtras()->save_points.emplace_back(rep_.size(), Count(),
                                           content_flags_.load(std::memory_order_relaxed));
}

// Removes everything that was added after the point.
void WriteBatchInternal::TruncateTo(WriteBatch* batch, const SavePoint& point) {
  assert(batch != nullptr);
  assert(point.size <= batch->rep_.size());
  assert(point.size >= kWriteBatchHeaderBytes);
  assert(point.count <= Count(*batch));
  batch->rep_.resize(point.size);
  SetCount(batch, point.count);
  batch->content_flags_.store(point.content_flags, std::memory_order_relaxed);
  // The records before a WAL termination point that lies after the save point are gone in part, so
  // the point is dropped too.
  if (batch->wal_term_point_.size > point.size) batch->wal_term_point_.clear();
  if (batch->extras_ != nullptr && batch->extras_->is_protected) {
    batch->extras_->protection.resize(point.count);
  }
}

Status WriteBatch::RollbackToSavePoint() {
  if (extras_ == nullptr || extras_->save_points.empty()) {
    return Status::NotFound("write batch: there is no save point");
  }
  const SavePoint point = extras_->save_points.back();
  extras_->save_points.pop_back();
  // A save point at the present end undoes nothing, and a later one cannot exist.
  if (point.size < rep_.size()) WriteBatchInternal::TruncateTo(this, point);
  return Status::OK();
}

Status WriteBatch::PopSavePoint() {
  if (extras_ == nullptr || extras_->save_points.empty()) {
    return Status::NotFound("write batch: there is no save point");
  }
  extras_->save_points.pop_back();
  return Status::OK();
}

void WriteBatch::MarkWalTerminationPoint() {
  wal_term_point_ = SavePoint(rep_.size(), Count(), content_flags_.load(std::memory_order_relaxed));
}

// Markers and log data.

// Markers are not counted in the header.
Status WriteBatchInternal::AddMarker(WriteBatch* batch, ValueType tag,
                                     std::initializer_list<Slice> parts) {
  assert(batch != nullptr);
  // Only a batch that was made from bytes can be shorter than its header.
  if (batch->rep_.size() < kWriteBatchHeaderBytes) {
    return Status::Corruption("write batch: made from fewer bytes than a header has");
  }
  // One byte for the tag, then each part with its length before it.
  size_t record_bytes = 1;
  for (const Slice& part : parts) record_bytes += VarintLength(part.size()) + part.size();
  std::string& rep = batch->rep_;
  if (batch->max_bytes_ != 0 && rep.size() + record_bytes > batch->max_bytes_) {
    return Status::MemoryLimit(StrCat("write batch: ", rep.size() + record_bytes,
                                      " bytes would exceed its limit of ", batch->max_bytes_));
  }
  MakeRoom(batch, record_bytes);
  rep.push_back(static_cast<char>(tag));
  for (const Slice& part : parts) PutLengthPrefixedSlice(&rep, part);
  batch->content_flags_.fetch_or(ContentFlagOf(tag), std::memory_order_relaxed);
  return Status::OK();
}

Status WriteBatchInternal::InsertNoop(WriteBatch* batch) { return AddMarker(batch, kTypeNoop, {}); }

// The end marker is appended first, because this can fail; afterwards the begin marker replaces the
// Noop.
Status WriteBatchInternal::MarkEndPrepare(WriteBatch* batch, const Slice& xid,
                                          PreparePolicy policy) {
  assert(batch != nullptr);
  std::string& rep = batch->rep_;
  // A batch without a Noop at its front has no byte for the begin marker.
  if (rep.size() <= kWriteBatchHeaderBytes || rep[kWriteBatchHeaderBytes] != kTypeNoop) {
    return Status::InvalidArgument("write batch: only one that begins with a Noop can be prepared");
  }
  const ValueType begin_tag = policy == PreparePolicy::kWriteCommitted ? kTypeBeginPrepareXID
                              : policy == PreparePolicy::kWritePrepared
                                  ? kTypeBeginPersistedPrepareXID
                                  : kTypeBeginUnprepareXID;
  Status status = AddMarker(batch, kTypeEndPrepareXID, {xid});
  if (!status.ok()) return status;
  rep[kWriteBatchHeaderBytes] = static_cast<char>(begin_tag);
  batch->content_flags_.fetch_or(ContentFlagOf(begin_tag), std::memory_order_relaxed);
  return Status::OK();
}

// Makes the batch of a transaction whose prepare has failed an ordinary batch again.
void WriteBatchInternal::TakeBackPrepare(WriteBatch* batch, size_t end) {
  assert(batch != nullptr);
  assert(end > kWriteBatchHeaderBytes);
  assert(end <= batch->rep_.size());
  batch->rep_.resize(end);
  batch->rep_[kWriteBatchHeaderBytes] = static_cast<char>(kTypeNoop);
  batch->content_flags_.fetch_and(~uint32_t{kHasBeginPrepare | kHasBeginUnprepare | kHasEndPrepare},
                                  std::memory_order_relaxed);
}

void WriteBatchInternal::AppendSeparator(WriteBatch* batch) {
  assert(batch != nullptr);
  MakeRoom(batch, 1);
  batch->rep_.push_back(static_cast<char>(kTypeNoop));
}

void WriteBatchInternal::TakeBackSeparator(WriteBatch* batch) {
  assert(batch != nullptr);
  assert(batch->rep_.size() > kWriteBatchHeaderBytes);
  assert(batch->rep_.back() == kTypeNoop);
  batch->rep_.pop_back();
}

Status WriteBatchInternal::MarkCommit(WriteBatch* batch, const Slice& xid) {
  return AddMarker(batch, kTypeCommitXID, {xid});
}
Status WriteBatchInternal::MarkCommitWithTimestamp(WriteBatch* batch, const Slice& xid,
                                                   const Slice& commit_ts) {
  return AddMarker(batch, kTypeCommitXIDAndTimestamp, {commit_ts, xid});
}
Status WriteBatchInternal::MarkRollback(WriteBatch* batch, const Slice& xid) {
  return AddMarker(batch, kTypeRollbackXID, {xid});
}

// Content.

// The flags of a batch that was made from bytes are found by a scan at the first question. Threads
// may ask at the same time: they store the same result.
uint32_t WriteBatch::ContentFlags() const {
  const uint32_t known = content_flags_.load(std::memory_order_relaxed);
  if ((known & WriteBatchInternal::kContentUnknown) == 0) return known;
  uint32_t flags = known & ~uint32_t{WriteBatchInternal::kContentUnknown};
  WriteBatchReader reader{Slice(rep_)};
  for (WriteBatchRecord record; reader.Next(&record);) {
    flags |= WriteBatchInternal::ContentFlagOf(record.type);
  }
  content_flags_.store(flags, std::memory_order_relaxed);
  return flags;
}

bool WriteBatch::HasPut() const { return (ContentFlags() & WriteBatchInternal::kHasPut) != 0; }
bool WriteBatch::HasTimedPut() const {
  return (ContentFlags() & WriteBatchInternal::kHasTimedPut) != 0;
}
bool WriteBatch::HasPutEntity() const {
  return (ContentFlags() & WriteBatchInternal::kHasPutEntity) != 0;
}
bool WriteBatch::HasDelete() const {
  return (ContentFlags() & WriteBatchInternal::kHasDelete) != 0;
}
bool WriteBatch::HasSingleDelete() const {
  return (ContentFlags() & WriteBatchInternal::kHasSingleDelete) != 0;
}
bool WriteBatch::HasDeleteRange() const {
  return (ContentFlags() & WriteBatchInternal::kHasDeleteRange) != 0;
}
bool WriteBatch::HasMerge() const { return (ContentFlags() & WriteBatchInternal::kHasMerge) != 0; }
bool WriteBatch::HasBeginPrepare() const {
  return (ContentFlags() & WriteBatchInternal::kHasBeginPrepare) != 0;
}
bool WriteBatch::HasEndPrepare() const {
  return (ContentFlags() & WriteBatchInternal::kHasEndPrepare) != 0;
}
bool WriteBatch::HasCommit() const {
  return (ContentFlags() & WriteBatchInternal::kHasCommit) != 0;
}
bool WriteBatch::HasRollback() const {
  return (ContentFlags() & WriteBatchInternal::kHasRollback) != 0;
}

// Timestamps.

void WriteBatch::SetTrackTimestampSize(bool track_timestamp_size) {
  EnsureExtras()->tracks_ts_bytes = track_timestamp_size;
}

void WriteBatch::MaybeTrackTimestampSize(uint32_t column_family_id, size_t ts_sz) {
  if (extras_ == nullptr || !extras_->tracks_ts_bytes) return;
  extras_->ts_bytes_of_family.emplace(column_family_id, ts_sz);
}

const std::unordered_map<uint32_t, size_t>& WriteBatch::GetColumnFamilyToTimestampSize() {
  return EnsureExtras()->ts_bytes_of_family;
}

namespace {

// The largest size_t is the answer of the caller's function for a family that it does not know.
Status CheckTimestampSize(size_t family_ts_bytes, const Slice& key, const Slice& ts,
                          uint32_t family) {
  if (family_ts_bytes == std::numeric_limits<size_t>::max()) {
    return Status::NotFound(StrCat("WriteBatch::UpdateTimestamps: unknown column family ", family));
  }
  if (family_ts_bytes != ts.size() || key.size() < ts.size()) {
    return Status::InvalidArgument(StrCat("WriteBatch::UpdateTimestamps: column family ", family,
                                          " takes timestamps of ", family_ts_bytes,
                                          " bytes, found ", ts.size()));
  }
  return Status::OK();
}

// Overwrites the timestamp at the end of `key`, which points into the bytes of the batch.
void OverwriteTimestamp(const Slice& key, const Slice& ts) {
  assert(key.size() >= ts.size());
  std::memcpy(const_cast<char*>(key.data()) + key.size() - ts.size(), ts.data(), ts.size());
}

}  // namespace

// Errors other than that of a checksum leave the batch with some timestamps already replaced; the
// caller must not write it then.
Status WriteBatch::UpdateTimestamps(const Slice& ts, std::function<size_t(uint32_t)> ts_sz_func) {
  // Before new checksums replace the old ones, which would hide damage. From here on the number of
  // checksums is known to be that of the counted records.
  RETURN_IF_ERROR(VerifyChecksum());
  const bool is_protected = GetProtectionBytesPerKey() != 0;
  size_t counted = 0;
  WriteBatchReader reader{Slice(rep_)};
  for (WriteBatchRecord record; reader.Next(&record);) {
    if (!record.IsCounted()) continue;
    const size_t index = counted++;
    const size_t family_ts_bytes = ts_sz_func(record.family);
    if (family_ts_bytes == 0) continue;
    Status status = CheckTimestampSize(family_ts_bytes, record.key, ts, record.family);
    if (!status.ok()) return status;
    // The record points into rep_, so its bytes change in place and the walk can continue.
    OverwriteTimestamp(record.key, ts);
    if (record.type == kTypeRangeDeletion && record.value.size() >= ts.size()) {
      OverwriteTimestamp(record.value, ts);
    }
    if (is_protected) extras_->protection[index] = ChecksumOfRecord(record);
  }
  if (!reader.status().ok()) return reader.status();
  constexpr uint32_t kOthers = ~uint32_t{WriteBatchInternal::kHasPlaceholder};
  content_flags_.fetch_and(kOthers, std::memory_order_relaxed);
  // Points of the past too: what a rollback leaves has its timestamps now.
  wal_term_point_.content_flags &= kOthers;
  if (extras_ == nullptr) return Status::OK();
  for (SavePoint& point : extras_->save_points) point.content_flags &= kOthers;
  return Status::OK();
}

// Protection.

size_t WriteBatch::GetProtectionBytesPerKey() const {
  return extras_ != nullptr && extras_->is_protected ? sizeof(uint64_t) : 0;
}

// Compares the checksums of the updates with those that were computed when they were added.
Status WriteBatch::VerifyChecksum() const {
  if (GetProtectionBytesPerKey() == 0) return Status::OK();
  const std::vector<uint64_t>& protection = extras_->protection;
  size_t counted = 0;
  WriteBatchReader reader{Slice(rep_)};
  for (WriteBatchRecord record; reader.Next(&record);) {
    if (!record.IsCounted()) continue;
    if (counted == protection.size() || protection[counted] != ChecksumOfRecord(record)) {
      return Status::Corruption(StrCat("write batch: offset ", reader.record_offset(), ": update ",
                                       counted, " differs from its checksum"));
    }
    ++counted;
  }
  Status status = reader.status();
  if (status.ok() && counted != protection.size()) {
    return Status::Corruption(
        StrCat("write batch: ", counted, " updates, but checksums of ", protection.size()));
  }
  return status;
}

const std::vector<uint64_t>& WriteBatchInternal::Protection(const WriteBatch& batch) {
  // Never destroyed, because batches may be used while static objects are destroyed.
  static const auto* none = new std::vector<uint64_t>;
  return batch.extras_ == nullptr ? *none : batch.extras_->protection;
}

// Computes the checksums of all updates that the batch has. Later updates get theirs when they are
// added.
Status WriteBatchInternal::AddProtection(WriteBatch* batch) {
  assert(batch != nullptr);
  WriteBatch::Extras* extras = batch->EnsureExtras();
  if (extras->is_protected) return Status::OK();
  std::vector<uint64_t> protection;
  WriteBatchReader reader(Contents(*batch));
  for (WriteBatchRecord record; reader.Next(&record);) {
    if (record.IsCounted()) protection.push_back(ChecksumOfRecord(record));
  }
  Status status = reader.status();
  if (!status.ok()) return status;
  extras->is_protected = true;
  extras->protection = std::move(protection);
  return Status::OK();
}

// Bytes that keep their address while the batch grows; see KeepOldBytes().

void WriteBatchInternal::KeepOldBytes(WriteBatch* batch, bool are_kept) {
  assert(batch != nullptr);
  // A short string lies in the object itself, and moving it moves the bytes.
  constexpr size_t kMinBytes = 64;
  if (are_kept && batch->rep_.capacity() < kMinBytes) batch->rep_.reserve(kMinBytes);
  WriteBatch::Extras::OldBytes& old = batch->EnsureExtras()->old_bytes;
  old.are_kept = are_kept;
  if (!are_kept) old.buffers.clear();
}

void WriteBatchInternal::MakeRoomKeepingBytes(WriteBatch* batch, size_t bytes) {
  assert(batch != nullptr);
  WriteBatch::Extras::OldBytes& old = batch->extras_->old_bytes;
  std::string& rep = batch->rep_;
  // Moving a string of 64 bytes or more keeps the address of its bytes, so the old buffer can be
  // put aside.
  if (!old.are_kept || rep.capacity() - rep.size() >= bytes) return;
  std::string larger;
  larger.reserve(std::max(2 * rep.capacity(), rep.size() + bytes));
  larger.append(rep);
  old.buffers.push_back(std::move(rep));
  rep = std::move(larger);
}

// Whole batches.

Status WriteBatchInternal::SetContents(WriteBatch* batch, const Slice& contents) {
  assert(batch != nullptr);
  if (contents.size() < kWriteBatchHeaderBytes) {
    return Status::Corruption(StrCat("write batch: expected at least ", kWriteBatchHeaderBytes,
                                     " bytes, found ", contents.size()));
  }
  // Clear() keeps the setting of protection, but there are no checksums for these bytes.
  batch->Clear();
  if (batch->extras_ != nullptr) batch->extras_->is_protected = false;
  batch->rep_.assign(contents.data(), contents.size());
  batch->content_flags_.store(kContentUnknown, std::memory_order_relaxed);
  return Status::OK();
}

// The records up to the termination point; those behind it are inserted without being logged.
WriteBatchInternal::WalPart WriteBatchInternal::PartForWal(const WriteBatch& batch) {
  const SavePoint& end = batch.wal_term_point_;
  const size_t bytes = end.is_cleared() ? batch.rep_.size() : end.size;
  assert(bytes >= kWriteBatchHeaderBytes);
  assert(bytes <= batch.rep_.size());
  return {
      .records = Slice(batch.rep_.data() + kWriteBatchHeaderBytes, bytes - kWriteBatchHeaderBytes),
      .count = end.is_cleared() ? Count(batch) : end.count};
}

// Copies the counted records only; markers and remarks are left out.
Status WriteBatchInternal::CopyUpdates(const WriteBatch& src, WriteBatch* dst) {
  assert(dst != nullptr);
  WriteBatchReader reader(src.rep_);
  WriteBatchRecord record;
  std::string kept(kWriteBatchHeaderBytes, '\0');
  uint32_t count = 0;
  while (reader.Next(&record)) {
    if (!record.IsCounted()) continue;
    // Records are copied as bytes, with their tags.
    kept.append(src.rep_, reader.record_offset(), reader.next_offset() - reader.record_offset());
    count++;
  }
  RETURN_IF_ERROR(reader.status());
  *dst = WriteBatch(std::move(kept));
  SetCount(dst, count);
  return Status::OK();
}

Status WriteBatchInternal::Append(WriteBatch* dst, const WriteBatch& src, bool wal_only) {
  if (src.rep_.size() < kWriteBatchHeaderBytes || dst->rep_.size() < kWriteBatchHeaderBytes) {
    return Status::Corruption("write batch: made from fewer bytes than a header has");
  }
  WalPart part{.records = Slice(src.rep_.data() + kWriteBatchHeaderBytes,
                                src.rep_.size() - kWriteBatchHeaderBytes),
               .count = Count(src)};
  uint32_t flags = src.content_flags_.load(std::memory_order_relaxed);
  if (wal_only) {
    part = PartForWal(src);
    if (!src.wal_term_point_.is_cleared()) flags = src.wal_term_point_.content_flags;
  }
  if (part.count > std::numeric_limits<uint32_t>::max() - Count(*dst)) {
    return Status::InvalidArgument("write batch: too many updates");
  }
  const size_t old_bytes = dst->rep_.size();
  MakeRoom(dst, part.records.size());
  dst->rep_.append(part.records.data(), part.records.size());
  SetCount(dst, Count(*dst) + part.count);
  dst->content_flags_.fetch_or(flags, std::memory_order_relaxed);
  if (dst->GetProtectionBytesPerKey() == 0) return Status::OK();

  std::vector<uint64_t>& protection = dst->extras_->protection;
  const std::vector<uint64_t>& src_protection = Protection(src);
  // A source with protection has verified or made its checksums already; they are taken over.
  if (src_protection.size() >= part.count) {
    protection.insert(protection.end(), src_protection.begin(),
                      src_protection.begin() + part.count);
    return Status::OK();
  }
  // Otherwise the checksums are computed here, from the records behind the old end.
  WriteBatchReader reader(Contents(*dst));
  for (WriteBatchRecord record; reader.Next(&record);) {
    if (reader.record_offset() < old_bytes || !record.IsCounted()) continue;
    protection.push_back(ChecksumOfRecord(record));
  }
  return reader.status();
}

}  // namespace ashlar
