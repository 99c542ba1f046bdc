// SPDX-License-Identifier: Apache-2.0
//
// WriteBatch as a byte string that grows at its end:
//
//   | seqno: 8 | count: 4 | record | record | ...        (rep_)
//
// Every update goes through WriteBatchInternal::AddUpdate(), which checks all limits first, so that
// a failed call leaves nothing behind. Bytes: docs/formats/write_batch.md.
#include "ashlar/write_batch.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "db/write/write_batch_extras.h"
#include "db/write/write_batch_internal.h"
#include "util/keys/coding.h"
#include "util/keys/entry_limits.h"
#include "util/keys/wide_column_encoding.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr size_t kProtectionBytes = 8;

// The placeholder for a missing timestamp in an update of a family with timestamps.
Slice PlaceholderTimestamp(size_t bytes, std::string* space) {
  assert(space != nullptr);
  assert(bytes > 0);
  space->assign(bytes, '\0');
  return *space;
}

size_t TotalBytes(const SliceParts& parts) {
  assert(parts.num_parts >= 0);
  size_t bytes = 0;
  for (int i = 0; i < parts.num_parts; ++i) bytes += parts.parts[i].size();
  return bytes;
}

// The suffix, a timestamp or a write time, ends the key or value.
void AppendParts(const SliceParts& parts, const Slice& suffix, std::string* dst) {
  assert(dst != nullptr);
  for (int i = 0; i < parts.num_parts; ++i) {
    dst->append(parts.parts[i].data(), parts.parts[i].size());
  }
  dst->append(suffix.data(), suffix.size());
}

// The record tag with a family number in front of the key. The default family has tags of its own,
// which save the number.
ValueType TagWithFamily(ValueType type) {
  switch (type) {
    case kTypeDeletion: return kTypeColumnFamilyDeletion;
    case kTypeValue: return kTypeColumnFamilyValue;
    case kTypeMerge: return kTypeColumnFamilyMerge;
    case kTypeSingleDeletion: return kTypeColumnFamilySingleDeletion;
    case kTypeRangeDeletion: return kTypeColumnFamilyRangeDeletion;
    case kTypeBlobIndex: return kTypeColumnFamilyBlobIndex;
    case kTypeWideColumnEntity: return kTypeColumnFamilyWideColumnEntity;
    case kTypeValuePreferredSeqno: return kTypeColumnFamilyValuePreferredSeqno;
    default: assert(false); return type;
  }
}

}  // namespace

// An update before its encoding. The suffixes, a timestamp or a write time, follow the parts.
struct WriteBatchInternal::Update {
  ValueType type;
  ColumnFamilyHandle* handle = nullptr;  // used only by AddForHandle(), which sets `family` from it
  uint32_t family = 0;
  SliceParts key{};
  SliceParts value{};                // the end key of a delete range; empty for deletes
  const Slice* timestamp = nullptr;  // null: no timestamp was given
  Slice key_suffix{};
  Slice value_suffix{};

  bool HasValue() const { return type != kTypeDeletion && type != kTypeSingleDeletion; }
  // Whether a missing timestamp may be filled in later.
  bool TakesPlaceholder() const {
    return type != kTypeWideColumnEntity && type != kTypeValuePreferredSeqno;
  }
};

[[gnu::cold]] Status WriteBatchInternal::RefuseEntrySize(size_t key_bytes, size_t value_bytes) {
  return Status::InvalidArgument(StrCat("a key of ", key_bytes, " and a value of ", value_bytes,
                                        " bytes: together they may have ", kMaxUserEntryBytes,
                                        ", for that is what fits into a table"));
}

