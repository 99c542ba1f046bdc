// SPDX-License-Identifier: Apache-2.0
//
// If the result of a merge is one of its inputs, it is not copied: a point read takes over the pin
// of the operand, or keeps the value that it holds already.
#include "db/read/merge_resolution.h"

#include <cassert>
#include <exception>
#include <new>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "table/iterator/point_lookup.h"
#include "util/keys/wide_column_encoding.h"
#include "util/result.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// Measures the time of one call of the operator.
class MergeTimer {
 public:
  explicit MergeTimer(const MergeTools& tools)
      : perf_(tools.clock, &PerfContextBase::merge_operator_time_nanos),
        statistics_(tools.clock != nullptr && WantsTimers(tools.statistics) ? tools.statistics
                                                                            : nullptr),
        clock_(tools.clock),
        start_nanos_(statistics_ == nullptr ? 0 : clock_->NowNanos()) {}
  ~MergeTimer() {
    if (statistics_ == nullptr) return;
    statistics_->recordTick(MERGE_OPERATION_TOTAL_TIME, clock_->NowNanos() - start_nanos_);
  }
  MergeTimer(const MergeTimer&) = delete;
  MergeTimer& operator=(const MergeTimer&) = delete;

 private:
  const PerfTimer perf_;
  Statistics* const statistics_;  // null: times are not wanted
  SystemClock* const clock_;
  const uint64_t start_nanos_;
};

// Counts a failed merge and makes its status, which names the operator and the key. `why` begins
// with a colon, or is empty.
Status Failed(const MergeTools& tools, const Slice& key, const std::string& why) {
  RecordTick(tools.statistics, NUMBER_MERGE_FAILURES);
  return Status(Status::kCorruption, Status::kMergeOperatorFailed, Status::kNoError,
                StrCat(tools.merge_operator->Name(), " could not merge the operands of key ",
                       KeyInError(key), why));
}

// Encodes the columns that the operator made. Fails if two columns have the same name.
Status StoreColumns(const MergeOperator::MergeOperationOutputV3::NewColumns& made, Merged* result) {
  assert(result != nullptr);
  WideColumns columns;
  columns.reserve(made.size());
  for (const auto& [name, value] : made) columns.emplace_back(name, value);
  result->value.clear();
  result->input = Slice(nullptr, 0);
  result->is_entity = true;
  return AppendEncodedColumns(columns, &result->value);
}

// Moves the operator's output into *result.
Status TakeResult(MergeOperator::MergeOperationOutputV3* output, Merged* result) {
  assert(output != nullptr);
  assert(result != nullptr);
  result->is_entity = false;
  if (auto* value = std::get_if<std::string>(&output->new_value)) {
    result->value = std::move(*value);
    result->input = Slice(nullptr, 0);
    return Status::OK();
  }
  if (const auto* input = std::get_if<Slice>(&output->new_value)) {
    result->input = *input;
    return Status::OK();
  }
  return StoreColumns(
      std::get<MergeOperator::MergeOperationOutputV3::NewColumns>(output->new_value), result);
}

// Prepares the base for the operator, which sees it as nothing, as a value or as columns.
Status DecodeBase(const Slice& key, const MergeBase* base,
                  MergeOperator::MergeOperationInputV3::ExistingValue* existing) {
  if (base == nullptr) return Status::OK();
  if (!base->is_entity) {
    *existing = base->value;
    return Status::OK();
  }
  const Status status = DecodeColumns(base->value, &existing->emplace<WideColumns>());
  if (status.ok()) return status;
  return Status::CopyAppendMessage(status, "; below merge operands of key ", KeyInError(key));
}

}  // namespace

