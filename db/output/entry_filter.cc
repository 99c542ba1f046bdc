// SPDX-License-Identifier: Apache-2.0
//
// Ask() gets the filter's decision, first by the key alone if the value is in a blob file, and
// turns it into a verdict.
#include "db/output/entry_filter.h"

#include <algorithm>
#include <cassert>

#include "ashlar/system_clock.h"
#include "db/output/blob_flow.h"
#include "util/keys/wide_column_encoding.h"
#include "util/statistics/statistics.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The columns of an entity, for filters that resolve them: entities keep their columns in the
// table, never in blob files.
class ColumnsAtHand final : public WideColumnBlobResolver {
 public:
  explicit ColumnsAtHand(const WideColumns& columns) : columns_(columns) {}
  Status ResolveColumn(size_t column_index, Slice* resolved_value) override {
    if (column_index >= columns_.size()) return Status::InvalidArgument("no such column");
    *resolved_value = columns_[column_index].value();
    return Status::OK();
  }
  bool IsBlobColumn(size_t /*column_index*/) const override { return false; }
  size_t NumColumns() const override { return columns_.size(); }

 private:
  const WideColumns& columns_;
};

// Adds the time of its lifetime to *nanos if the statistics ask for detailed times.
class FilterTimer {
 public:
  FilterTimer(const Statistics* statistics, uint64_t* nanos)
      : nanos_(statistics != nullptr &&
                       statistics->get_stats_level() > StatsLevel::kExceptDetailedTimers
                   ? nanos
                   : nullptr),
        start_(nanos_ != nullptr ? SystemClock::Default()->NowNanos() : 0) {}
  ~FilterTimer() {
    if (nanos_ != nullptr) *nanos_ += SystemClock::Default()->NowNanos() - start_;
  }
  FilterTimer(const FilterTimer&) = delete;
  FilterTimer& operator=(const FilterTimer&) = delete;

 private:
  uint64_t* const nanos_;
  const uint64_t start_;
};

}  // namespace

// A filter object in the options is used for compactions only. Other jobs use a factory's filter,
// if the factory wants to filter them.
Result<std::unique_ptr<EntryFilter>> EntryFilter::Make(const ColumnFamilyOptions& family,
                                                       const CompactionFilter::Context& context,
                                                       Statistics* statistics) {
  Options options;
  if (context.reason == TableFileCreationReason::kCompaction) {
    options.filter = family.compaction_filter;
  }
  CompactionFilterFactory* const factory = family.compaction_filter_factory.get();
  if (options.filter == nullptr && factory != nullptr &&
      factory->ShouldFilterTableFileCreation(context.reason)) {
    options.owned = factory->CreateCompactionFilter(context);
    options.filter = options.owned.get();
  }
  if (options.filter == nullptr) return std::unique_ptr<EntryFilter>();
  if (!options.filter->IgnoreSnapshots()) {
    return Status::NotSupported(
        StrCat("compaction filter ", options.filter->Name(), ": IgnoreSnapshots() must be true"));
  }
  options.comparator = family.comparator;
  options.level = std::max(context.input_start_level, 0);
  options.statistics = statistics;
  return std::make_unique<EntryFilter>(std::move(options));
}

EntryFilter::~EntryFilter() {
  if (nanos_ > 0) RecordTick(options_.statistics, FILTER_OPERATION_TOTAL_TIME, nanos_);
}

// Calls the program's filter and translates its decision. After a failure the job ends, so no
// further entry is asked about.
EntryFilter::Verdict EntryFilter::Ask(const Slice& stored_key, ValueType type,
                                      const Slice& stored) {
  assert(IsPointEntryType(type));
  assert(!IsPointTombstone(type));
  assert(status_.ok());  // the stream ends after a failure
  const Decision decision = Decide(stored_key, type, stored);
  if (!status_.ok()) return Fail(order_.WithoutStamp(stored_key), status_);
  return Obey(decision, stored_key, type);
}

// A value in a blob file is read only if the key alone does not decide.
EntryFilter::Decision EntryFilter::Decide(const Slice& stored_key, ValueType type,
                                          const Slice& stored) {
  const Slice user_key = order_.WithoutStamp(stored_key);
  new_value_.clear();
  skip_until_.clear();
  if (type != kTypeBlobIndex) return DecideByValue(user_key, type, stored);
  {
    const FilterTimer timer(options_.statistics, &nanos_);
    const Decision decision =
        options_.filter->FilterBlobByKey(options_.level, user_key, &new_value_, &skip_until_);
    if (decision != Decision::kUndetermined) return decision;
  }
  new_value_.clear();
  skip_until_.clear();
  assert(blobs_ != nullptr);  // the stream refuses blob indexes without blob files
  Slice value;
  status_ = blobs_->Load(stored_key, stored, &value);
  return status_.ok() ? DecideByValue(user_key, kTypeValue, value) : Decision::kKeep;
}