// Appends one record. All limits are checked before the first byte is appended, so a refused update
// leaves the batch as it was.
Status WriteBatchInternal::AddUpdate(WriteBatch* batch, const Update& update) {
  assert(batch != nullptr);
  std::string& rep = batch->rep_;
  const size_t key_bytes = TotalBytes(update.key) + update.key_suffix.size();
  const size_t value_bytes = TotalBytes(update.value) + update.value_suffix.size();
  const bool has_value = update.HasValue();
  // Only a batch that was made from bytes can be shorter than its header.
  if (rep.size() < kWriteBatchHeaderBytes) {
    return Status::Corruption("write batch: made from fewer bytes than a header has");
  }
  if (key_bytes > kMaxBatchKeyBytes) return Status::InvalidArgument("write batch: key too large");
  const size_t value_limit =
      update.type == kTypeRangeDeletion ? kMaxBatchKeyBytes : kMaxBatchValueBytes;
  if (value_bytes > value_limit) return Status::InvalidArgument("write batch: value too large");
  if (key_bytes + value_bytes > kMaxUserEntryBytes) return RefuseEntrySize(key_bytes, value_bytes);

  char prefix[1 + 2 * kMaxVarint32Bytes];
  char* p = prefix;
  *p++ = static_cast<char>(update.family == 0 ? update.type : TagWithFamily(update.type));
  if (update.family != 0) p = EncodeVarint32(p, update.family);
  p = EncodeVarint32(p, static_cast<uint32_t>(key_bytes));
  const size_t prefix_bytes = static_cast<size_t>(p - prefix);
  const size_t record_bytes =
      prefix_bytes + key_bytes + (has_value ? VarintLength(value_bytes) + value_bytes : 0);
  if (batch->max_bytes_ != 0 && rep.size() + record_bytes > batch->max_bytes_) {
    return Status::MemoryLimit(StrCat("write batch: ", rep.size() + record_bytes,
                                      " bytes would exceed its limit of ", batch->max_bytes_));
  }
  const uint32_t count = Count(*batch);
  if (count == std::numeric_limits<uint32_t>::max()) {
    return Status::InvalidArgument("write batch: too many updates");
  }

  MakeRoom(batch, record_bytes);
  rep.append(prefix, prefix_bytes);
  AppendParts(update.key, update.key_suffix, &rep);
  const size_t key_end = rep.size();
  if (has_value) {
    PutVarint32(&rep, static_cast<uint32_t>(value_bytes));
    AppendParts(update.value, update.value_suffix, &rep);
  }
  assert(rep.size() > key_end || !has_value);
  SetCount(batch, count + 1);
  batch->content_flags_.fetch_or(ContentFlagOf(update.type), std::memory_order_relaxed);
  // The checksum covers the bytes as they are stored in the batch, not the arguments: an error of
  // this function would be found too.
  if (batch->extras_ != nullptr && batch->extras_->is_protected) {
    WriteBatchRecord record;
    record.type = update.type;
    record.family = update.family;
    record.key = Slice(rep.data() + key_end - key_bytes, key_bytes);
    if (has_value) record.value = Slice(rep.data() + rep.size() - value_bytes, value_bytes);
    batch->extras_->protection.push_back(ChecksumOfRecord(record));
  }
  return Status::OK();
}

// Adds an update for a family that is given by its handle. Finds the number of the family and the
// size of its timestamps, and appends the timestamp to the key. For a range deletion both ends get
// it.
Status WriteBatchInternal::AddForHandle(WriteBatch* batch, const Update& given) {
  assert(batch != nullptr);
  assert(given.key_suffix.empty());  // it is set here
  Update update = given;
  size_t ts_bytes = batch->default_family_ts_bytes_;
  if (update.handle != nullptr) {
    update.family = update.handle->GetID();
    const Comparator* comparator = update.handle->GetComparator();
    ts_bytes = comparator == nullptr ? 0 : comparator->timestamp_size();
  }
  std::string placeholder;
  if (update.timestamp != nullptr) {
    if (ts_bytes == 0 || update.timestamp->size() != ts_bytes) {
      return Status::InvalidArgument(StrCat("write batch: the family takes timestamps of ",
                                            ts_bytes, " bytes, found ", update.timestamp->size()));
    }
    update.key_suffix = *update.timestamp;
  } else if (ts_bytes != 0) {
    // The family has timestamps, but the caller gave none. UpdateTimestamps() fills it in later.
    if (!update.TakesPlaceholder()) {
      return Status::InvalidArgument("write batch: not possible in a family with timestamps");
    }
    update.key_suffix = PlaceholderTimestamp(ts_bytes, &placeholder);
  }
  const bool has_placeholder = ts_bytes != 0 && update.timestamp == nullptr;
  if (update.type == kTypeRangeDeletion) update.value_suffix = update.key_suffix;
  Status status = AddUpdate(batch, update);
  if (status.ok() && has_placeholder) {
    batch->content_flags_.fetch_or(kHasPlaceholder, std::memory_order_relaxed);
  }
  if (status.ok()) batch->MaybeTrackTimestampSize(update.family, ts_bytes);
  return status;
}

