// SPDX-License-Identifier: Apache-2.0
//
// The forecast of a slow-down from the peaks of the debt.
#include <gtest/gtest.h>

#include "ashlar/options.h"
#include "db/write/stall_forecast.h"
#include "db/write/write_stall.h"

namespace ashlar {
namespace {

constexpr uint64_t kSecond = 1'000'000;

TEST(StallForecast, SteadyGrowthIsExtended) {
  StallForecast forecast;
  for (uint64_t second = 0; second <= 20; second++) {
    forecast.Note(second * kSecond, 0.02 * static_cast<double>(second));
  }
  // 0.4 after 20 seconds, 0.02 a second: 30 more.
  const uint64_t seconds = forecast.SecondsUntilSlowdown(20 * kSecond, 0.4);
  EXPECT_GE(seconds, 25u);
  EXPECT_LE(seconds, 35u);
}

TEST(StallForecast, ASawtoothThatDoesNotClimbIsNoThreat) {
  StallForecast forecast;
  for (uint64_t second = 0; second <= 40; second++) {
    forecast.Note(second * kSecond, 0.2 * static_cast<double>(second % 4));
  }
  EXPECT_EQ(forecast.SecondsUntilSlowdown(40 * kSecond, 0.5), StallForecast::kNotInSight);
}

TEST(StallForecast, ASawtoothThatClimbsIs) {
  StallForecast forecast;
  for (uint64_t second = 0; second <= 40; second++) {
    forecast.Note(second * kSecond,
                  0.1 * static_cast<double>(second % 4) + 0.01 * static_cast<double>(second));
  }
  const uint64_t seconds = forecast.SecondsUntilSlowdown(40 * kSecond, 0.4);
  EXPECT_GE(seconds, 15u);
  EXPECT_LE(seconds, 50u);
}

TEST(StallForecast, SlowedDownIsNow) {
  const StallForecast forecast;
  EXPECT_EQ(forecast.SecondsUntilSlowdown(0, 1), 0u);
  EXPECT_EQ(forecast.SecondsUntilSlowdown(0, 2.5), 0u);
}

TEST(StallForecast, LittleKnowledgeIsNone) {
  StallForecast forecast;
  EXPECT_EQ(forecast.SecondsUntilSlowdown(0, 0.9), StallForecast::kNotInSight);
  forecast.Note(0, 0.1);
  forecast.Note(1 * kSecond, 0.9);
  EXPECT_EQ(forecast.SecondsUntilSlowdown(2 * kSecond, 0.9), StallForecast::kNotInSight);
}

TEST(StallForecast, WhatIsLongPastDoesNotCount) {
  StallForecast forecast;
  for (uint64_t second = 0; second <= 20; second++) {
    forecast.Note(second * kSecond, 0.04 * static_cast<double>(second));
  }
  EXPECT_EQ(forecast.SecondsUntilSlowdown(400 * kSecond, 0.8), StallForecast::kNotInSight);
}

TEST(StallForecast, AClockThatGoesBackIsBorne) {
  StallForecast forecast;
  for (uint64_t second = 0; second <= 20; second++) {
    forecast.Note((100 + second) * kSecond, 0.02 * static_cast<double>(second));
  }
  forecast.Note(5 * kSecond, 0.1);
  EXPECT_EQ(forecast.SecondsUntilSlowdown(5 * kSecond, 0.1), StallForecast::kNotInSight);
}

TEST(StallForecast, RemembersAsMuchAsItHasRoomFor) {
  StallForecast forecast;
  for (uint64_t second = 0; second <= 1000; second++) {
    forecast.Note(second * kSecond, 0.0005 * static_cast<double>(second));
  }
  const uint64_t seconds = forecast.SecondsUntilSlowdown(1000 * kSecond, 0.5);
  EXPECT_GE(seconds, 900u);
  EXPECT_LE(seconds, 1100u);
}

}  // namespace
}  // namespace ashlar
