// SPDX-License-Identifier: Apache-2.0
//
// Every public call together with every other one, by eight threads on one database, and all of
// them in any order. This shows that no thread waits forever, that no call fails without a reason,
// that every read finds the keys that no call changes, and, in builds with the thread sanitizer,
// that there is no data race.
//
//   stress_test --seconds=600     runs pairs repeatedly for that time, with other seeds each time
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "tests/stress/api_calls.h"
#include "tests/support/paths.h"
#include "tests/support/suite.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

SuiteArguments arguments;
constexpr int kThreads = 8;

class Stress : public testing::Test {
 protected:
  void SetUp() override {
    path_ = FreshTempDir("stress") + "/db";
    std::vector<ColumnFamilyDescriptor> families;
    families.emplace_back(kDefaultColumnFamilyName, ApiOptions());
    families.emplace_back("two", ApiOptions(/*has_blob_files=*/false));
    const Status opened = DB::Open(ApiOptions(), path_, families, &families_, &db_);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    for (ColumnFamilyHandle* family : families_) {
      for (int i = 0; i < kAnchors; i++) {
        ASSERT_TRUE(db_->Put(WriteOptions(), family, AnchorKey(i), AnchorValue(i)).ok());
      }
    }
    for (int i = 0; i < kThreads; i++) {
      callers_.push_back({.db = db_.get(),
                          .families = families_,
                          .beside = path_,
                          .thread = i,
                          .random = Random64(Seed() * 100 + static_cast<uint64_t>(i))});
    }
  }

  void TearDown() override {
    EndCases();
    if (db_ == nullptr) return;
    callers_.clear();
    for (ColumnFamilyHandle* family : families_) {
      EXPECT_TRUE(db_->DestroyColumnFamilyHandle(family).ok());
    }
    families_.clear();
    EXPECT_TRUE(db_->Close().ok());
    db_.reset();
    ExpectAnchorsAfterReopening();
  }

  // Families that calls have created and not dropped would make this fail, too.
  void ExpectAnchorsAfterReopening() {
    std::vector<ColumnFamilyDescriptor> descriptors;
    descriptors.emplace_back(kDefaultColumnFamilyName, ApiOptions());
    descriptors.emplace_back("two", ApiOptions(/*has_blob_files=*/false));
    std::vector<ColumnFamilyHandle*> families;
    std::unique_ptr<DB> db;
    const Status opened = DB::Open(ApiOptions(), path_, descriptors, &families, &db);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    for (ColumnFamilyHandle* family : families) {
      for (int i = 0; i < kAnchors; i++) {
        std::string value;
        const Status status = db->Get(ReadOptions(), family, AnchorKey(i), &value);
        ExpectAnchor(i, status, value, "Get after reopening");
      }
      EXPECT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
    }
    EXPECT_TRUE(db->Close().ok());
  }

  static uint64_t Seed() { return arguments.has_seed ? arguments.seed : 1; }

  // Each thread makes its call this many times; all begin together.
  template <typename Choose>
  void RunTogether(int rounds, Choose choose) {
    std::atomic<int> waiting{kThreads};
    std::vector<std::thread> threads;
    for (ApiCaller& caller : callers_) {
      threads.emplace_back([&] {
        waiting--;
        while (waiting > 0) std::this_thread::yield();
        for (int i = 0; i < rounds; i++) choose(&caller).run(&caller);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  void RunPair(const ApiCall& one, const ApiCall& other, int rounds) {
    BeginCase(StrCat(one.name, " with ", other.name), 120);
    RunTogether(rounds,
                [&](const ApiCaller* caller) { return caller->thread % 2 == 0 ? one : other; });
  }

  std::string path_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> families_;
  std::vector<ApiCaller> callers_;
};

}  // namespace

// Without --seconds each pair runs once; if the suites are scaled down, only every n-th pair.
TEST_F(Stress, EveryPairOfCallsCanRunTogether) {
  const std::vector<ApiCall> calls = AllApiCalls();
  const double end = SuiteClock() + arguments.seconds;
  const auto every = static_cast<size_t>(std::max(1.0, 1 / SuiteScale()));
  size_t pairs = 0, count = 0;
  do {
    for (size_t i = 0; i < calls.size(); i++) {
      for (size_t j = 0; j <= i; j++) {
        if (arguments.seconds == 0 && count++ % every != 0) continue;
        RunPair(calls[i], calls[j], /*rounds=*/1);
        pairs++;
        if (HasFailure()) FAIL() << calls[i].name << " with " << calls[j].name;
      }
    }
  } while (arguments.seconds > 0 && SuiteClock() < end);
  std::printf("stress: %zu calls, %zu pairs by %d threads\n", calls.size(), pairs, kThreads);
}

TEST_F(Stress, AllCallsCanRunInAnyOrder) {
  const std::vector<ApiCall> calls = AllApiCalls();
  const double end = SuiteClock() + arguments.seconds;
  const int rounds = static_cast<int>(400 * SuiteScale());
  do {
    BeginCase("all calls in any order", 600);
    RunTogether(rounds,
                [&](ApiCaller* caller) { return calls[caller->random.Uniform(calls.size())]; });
  } while (arguments.seconds > 0 && SuiteClock() < end);
}

}  // namespace ashlar

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ashlar::arguments = ashlar::ParseSuiteArguments(argc, argv, 0);
  return RUN_ALL_TESTS();
}