// Calls the filter with a value that is at hand, and decodes it before if it is an entity.
EntryFilter::Decision EntryFilter::DecideByValue(const Slice& user_key, ValueType type,
                                                 const Slice& stored) {
  assert(type != kTypeBlobIndex);  // Decide() has loaded the value
  const bool is_entity = type == kTypeWideColumnEntity;
  columns_.clear();
  new_columns_.clear();
  if (is_entity) {
    status_ = DecodeColumns(stored, &columns_);
    if (!status_.ok()) return Decision::kKeep;
  }
  const CompactionFilter::ValueType kind = is_entity ? CompactionFilter::kWideColumnEntity
                                           : type == kTypeMerge ? CompactionFilter::kMergeOperand
                                                                : CompactionFilter::kValue;
  const Slice* const value = is_entity ? nullptr : &stored;
  const WideColumns* const columns = is_entity ? &columns_ : nullptr;
  const FilterTimer timer(options_.statistics, &nanos_);
  if (!options_.filter->SupportsFilterV4()) {
    return options_.filter->FilterV3(options_.level, user_key, kind, value, columns, &new_value_,
                                     &new_columns_, &skip_until_);
  }
  ColumnsAtHand resolver(columns_);
  return options_.filter->FilterV4(options_.level, user_key, kind, value, columns, &new_value_,
                                   &new_columns_, &skip_until_, is_entity ? &resolver : nullptr);
}

// Turns a decision into a verdict. If kRemoveAndSkipUntil names a position that is not behind the
// key, the entry is kept.
EntryFilter::Verdict EntryFilter::Obey(Decision decision, const Slice& stored_key, ValueType type) {
  const Slice user_key = order_.WithoutStamp(stored_key);
  switch (decision) {
    case Decision::kKeep: return Verdict::kKeep;
    case Decision::kRemove: type_ = kTypeDeletion; return Verdict::kRemove;
    case Decision::kPurge: type_ = kTypeSingleDeletion; return Verdict::kRemove;
    case Decision::kChangeValue:
      type_ = type == kTypeMerge ? kTypeMerge : kTypeValue;
      return Verdict::kReplace;
    case Decision::kChangeWideColumnEntity: return ReplaceByEntity(user_key, type);
    case Decision::kRemoveAndSkipUntil:
      skip_until_ = order_.FirstStored(skip_until_);
      return order_.OrderWithoutTimestamp(skip_until_, stored_key) > 0 ? Verdict::kSkip
                                                                       : Verdict::kKeep;
    case Decision::kIOError: return Fail(user_key, Status::IOError("it met an error"));
    case Decision::kChangeBlobIndex:
      return Fail(user_key, Status::NotSupported("kChangeBlobIndex is for internal filters"));
    case Decision::kUndetermined:
      return Fail(user_key, Status::NotSupported("kUndetermined is for FilterBlobByKey"));
  }
  return Fail(user_key, Status::InvalidArgument("an unknown decision"));
}

// The compaction filter wants columns in place of the value. A merge operand cannot be replaced by
// them: the merge operator expects operands of its own form.
EntryFilter::Verdict EntryFilter::ReplaceByEntity(const Slice& user_key, ValueType type) {
  if (type == kTypeMerge) {
    return Fail(user_key, Status::NotSupported("a merge operand cannot become an entity"));
  }
  WideColumns columns;
  for (const auto& [name, value] : new_columns_) columns.emplace_back(name, value);
  new_value_.clear();
  const Status encoded = AppendEncodedColumns(columns, &new_value_);
  if (!encoded.ok()) return Fail(user_key, encoded);
  type_ = kTypeWideColumnEntity;
  return Verdict::kReplace;
}

// Stores the error with the names of the filter and the key.
EntryFilter::Verdict EntryFilter::Fail(const Slice& user_key, const Status& why) {
  assert(!why.ok());
  status_ = Status::CopyAppendMessage(why, StrCat("; compaction filter ", options_.filter->Name()),
                                      StrCat(", key ", KeyInError(user_key)));
  return Verdict::kFail;
}

}  // namespace ashlar