// `base` is the value below the operands; null if the key had none. The operator is code of the
// program, which must not run inside an epoch.
Status MergeFully(const MergeTools& tools, const Slice& key, const MergeBase* base,
                  const std::vector<Slice>& operands, Merged* result) {
  assert(!InEpoch());
  assert(!operands.empty());
  if (tools.merge_operator == nullptr) {
    return Status::InvalidArgument("merge_operator is not properly initialized.");
  }
  using Input = MergeOperator::MergeOperationInputV3;
  Input::ExistingValue existing;
  RETURN_IF_ERROR(DecodeBase(key, base, &existing));
  MergeOperator::MergeOperationOutputV3 output;
  std::string why;
  try {
    const MergeTimer timer(tools);
    const Input input(key, std::move(existing), operands, tools.info_log);
    if (tools.merge_operator->FullMergeV3(input, &output)) {
      const Status taken = TakeResult(&output, result);
      if (taken.ok()) return taken;
      why = StrCat(": it made columns that cannot be stored: ", taken.ToString());
    }
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();
  } catch (const std::exception& thrown) {
    why = StrCat(": it threw: ", thrown.what());
  } catch (...) {
    why = ": it threw";
  }
  result->failure_scope = output.op_failure_scope;
  return Failed(tools, key, why);
}

// False if the operator cannot combine operands without their base; then they stay as they are.
bool MergePartially(const MergeTools& tools, const Slice& key, const std::deque<Slice>& operands,
                    std::string* result) {
  assert(result != nullptr);
  assert(!InEpoch());
  assert(tools.merge_operator != nullptr);
  const size_t least = tools.merge_operator->AllowSingleOperand() ? 1 : 2;
  if (operands.size() < least) return false;
  result->clear();
  try {
    const MergeTimer timer(tools);
    return tools.merge_operator->PartialMergeMulti(key, operands, result, tools.info_log);
  } catch (...) {
    return false;  // keeping the operands apart is always correct
  }
}

namespace {

// Makes the result the value of the lookup. The input may point into the present value.
void TakeMerged(Merged* merged, PointLookup* lookup) {
  assert(merged != nullptr);
  assert(lookup != nullptr);
  PinnableSlice* const value = lookup->value();
  assert(value != nullptr);
  if (merged->is_entity && !lookup->keeps_entities()) [[unlikely]] {
    Slice default_column;
    const Status decoded = DecodeDefaultColumn(merged->value, &default_column);
    assert(decoded.ok());  // it was encoded just now
    IgnoreError(decoded, "cannot fail");
    merged->value = default_column.ToString();
    merged->is_entity = false;
  }
  if (merged->input.data() == nullptr) {
    value->Reset();
    value->GetSelf()->swap(merged->value);
    return value->PinSelf();
  }
  const Slice& input = merged->input;
  const bool is_base = lookup->outcome() == PointLookup::Outcome::kFound &&
                       input.data() == value->data() && input.size() == value->size();
  if (is_base) return;
  const std::vector<Slice>& operands = lookup->operands()->all();
  for (size_t i = 0; i < operands.size(); i++) {
    if (operands[i].data() != input.data() || operands[i].size() != input.size()) continue;
    const ValuePin pin = lookup->operands()->PinOf(i);
    if (pin.acquire == nullptr) break;
    value->Reset();
    pin.acquire(pin.owner);
    return value->PinSlice(input, pin.release, pin.owner, nullptr);
  }
  std::string copy = input.ToString();  // the input may point into the memory of `value`
  value->Reset();
  value->GetSelf()->swap(copy);
  value->PinSelf();
}

}  // namespace

