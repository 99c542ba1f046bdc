// SPDX-License-Identifier: Apache-2.0
//
// FilterView over filters that RocksDB built, over filters of unknown kinds, and over random bytes.
#include "table/filter/filter_view.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "tests/support/json.h"
#include "tests/support/paths.h"
#include "util/random.h"

namespace ashlar {
namespace {

std::string KeyOf(uint64_t i) {
  char key[24];
  std::snprintf(key, sizeof(key), "key%06llu", static_cast<unsigned long long>(i));
  return key;
}

TEST(FilterView, HasNoFalseNegativeAndFewFalsePositives) {
  const Json vectors = Json::ParseFile(SourcePath("tests/data/vectors/filters.json"));
  for (const Json& vector : vectors["vectors"].elements()) {
    const std::string bytes = FromHex(vector["hex"].text());
    const FilterView view{Slice(bytes)};
    const uint64_t count = vector["n"].number();
    for (uint64_t i = 0; i < count; ++i) {
      ASSERT_TRUE(view.MayContain(Slice(KeyOf(i)))) << vector["kind"].text() << " " << count;
    }
    if (count < 100) continue;
    ASSERT_TRUE(view.CanReject());
    int found = 0;
    for (uint64_t i = 0; i < 10000; ++i) found += view.MayContain(Slice(KeyOf(500000 + i)));
    const double bits_per_key = std::stod(vector["bits_per_key"].text());
    EXPECT_LT(found, 10000 * (3 * std::pow(0.62, bits_per_key) + 0.002))
        << vector["kind"].text() << " " << bits_per_key;
  }
}

TEST(FilterView, WithoutBitsIsAlwaysTrueOrAlwaysFalse) {
  EXPECT_TRUE(FilterView(Slice()).MayContain("k"));
  for (size_t n = 1; n <= 5; ++n) {
    EXPECT_FALSE(FilterView(Slice(std::string(n, '\1'))).MayContain("k"));
  }
  const std::string failed_construction(6, '\0');
  EXPECT_TRUE(FilterView(Slice(failed_construction)).MayContain("k"));
}

TEST(FilterView, WhatItDoesNotUnderstandMayContainEverything) {
  const std::string lines(64, '\0');
  const char* const kMetadata[] = {
      "\x80\0\0\0\0",   "\xfd\0\0\0\0",                  // reserved markers
      "\xff\1\6\0\0",                                    // another sub-implementation
      "\xff\0\0\0\0",   "\xff\0\x1f\0\0",                // 0 or 31 probes
      "\xff\0\x26\0\0",                                  // 128-byte lines
      "\xff\0\6\1\0",   "\xff\0\6\0\1",                  // reserved bytes
      "\6\0\0\0\0",     "\6\3\0\0\0",     "\6\1\1\0\0",  // legacy: lines that do not divide
      "\xfe\0\1\0\0",                                    // ribbon of one block
  };
  for (const char* metadata : kMetadata) {
    const std::string bytes = lines + std::string(metadata, 5);
    const FilterView view{Slice(bytes)};
    EXPECT_FALSE(view.CanReject());
    EXPECT_TRUE(view.MayContain("k"));
  }
  // With valid metadata the same bits reject the key.
  EXPECT_FALSE(FilterView(Slice(lines + std::string("\xff\0\6\0\0", 5))).MayContain("k"));
  EXPECT_FALSE(FilterView(Slice(lines + std::string("\6\1\0\0\0", 5))).MayContain("k"));
  const std::string odd = std::string(63, '\0') + std::string("\xff\0\6\0\0", 5);
  EXPECT_TRUE(FilterView(Slice(odd)).MayContain("k"));
}

TEST(FilterView, ReadsNothingOutsideAnyBytes) {
  Random64 random(7);
  for (int round = 0; round < 20000; ++round) {
    const size_t n = random.Uniform(300);
    const std::unique_ptr<char[]> bytes(new char[n + 1]);  // exact, for the sanitizers
    for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<char>(random.Next());
    if (n >= 5) {
      static const char kMarkers[] = {1, 6, 30, -1, -2};
      bytes[n - 5] = kMarkers[random.Uniform(5)];
      if (random.OneIn(2)) bytes[n - 4] = 0;
      if (random.OneIn(2)) bytes[n - 3] = static_cast<char>(random.Uniform(32));
      if (random.OneIn(2)) bytes[n - 2] = bytes[n - 1] = 0;
    }
    const FilterView view(Slice(bytes.get(), n));
    for (uint64_t key = 0; key < 8; ++key) {
      view.MayContain(Slice(KeyOf(random.Next())));
      view.Prefetch(random.Next());
    }
  }
}

}  // namespace
}  // namespace ashlar
