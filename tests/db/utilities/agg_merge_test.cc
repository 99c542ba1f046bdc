// SPDX-License-Identifier: Apache-2.0
//
// Operands that name their function. The expected bytes are those of RocksDB 7.8, except that it
// ignores a malformed operand behind another one, and all that follow it.
#include "ashlar/utilities/agg_merge.h"

#include <deque>

#include "tests/support/test_db.h"

namespace ashlar {
namespace {

// Adds or multiplies decimal numbers; fails if one is "bad".
class Arithmetic final : public Aggregator {
 public:
  Arithmetic(bool adds, bool is_partial) : adds_(adds), is_partial_(is_partial) {}
  bool Aggregate(const std::vector<Slice>& values, std::string& result) const override {
    int number = adds_ ? 0 : 1;
    for (const Slice& value : values) {
      if (value == "bad") return false;
      const int next = std::stoi(value.ToString());
      number = adds_ ? number + next : number * next;
    }
    result = std::to_string(number);
    return true;
  }
  bool DoPartialAggregate() const override { return is_partial_; }

 private:
  const bool adds_, is_partial_;
};

class AggMerge : public DbTest {
 protected:
  // Before the operands below are encoded.
  static void SetUpTestSuite() {
    EXPECT_OK(AddAggregator("sum", std::make_unique<Arithmetic>(true, true)));
    EXPECT_OK(AddAggregator("whole", std::make_unique<Arithmetic>(true, false)));
    EXPECT_OK(AddAggregator("mul", std::make_unique<Arithmetic>(false, true)));
  }
  AggMerge() {
    options_.merge_operator = GetAggMergeOperator();
    options_.disable_auto_compactions = true;
  }
  static std::string Of(const std::string& function, const std::string& payload) {
    std::string operand;
    EXPECT_OK(EncodeAggFuncAndPayload(function, payload, operand));
    return operand;
  }
  // The list that an error has as its payload.
  static std::string ErrorOf(const std::vector<std::string>& operands) {
    std::string value = std::string("\x0e") + "kErrorFuncName";
    for (const std::string& operand : operands) value += char(operand.size()) + operand;
    return value;
  }
  using Operands = std::vector<std::string>;
  static std::string Full(const Operands& operands, const std::string* base = nullptr) {
    const std::vector<Slice> list(operands.begin(), operands.end());
    Slice existing = base == nullptr ? Slice() : Slice(*base);
    std::string merged;
    Slice unused(nullptr, 0);
    const MergeOperator::MergeOperationInput in("k", base == nullptr ? nullptr : &existing, list,
                                                nullptr);
    MergeOperator::MergeOperationOutput out(merged, unused);
    EXPECT_TRUE(GetAggMergeOperator()->FullMergeV2(in, &out));
    return merged;
  }
  // "no" if the operands cannot be merged without the older ones.
  static std::string Partial(const Operands& operands) {
    const std::deque<Slice> list(operands.begin(), operands.end());
    std::string merged;
    return GetAggMergeOperator()->PartialMergeMulti("k", list, &merged, nullptr) ? merged : "no";
  }

  const std::string s1_ = Of("sum", "1"), s2_ = Of("sum", "2"), u3_ = Of("", "3"),
                    m4_ = Of("mul", "4"), m5_ = Of("mul", "5"), w6_ = Of("whole", "6"),
                    bad_ = Of("sum", "bad"),
                    malformed_ =
                        "\x7f"
                        "x";
};

TEST_F(AggMerge, CombinesByTheFunctionOfTheOperands) {
  EXPECT_EQ(s1_, "\x03sum1");
  EXPECT_EQ(Full({s1_}), s1_);
  EXPECT_EQ(Full({s1_, s2_}), "\x03sum3");
  EXPECT_EQ(Full({s1_}, &s2_), "\x03sum3");
  EXPECT_EQ(Full({u3_, s1_}), "\x03sum4");
  EXPECT_EQ(Full({w6_, w6_}), "\x05whole12");
  EXPECT_EQ(Full({s1_, s2_, m4_, s2_}), "\x03sum14");
  EXPECT_EQ(Full({u3_, m4_, s1_}), "\x03sum13");
}

TEST_F(AggMerge, KeepsWhatItCannotCombine) {
  for (const Operands& operands :
       {Operands{u3_}, Operands{s1_, u3_}, Operands{s1_, u3_, s2_}, Operands{s1_, bad_},
        Operands{bad_, m4_}, Operands{malformed_, s1_}, Operands{s1_, malformed_, s2_}}) {
    const std::string error = ErrorOf(operands);
    EXPECT_EQ(Full(operands), error);
    Slice function, list;
    ASSERT_TRUE(ExtractAggFuncAndValue(error, function, list));
    EXPECT_EQ(function, kErrorFuncName);
    std::vector<Slice> elements;
    ASSERT_TRUE(ExtractList(list, elements));
    ASSERT_EQ(elements.size(), operands.size());
    for (size_t i = 0; i < elements.size(); i++) EXPECT_EQ(elements[i], Slice(operands[i]));
  }
  EXPECT_EQ(Full({s1_}, &malformed_), ErrorOf({malformed_, s1_}));
  const std::string error = ErrorOf({bad_});
  EXPECT_EQ(Full({s1_}, &error), ErrorOf({error, s1_}));
}

TEST_F(AggMerge, MergesNeighboursIfTheirFunctionAllowsIt) {
  EXPECT_EQ(Partial({s1_, s2_}), "\x03sum3");
  EXPECT_EQ(Partial({u3_, s1_}), "\x03sum4");
  EXPECT_EQ(Partial({u3_, m4_, m5_}), "\x03mul60");
  for (const Operands& operands :
       {Operands{u3_}, Operands{s1_, u3_}, Operands{s1_, m4_}, Operands{w6_, w6_},
        Operands{s1_, bad_}, Operands{s1_, malformed_}, Operands{malformed_, s1_}}) {
    EXPECT_EQ(Partial(operands), "no");
  }
}

TEST_F(AggMerge, RefusesNamesThatAreNotRegistered) {
  std::string operand;
  EXPECT_TRUE(EncodeAggFuncAndPayload("none", "1", operand).IsInvalidArgument());
  EXPECT_TRUE(AddAggregator("none", nullptr).IsInvalidArgument());
  Slice function, payload;
  EXPECT_FALSE(ExtractAggFuncAndValue("", function, payload));
  EXPECT_FALSE(ExtractAggFuncAndValue(malformed_, function, payload));
  std::vector<Slice> list;
  EXPECT_FALSE(ExtractList(malformed_, list));
  EXPECT_TRUE(ExtractList("", list));
}

TEST_F(AggMerge, MergesInADatabase) {
  Open();
  Put("a", s1_);
  Merge("a", s2_);
  Flush();
  Merge("a", m4_);
  Merge("b", u3_);
  Flush();
  Merge("b", s1_);
  EXPECT_EQ(Get("a"), "\x03mul12");
  EXPECT_EQ(Get("b"), "\x03sum4");
  Compact();
  EXPECT_EQ(Scan(), "a=\x03mul12 b=\x03sum4");
}

}  // namespace
}  // namespace ashlar
