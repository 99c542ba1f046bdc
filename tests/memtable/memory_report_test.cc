// SPDX-License-Identifier: Apache-2.0
//
// The memory that a memtable reports and takes back is balanced, however the memtable ends.
#include "memtable/memory_report.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace ashlar {
namespace {

constexpr size_t kStep = MemoryReport::kStepBytes;

TEST(MemoryReport, IsDueAfterAStepAndNeverWithoutAManager) {
  const auto manager = std::make_shared<WriteBufferManager>(1 << 20);
  MemoryReport report(manager);
  EXPECT_FALSE(report.IsDue(kStep - 1));
  ASSERT_TRUE(report.IsDue(kStep));
  report.Tell(kStep + 5);
  EXPECT_FALSE(report.IsDue(2 * kStep + 4));
  EXPECT_TRUE(report.IsDue(2 * kStep + 5));
  MemoryReport to_nobody(nullptr);
  EXPECT_FALSE(to_nobody.IsDue(size_t{1} << 40));
  to_nobody.Tell(1 << 20);
  to_nobody.Seal(1 << 20);
}

TEST(MemoryReport, GivesBackWhatWasToldSealedOrNot) {
  const auto manager = std::make_shared<WriteBufferManager>(1 << 20);
  std::optional<MemoryReport> sealed(manager), active(manager);
  sealed->Tell(100);
  sealed->Tell(60);  // an estimate that fell
  active->Tell(30);
  EXPECT_EQ(manager->memory_usage(), 130u);
  sealed->Seal(200);
  EXPECT_EQ(manager->memory_usage(), 230u);
  EXPECT_EQ(manager->mutable_memtable_memory_usage(), 30u);
  active.reset();
  EXPECT_EQ(manager->memory_usage(), 200u);
  EXPECT_EQ(manager->mutable_memtable_memory_usage(), 0u);
  sealed.reset();
  EXPECT_EQ(manager->memory_usage(), 0u);
}

TEST(MemoryReport, WhatIsKeptIsNotAboutToBeFreed) {
  const auto manager = std::make_shared<WriteBufferManager>(1 << 20);
  std::optional<MemoryReport> kept(manager), empty(manager);
  kept->Seal(100);
  kept->Seal(100);
  empty->Seal(0);
  EXPECT_EQ(manager->mutable_memtable_memory_usage(), 0u);
  EXPECT_TRUE(manager->IsFreeing());
  kept->Keep();
  kept->Keep();
  empty->Keep();
  EXPECT_FALSE(manager->IsFreeing());
  EXPECT_EQ(manager->memory_usage(), 100u);
  EXPECT_EQ(manager->mutable_memtable_memory_usage(), 0u);
  kept.reset();
  empty.reset();
  EXPECT_EQ(manager->memory_usage(), 0u);
  MemoryReport next(manager);
  next.Seal(10);
  EXPECT_TRUE(manager->IsFreeing());
}

}  // namespace
}  // namespace ashlar
