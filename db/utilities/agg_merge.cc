// SPDX-License-Identifier: Apache-2.0
//
// An operand is the length of the function's name as a varint32, the name, and the payload.
#include "ashlar/utilities/agg_merge.h"

#include <cassert>
#include <deque>
#include <map>
#include <utility>

#include "util/keys/coding.h"
#include "util/threads/mutex.h"

namespace ashlar {

const std::string kUnnamedFuncName;
const std::string kErrorFuncName = "kErrorFuncName";

namespace {

// The functions of the process. A function stays where it is when it is replaced, because a merge
// may be using it without the lock.
class Aggregators {
 public:
  static Aggregators& OfProcess() {
    // Never deleted: merges may still run in background threads while the process ends.
    static auto* const all = new Aggregators();
    return *all;
  }
  void Add(const std::string& name, std::unique_ptr<Aggregator> function) {
    assert(function != nullptr);
    MutexLock lock(&mutex_);
    std::unique_ptr<Aggregator>& present = by_name_[name];
    // Moved to the list and not freed: Find() has given the pointer to merges that run without the
    // lock.
    if (present != nullptr) replaced_.push_back(std::move(present));
    present = std::move(function);
  }
  // The function of this name; null if there is none.
  const Aggregator* Find(const Slice& name) const {
    // Found under the lock, used without it: a function that was registered once stays valid for
    // ever.
    MutexLock lock(&mutex_);
    const auto found = by_name_.find(name.ToString());
    return found == by_name_.end() ? nullptr : found->second.get();
  }

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  std::map<std::string, std::unique_ptr<Aggregator>> by_name_ GUARDED_BY(mutex_);
  // Functions that were replaced. They live as long as the process, since a merge that began before
  // may still use one.
  std::vector<std::unique_ptr<Aggregator>> replaced_ GUARDED_BY(mutex_);
};

void Encode(const Slice& function, const Slice& payload, std::string* operand) {
  assert(operand != nullptr);
  operand->clear();
  PutLengthPrefixedSlice(operand, function);
  operand->append(payload.data(), payload.size());
}

// Combines operands, oldest first, as long as all can be combined.
class Combination {
 public:
  enum class Step : bool { kFinal, kPartial };

  explicit Combination(Step step) : step_(step) {}

  // False if the operand is malformed or those before it cannot be combined.
  bool Add(const Slice& operand) {
    Slice function, payload;
    if (!ExtractAggFuncAndValue(operand, function, payload)) return false;
    // Operands of another function follow. Those so far are combined first; their result is the
    // first payload for the next function.
    if (has_name_ && function != function_) {
      // A partial merge cannot do this: the older operands are not all there.
      if (step_ == Step::kPartial || !Combine()) return false;
    }
    // A first operand without a name leaves the name open, so that a later operand can still give
    // it.
    function_ = function;
    has_name_ |= function != Slice(kUnnamedFuncName);
    payloads_.push_back(payload);
    return true;
  }
  // Sets `*operand` to the result. False if the operands cannot be combined.
  bool Finish(std::string* operand) {
    assert(operand != nullptr);
    if (!Combine()) return false;
    assert(payloads_.size() == 1);
    Encode(function_, payloads_.front(), operand);
    return true;
  }

 private:
  // Replaces the payloads by their combination.
  // Needs at least one payload. The result becomes the only payload, so that the next function
  // starts from it.
  bool Combine() {
    const Aggregator* const function = Aggregators::OfProcess().Find(function_);
    if (function == nullptr) return false;
    if (step_ == Step::kPartial && !function->DoPartialAggregate()) return false;
    std::string result;
    if (!function->Aggregate(payloads_, result)) return false;
    // The string must stay where it is, because the payload refers to it.
    results_.push_back(std::move(result));
    payloads_.assign(1, Slice(results_.back()));
    return true;
  }

  const Step step_;
  Slice function_;
  bool has_name_ = false;            // false: all operands so far take the name of the next one
  std::vector<Slice> payloads_;      // point into the operands and into results_
  std::deque<std::string> results_;  // a deque, so that strings stay where they are
};

class AggMergeOperator final : public MergeOperator {
 public:
  const char* Name() const override { return "AggMergeOperator.v1"; }

  // Never fails, because a merge that fails makes the key unreadable.
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    assert(out != nullptr);
    if (MergeAll(in, &out->new_value)) return true;
    // The operands are kept as a list under a name that no function has. A program can take the
    // list apart with ExtractList(), so nothing is lost.
    std::string list;
    if (in.existing_value != nullptr) PutLengthPrefixedSlice(&list, *in.existing_value);
    for (const Slice& operand : in.operand_list) PutLengthPrefixedSlice(&list, operand);
    Encode(kErrorFuncName, list, &out->new_value);
    return true;
  }

  // False leaves the operands as they are; a later full merge combines them.
  bool PartialMergeMulti(const Slice&, const std::deque<Slice>& operands, std::string* new_value,
                         Logger*) const override {
    assert(new_value != nullptr);
    Combination combination(Combination::Step::kPartial);
    for (const Slice& operand : operands) {
      if (!combination.Add(operand)) return false;
    }
    return combination.Finish(new_value);
  }

  // A single operand is combined too, so that a value always has the form of the function's result.
  bool AllowSingleOperand() const override { return true; }

 private:
  // The existing value comes first, then the operands from the oldest to the newest. False if one
  // of them cannot be parsed.
  static bool MergeAll(const MergeOperationInput& in, std::string* merged) {
    assert(merged != nullptr);
    Combination combination(Combination::Step::kFinal);
    if (in.existing_value != nullptr && !combination.Add(*in.existing_value)) return false;
    for (const Slice& operand : in.operand_list) {
      if (!combination.Add(operand)) return false;
    }
    return combination.Finish(merged);
  }
};

}  // namespace

Status AddAggregator(const std::string& function_name, std::unique_ptr<Aggregator>&& agg) {
  if (agg == nullptr) return Status::InvalidArgument("AddAggregator: the function is null");
  Aggregators::OfProcess().Add(function_name, std::move(agg));
  return Status::OK();
}

std::shared_ptr<MergeOperator> GetAggMergeOperator() {
  static const auto* const only =
      new std::shared_ptr<MergeOperator>(std::make_shared<AggMergeOperator>());
  return *only;
}

// The name of a function that does not exist would only be noticed when the operand is merged, so
// it is refused here.
Status EncodeAggFuncAndPayload(const Slice& function_name, const Slice& payload,
                               std::string& output) {
  const bool is_known = function_name == Slice(kUnnamedFuncName) ||
                        Aggregators::OfProcess().Find(function_name) != nullptr;
  if (!is_known) {
    return Status::InvalidArgument("EncodeAggFuncAndPayload: the function is not registered",
                                   function_name);
  }
  Encode(function_name, payload, &output);
  return Status::OK();
}

bool ExtractAggFuncAndValue(const Slice& op, Slice& func, Slice& value) {
  // The name is taken off the front, and what is left is the payload.
  value = op;
  return GetLengthPrefixedSlice(&value, &func);
}

// The inverse of EncodeList(). False for bytes that are no list; decoded_list then has the elements
// before the damage.
bool ExtractList(const Slice& encoded_list, std::vector<Slice>& decoded_list) {
  decoded_list.clear();
  // The elements refer to the bytes of the list, which must outlive them.
  Slice rest = encoded_list;
  while (!rest.empty()) {
    Slice element;
    if (!GetLengthPrefixedSlice(&rest, &element)) return false;
    decoded_list.push_back(element);
  }
  return true;
}

}  // namespace ashlar