// The flag for records of this kind; 0 for kinds without a flag.
uint32_t WriteBatchInternal::ContentFlagOf(ValueType type) {
  switch (type) {
    case kTypeValue: return kHasPut;
    case kTypeDeletion: return kHasDelete;
    case kTypeSingleDeletion: return kHasSingleDelete;
    case kTypeMerge: return kHasMerge;
    case kTypeRangeDeletion: return kHasDeleteRange;
    case kTypeBlobIndex: return kHasBlobIndex;
    case kTypeWideColumnEntity: return kHasPutEntity;
    case kTypeValuePreferredSeqno: return kHasTimedPut;
    case kTypeBeginPrepareXID:
    case kTypeBeginPersistedPrepareXID: return kHasBeginPrepare;
    case kTypeBeginUnprepareXID: return kHasBeginPrepare | kHasBeginUnprepare;
    case kTypeEndPrepareXID: return kHasEndPrepare;
    case kTypeCommitXID:
    case kTypeCommitXIDAndTimestamp: return kHasCommit;
    case kTypeRollbackXID: return kHasRollback;
    default: return 0;
  }
}

// Construction and copies.

WriteBatch::WriteBatch(size_t reserved_bytes, size_t max_bytes) : max_bytes_(max_bytes) {
  rep_.reserve(std::max(reserved_bytes, kWriteBatchHeaderBytes));
  rep_.resize(kWriteBatchHeaderBytes);
}

WriteBatch::WriteBatch(size_t reserved_bytes, size_t max_bytes, size_t protection_bytes_per_key,
                       size_t default_cf_ts_sz)
    : WriteBatch(reserved_bytes, max_bytes) {
  default_family_ts_bytes_ = static_cast<uint32_t>(default_cf_ts_sz);
  if (protection_bytes_per_key == kProtectionBytes) EnsureExtras()->is_protected = true;
}

WriteBatch::WriteBatch(const std::string& rep)
    : rep_(rep), content_flags_(WriteBatchInternal::kContentUnknown) {}

WriteBatch::WriteBatch(std::string&& rep)
    : rep_(std::move(rep)), content_flags_(WriteBatchInternal::kContentUnknown) {}

WriteBatch::WriteBatch(const WriteBatch& src)
    : WriteBatchBase(src),
      rep_(src.rep_),
      max_bytes_(src.max_bytes_),
      content_flags_(src.content_flags_.load(std::memory_order_relaxed)),
      default_family_ts_bytes_(src.default_family_ts_bytes_),
      wal_term_point_(src.wal_term_point_),
      extras_(src.extras_ == nullptr ? nullptr : std::make_unique<Extras>(*src.extras_)) {}

WriteBatch::WriteBatch(WriteBatch&& src) noexcept
    : WriteBatchBase(src),
      rep_(std::move(src.rep_)),
      max_bytes_(src.max_bytes_),
      content_flags_(src.content_flags_.load(std::memory_order_relaxed)),
      default_family_ts_bytes_(src.default_family_ts_bytes_),
      wal_term_point_(src.wal_term_point_),
      extras_(std::move(src.extras_)) {
  // The source is a valid, empty batch afterwards, with a whole header.
  src.Clear();
}

WriteBatch& WriteBatch::operator=(const WriteBatch& src) {
  if (this != &src) *this = WriteBatch(src);
  return *this;
}

WriteBatch& WriteBatch::operator=(WriteBatch&& src) {
  if (this == &src) return *this;
  rep_ = std::move(src.rep_);
  max_bytes_ = src.max_bytes_;
  content_flags_.store(src.content_flags_.load(std::memory_order_relaxed),
                       std::memory_order_relaxed);
  default_family_ts_bytes_ = src.default_family_ts_bytes_;
  wal_term_point_ = src.wal_term_point_;
  extras_ = std::move(src.extras_);
  src.Clear();
  return *this;
}

WriteBatch::~WriteBatch() = default;

WriteBatch::Extras* WriteBatch::EnsureExtras() {
  if (extras_ == nullptr) extras_ = std::make_unique<Extras>();
  return extras_.get();
}

// Updates.

