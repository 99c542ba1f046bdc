// SPDX-License-Identifier: Apache-2.0
//
// The primary crashes at each of its file calls. A secondary of the files that are left shows what
// the primary recovers from them, before and after it does.
#include <iterator>

#include "tests/db/following/secondary_db.h"
#include "tests/support/test_db.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

const std::vector<std::string> kCrashFamilies = {"default", "one"};

class FollowedCrashTest : public DbTest {
 protected:
  FollowedCrashTest() : DbTest(TestFiles::kSim) { options_.disable_auto_compactions = true; }

  void WriteHistory() {
    Random64 random(7);
    for (int i = 0; i < 60; i++) {
      ColumnFamilyHandle* const family = handles_[random.Uniform(handles_.size())];
      const WriteOptions write = random.OneIn(3) ? Synced() : WriteOptions();
      ASSERT_OK(db_->Put(write, family, StrCat("k", random.Uniform(20)), StrCat("value ", i)));
      if (random.OneIn(8)) Flush(family);
      if (random.OneIn(20)) Compact(family);
    }
  }
};

TEST_F(FollowedCrashTest, ASecondaryShowsWhatThePrimaryRecovers) {
  Open(kCrashFamilies);
  const uint64_t begin = sim_->CallCount();
  WriteHistory();
  const uint64_t end = sim_->CallCount();
  ASSERT_GT(end, begin + 100);
  int followed = 0;
  for (uint64_t call = begin; call <= end; call++) {
    const CrashPolicy policy = kAllCrashPolicies[call % std::size(kAllCrashPolicies)];
    const auto image = sim_->CrashImage(call, policy, call);
    TestDb primary(image, options_);
    SecondaryDb secondary;
    const Status opened = secondary.TryOpen(primary.options(), "/db", kCrashFamilies);
    const std::string what = StrCat("call ", call, ", ", NameOf(policy));
    Contents before;
    if (opened.ok()) before = secondary.ReadAll();
    primary.Open(kCrashFamilies);
    ASSERT_NE(primary.db(), nullptr) << what;
    const Contents recovered = primary.ReadAll();
    ASSERT_OK(opened) << what;
    ASSERT_EQ(before, recovered) << what;
    secondary.CatchUp();
    ASSERT_EQ(secondary.ReadAll(), recovered) << what;
    followed++;
  }
  EXPECT_GT(followed, 100);
}

}  // namespace
}  // namespace ashlar
