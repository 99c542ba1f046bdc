// SPDX-License-Identifier: Apache-2.0
//
// allow_data_in_errors: whether errors show keys. It holds for the whole process, so each case has
// a process of its own.
#include "util/text/data_in_errors.h"

#include <cstdio>
#include <cstdlib>

#include "ashlar/merge_operator.h"
#include "tests/support/test_db.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

class RefusesAll : public AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice*, const Slice&, std::string*, Logger*) const override {
    return false;
  }
  const char* Name() const override { return "RefusesAll"; }
};

// Prints the error of a merge that is refused.
[[noreturn]] void FailToMerge(bool allows) {
  TestDb test;
  test.options().merge_operator = std::make_shared<RefusesAll>();
  test.options().allow_data_in_errors = allows;
  std::string value;
  Status status = test.TryOpen();
  if (status.ok()) status = test.db()->Merge(WriteOptions(), "secret", "operand");
  if (status.ok()) status = test.db()->Get(ReadOptions(), "secret", &value);
  std::fputs(status.ToString().c_str(), stderr);
  std::_Exit(status.IsCorruption() ? 0 : 1);
}

using ::testing::ExitedWithCode;

TEST(DataInErrorsDeathTest, KeysAreShownOnlyWhereTheProgramSaysSo) {
  EXPECT_EXIT(FailToMerge(false), ExitedWithCode(0), "operands of key \\(6 bytes\\)");
  EXPECT_EXIT(FailToMerge(true), ExitedWithCode(0), "operands of key 736563726574");
}

[[noreturn]] void PrintInternalKeys(bool allows) {
  if (allows) AllowDataInErrors();
  const std::string text =
      InternalKeyInError(MakeInternalKey("ab", 17, kTypeValue)) + "; " + InternalKeyInError("abc");
  std::fputs(text.c_str(), stderr);
  std::_Exit(0);
}

TEST(DataInErrorsDeathTest, NumberAndKindOfAnInternalKeyAreAlwaysShown) {
  EXPECT_EXIT(PrintInternalKeys(false), ExitedWithCode(0),
              "^\\(2 bytes\\) seq:17, type:1; \\(too short for an internal key\\)\\(3 bytes\\)$");
  EXPECT_EXIT(PrintInternalKeys(true), ExitedWithCode(0),
              "^'6162' seq:17, type:1; \\(too short for an internal key\\)'616263'$");
}

}  // namespace
}  // namespace ashlar