Status WriteBatch::Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) {
  return WriteBatchInternal::AddForHandle(this, {.type = kTypeValue,
                                                 .handle = column_family,
                                                 .key = SliceParts(&key, 1),
                                                 .value = SliceParts(&value, 1)});
}
Status WriteBatch::Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
                       const Slice& value) {
  return WriteBatchInternal::AddForHandle(this, {.type = kTypeValue,
                                                 .handle = column_family,
                                                 .key = SliceParts(&key, 1),
                                                 .value = SliceParts(&value, 1),
                                                 .timestamp = &ts});
}
Status WriteBatch::Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                       const SliceParts& value) {
  return WriteBatchInternal::AddForHandle(
      this, {.type = kTypeValue, .handle = column_family, .key = key, .value = value});
}

Status WriteBatch::TimedPut(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value,
                            uint64_t write_unix_time) {
  // The greatest time means that the caller does not know it, and the update is an ordinary put.
  if (write_unix_time == std::numeric_limits<uint64_t>::max()) {
    return Put(column_family, key, value);
  }
  char time[sizeof(write_unix_time)];
  EncodeFixed64(time, write_unix_time);
  return WriteBatchInternal::AddForHandle(this, {.type = kTypeValuePreferredSeqno,
                                                 .handle = column_family,
                                                 .key = SliceParts(&key, 1),
                                                 .value = SliceParts(&value, 1),
                                                 .value_suffix = Slice(time, sizeof(time))});
}

Status WriteBatch::PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                             const WideColumns& columns) {
  if (column_family == nullptr) {
    return Status::InvalidArgument("WriteBatch::PutEntity: the column family handle is null");
  }
  std::string entity;
  Status status = AppendEncodedColumns(columns, &entity);
  if (!status.ok()) return status;
  const Slice value(entity);
  return WriteBatchInternal::AddForHandle(this, {.type = kTypeWideColumnEntity,
                                                 .handle = column_family,
                                                 .key = SliceParts(&key, 1),
                                                 .value = SliceParts(&value, 1)});
}

Status WriteBatch::PutEntity(const Slice& key, const AttributeGroups& attribute_groups) {
  if (attribute_groups.empty()) {
    return Status::InvalidArgument("WriteBatch::PutEntity: no attribute groups were given");
  }
  // An error halfway must not leave some of the groups in the batch.
  const SavePoint before(rep_.size(), Count(), content_flags_.load(std::memory_order_relaxed));
  for (const AttributeGroup& group : attribute_groups) {
    Status status = PutEntity(group.column_family(), key, group.columns());
    if (status.ok()) continue;
    if (rep_.size() != before.size) WriteBatchInternal::TruncateTo(this, before);
    return status;
  }
  return Status::OK();
}

Status WriteBatch::Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) {
  return WriteBatchInternal::AddForHandle(this, {.type = kTypeMerge,
                                                 .handle = column_family,
                                                 .key = SliceParts(&key, 1),
                                                 .value = SliceParts(&value, 1)});
}
Status WriteBatch::Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
                         const Slice& value) {
  return WriteBatchInternal::AddForHandle(this, {.type = kTypeMerge,
                                                 .handle = column_family,
                                                 .key = SliceParts(&key, 1),
                                                 .value = SliceParts(&value, 1),
                                                 .timestamp = &ts});
}
Status WriteBatch::Merge(ColumnFamilyHandle* column_family, const SliceParts& key,
                         const SliceParts& value) {
  return WriteBatchInternal::AddForHandle(
      this, {.type = kTypeMerge, .handle = column_family, .key = key, .value = value});
}

Status WriteBatch::Delete(ColumnFamilyHandle* column_family, const Slice& key) {
  return WriteBatchInternal::AddForHandle(
      this, {.type = kTypeDeletion, .handle = column_family, .key = SliceParts(&key, 1)});
}
Status WriteBatch::Delete(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts) {
  return WriteBatchInternal::AddForHandle(this, {.type = kTypeDeletion,
                                                 .handle = column_family,
                                                 .key = SliceParts(&key, 1),
                                                 .timestamp = &ts});
}
Status WriteBatch::Delete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  return WriteBatchInternal::AddForHandle(
      this, {.type = kTypeDeletion, .handle = column_family, .key = key});
}

Status WriteBatch::SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) {
  return WriteBatchInternal::AddForHandle(
      this, {.type = kTypeSingleDeletion, .handle = column_family, .key = SliceParts(&key, 1)});
}
Status WriteBatch::SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                                const Slice& ts) {
  return WriteBatchInternal::AddForHandle(this, {.type = kTypeSingleDeletion,
                                                 .handle = column_family,
                                                 .key = SliceParts(&key, 1),
                                                 .timestamp = &ts});
}
Status WriteBatch::SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  return WriteBatchInternal::AddForHandle(
      this, {.type = kTypeSingleDeletion, .handle = column_family, .key = key});
}

