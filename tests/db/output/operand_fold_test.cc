// SPDX-License-Identifier: Apache-2.0
//
// How long the result of a fold lives. What comes out of folds is tested with the streams that use
// them: entry_filter_test.cc and tests/db/merge.
#include "db/output/operand_fold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <variant>

#include "db/options/stock_merge_operators.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// The result is the base itself.
class KeepsTheBase final : public MergeOperator {
 public:
  const char* Name() const override { return "KeepsTheBase"; }
  bool FullMergeV3(const MergeOperationInputV3& in, MergeOperationOutputV3* out) const override {
    out->new_value = std::get<Slice>(in.existing_value);
    return true;
  }
};

TEST(OperandFold, AResultThatIsTheBaseOutlivesTheMemoryOfTheBase) {
  std::unique_ptr<MergeOperator> operators[] = {NewStockMergeOperator("max"),
                                                std::make_unique<KeepsTheBase>()};
  for (const auto& merge_operator : operators) {
    OperandFold fold({.merge_operator = merge_operator.get()},
                     OperandFold::OnFailure::kAsOperatorSays);
    fold.Begin(MakeInternalKey("k", 7, kTypeMerge), "a", ValuePin());
    std::string base(100, 'z');
    bool took_base = false;
    ASSERT_OK(fold.Finish(OperandFold::Below::kValue, base, /*drops_seqno=*/false, &took_base));
    EXPECT_TRUE(took_base);
    std::fill(base.begin(), base.end(), '#');  // the runs have moved on
    EXPECT_EQ(fold.value(), std::string(100, 'z')) << merge_operator->Name();
  }
}

}  // namespace
}  // namespace ashlar