// Folds the operands that the lookup has found onto the value below them, if there is one. An error
// is also stored in the lookup. More operands than the option's threshold are no error, but give a
// special OK status.
Status ResolveMerge(const MergeTools& tools, const ReadOptions& options, PointLookup* lookup) {
  assert(lookup != nullptr);
  assert(lookup->value() != nullptr);
  assert(lookup->operands() != nullptr);
  lookup->EndAtLimit();
  if (lookup->outcome() == PointLookup::Outcome::kFailed) return lookup->status();
  const size_t count = lookup->operands()->count();
  AddPerfCount(&PerfContextBase::internal_merge_point_lookup_count, count);
  RecordInHistogram(tools.statistics, READ_NUM_MERGE_OPERANDS, count);
  const bool has_base = lookup->outcome() == PointLookup::Outcome::kFound;
  const MergeBase base{.value = *lookup->value(), .is_entity = lookup->is_entity()};
  Merged merged;
  Status status = MergeFully(tools, lookup->key().user_key, has_base ? &base : nullptr,
                             lookup->operands()->Reversed(), &merged);
  if (!status.ok()) {
    lookup->value()->Reset();
    lookup->Fail(status);
    return status;
  }
  TakeMerged(&merged, lookup);
  lookup->FinishMerge(merged.is_entity);
  const bool is_many = options.merge_operand_count_threshold.has_value() &&
                       count > *options.merge_operand_count_threshold;
  return is_many ? Status::OkMergeOperandThresholdExceeded() : Status::OK();
}

namespace {

// Replaces the stored form of an entity by its default column.
Status KeepDefaultColumn(PinnableSlice* entity) {
  assert(entity != nullptr);
  Slice default_column;
  RETURN_IF_ERROR(DecodeDefaultColumn(*entity, &default_column));
  std::string copy = default_column.ToString();
  entity->Reset();
  entity->GetSelf()->swap(copy);
  entity->PinSelf();
  return Status::OK();
}

}  // namespace

// Moves the value below the operands, if there is one, and then the operands into the array of the
// caller, from old to new.
Status HandOutOperands(PointLookup* lookup, const GetMergeOperandsOptions& options,
                       PinnableSlice* operands, int* count) {
  assert(lookup != nullptr);
  lookup->EndAtLimit();
  if (lookup->outcome() == PointLookup::Outcome::kFailed) return lookup->status();
  const bool has_base = lookup->outcome() == PointLookup::Outcome::kFound;
  return HandOut({.operands = lookup->operands(),
                  .base = has_base ? lookup->value() : nullptr,
                  .is_entity = has_base && lookup->is_entity()},
                 options, operands, count);
}

Status HandOut(const GatheredOperands& gathered, const GetMergeOperandsOptions& options,
               PinnableSlice* operands, int* count) {
  assert(count != nullptr);
  const size_t operand_count = gathered.operands == nullptr ? 0 : gathered.operands->count();
  const size_t total = operand_count + (gathered.base != nullptr ? 1 : 0);
  if (total == 0) return Status::NotFound();
  *count = static_cast<int>(total);
  if (*count > options.expected_max_number_of_operands) {
    return Status::Incomplete(Status::KMergeOperandsInsufficientCapacity);
  }
  if (gathered.base != nullptr) {
    if (gathered.is_entity) RETURN_IF_ERROR(KeepDefaultColumn(gathered.base));
    *operands++ = std::move(*gathered.base);
  }
  for (size_t i = operand_count; i-- > 0; operands++) {
    const Slice& operand = gathered.operands->all()[i];
    const ValuePin pin = gathered.operands->PinOf(i);
    operands->Reset();
    if (pin.acquire == nullptr || gathered.has_short_pins) {
      operands->PinSelf(operand);
    } else {
      pin.acquire(pin.owner);
      operands->PinSlice(operand, pin.release, pin.owner, nullptr);
    }
  }
  return Status::OK();
}

Status CopyUnmerged(const PointLookup& lookup, UnmergedValue* unmerged) {
  assert(unmerged != nullptr);
  if (lookup.outcome() == PointLookup::Outcome::kFailed) return lookup.status();
  *unmerged = UnmergedValue();
  unmerged->has_base = lookup.outcome() == PointLookup::Outcome::kFound;
  if (unmerged->has_base) {
    unmerged->is_entity = lookup.is_entity();
    unmerged->base = lookup.value()->ToString();
  }
  if (lookup.operands() != nullptr) {
    for (const Slice& operand : lookup.operands()->Reversed()) {
      unmerged->operands.push_back(operand.ToString());
    }
  }
  return unmerged->has_base || !unmerged->operands.empty() ? Status::OK() : Status::NotFound();
}

}  // namespace ashlar