Status WriteBatch::DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                               const Slice& end_key) {
  return WriteBatchInternal::AddForHandle(this, {.type = kTypeRangeDeletion,
                                                 .handle = column_family,
                                                 .key = SliceParts(&begin_key, 1),
                                                 .value = SliceParts(&end_key, 1)});
}
Status WriteBatch::DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                               const Slice& end_key, const Slice& ts) {
  return WriteBatchInternal::AddForHandle(this, {.type = kTypeRangeDeletion,
                                                 .handle = column_family,
                                                 .key = SliceParts(&begin_key, 1),
                                                 .value = SliceParts(&end_key, 1),
                                                 .timestamp = &ts});
}
Status WriteBatch::DeleteRange(ColumnFamilyHandle* column_family, const SliceParts& begin_key,
                               const SliceParts& end_key) {
  return WriteBatchInternal::AddForHandle(
      this,
      {.type = kTypeRangeDeletion, .handle = column_family, .key = begin_key, .value = end_key});
}

Status WriteBatch::PutLogData(const Slice& blob) {
  if (blob.size() > kMaxBatchValueBytes) {
    return Status::InvalidArgument("write batch: log data too large");
  }
  return WriteBatchInternal::AddMarker(this, kTypeLogData, {blob});
}

// The same updates for callers in the engine, which name the family by its number. Keys must end
// with their timestamp already, so no placeholder is added.

Status WriteBatchInternal::Put(WriteBatch* batch, uint32_t family, const Slice& key,
                               const Slice& value) {
  return AddUpdate(batch, {.type = kTypeValue,
                           .family = family,
                           .key = SliceParts(&key, 1),
                           .value = SliceParts(&value, 1)});
}
Status WriteBatchInternal::Delete(WriteBatch* batch, uint32_t family, const Slice& key) {
  return AddUpdate(batch, {.type = kTypeDeletion, .family = family, .key = SliceParts(&key, 1)});
}
Status WriteBatchInternal::SingleDelete(WriteBatch* batch, uint32_t family, const Slice& key) {
  return AddUpdate(batch,
                   {.type = kTypeSingleDeletion, .family = family, .key = SliceParts(&key, 1)});
}
Status WriteBatchInternal::DeleteRange(WriteBatch* batch, uint32_t family, const Slice& begin,
                                       const Slice& end) {
  return AddUpdate(batch, {.type = kTypeRangeDeletion,
                           .family = family,
                           .key = SliceParts(&begin, 1),
                           .value = SliceParts(&end, 1)});
}
Status WriteBatchInternal::Merge(WriteBatch* batch, uint32_t family, const Slice& key,
                                 const Slice& value) {
  return AddUpdate(batch, {.type = kTypeMerge,
                           .family = family,
                           .key = SliceParts(&key, 1),
                           .value = SliceParts(&value, 1)});
}
Status WriteBatchInternal::PutBlobIndex(WriteBatch* batch, uint32_t family, const Slice& key,
                                        const Slice& blob_index) {
  return AddUpdate(batch, {.type = kTypeBlobIndex,
                           .family = family,
                           .key = SliceParts(&key, 1),
                           .value = SliceParts(&blob_index, 1)});
}
Status WriteBatchInternal::PutEntity(WriteBatch* batch, uint32_t family, const Slice& key,
                                     const Slice& entity) {
  return AddUpdate(batch, {.type = kTypeWideColumnEntity,
                           .family = family,
                           .key = SliceParts(&key, 1),
                           .value = SliceParts(&entity, 1)});
}
Status WriteBatchInternal::TimedPut(WriteBatch* batch, uint32_t family, const Slice& key,
                                    const Slice& value, uint64_t write_unix_time) {
  if (write_unix_time == std::numeric_limits<uint64_t>::max()) {
    return Put(batch, family, key, value);
  }
  char time[sizeof(write_unix_time)];
  EncodeFixed64(time, write_unix_time);
  return AddUpdate(batch, {.type = kTypeValuePreferredSeqno,
                           .family = family,
                           .key = SliceParts(&key, 1),
                           .value = SliceParts(&value, 1),
                           .value_suffix = Slice(time, sizeof(time))});
}

}  // namespace ashlar
