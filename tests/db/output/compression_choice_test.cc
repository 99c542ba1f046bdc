// SPDX-License-Identifier: Apache-2.0
//
// Which compression a file of a level gets.
#include <gtest/gtest.h>

#include "db/output/table_output.h"

namespace ashlar {
namespace {

TEST(CompressionChoice, IsTheFamilysWithoutAnyOther) {
  ColumnFamilyOptions options;
  options.compression = kZSTD;
  for (Level level = 0; level < 7; ++level) {
    EXPECT_EQ(CompressionFor(options, level, 1, true), kZSTD);
  }
}

TEST(CompressionChoice, GoesByLevelAndItsLastEntryHoldsBelow) {
  ColumnFamilyOptions options;
  options.compression_per_level = {kNoCompression, kLZ4Compression, kZSTD};
  EXPECT_EQ(CompressionFor(options, 0, 1, false), kNoCompression);
  EXPECT_EQ(CompressionFor(options, 1, 1, false), kLZ4Compression);
  EXPECT_EQ(CompressionFor(options, 2, 1, false), kZSTD);
  EXPECT_EQ(CompressionFor(options, 6, 1, false), kZSTD);
}

TEST(CompressionChoice, CountsFromTheBaseLevel) {
  ColumnFamilyOptions options;
  options.compression_per_level = {kNoCompression, kLZ4Compression, kZSTD};
  EXPECT_EQ(CompressionFor(options, 0, 5, false), kNoCompression);
  EXPECT_EQ(CompressionFor(options, 5, 5, false), kLZ4Compression);
  EXPECT_EQ(CompressionFor(options, 6, 5, false), kZSTD);
  EXPECT_EQ(CompressionFor(options, 3, 5, false), kLZ4Compression) << "it is being emptied";
}

TEST(CompressionChoice, TheLastLevelMayHaveItsOwn) {
  ColumnFamilyOptions options;
  options.compression_per_level = {kNoCompression, kLZ4Compression};
  options.bottommost_compression = kZSTD;
  EXPECT_EQ(CompressionFor(options, 6, 6, true), kZSTD);
  EXPECT_EQ(CompressionFor(options, 6, 6, false), kLZ4Compression);
  options.bottommost_compression = kDisableCompressionOption;
  EXPECT_EQ(CompressionFor(options, 6, 6, true), kLZ4Compression);
}

TEST(CompressionChoice, HelpersCompressWhatTakesLong) {
  CompressionOptions options;
  EXPECT_EQ(CompressionThreads(options, kZSTD, true), 2u);
  EXPECT_EQ(CompressionThreads(options, kZSTD, false), 1u);
  EXPECT_EQ(CompressionThreads(options, kLZ4Compression, true), 1u);
  EXPECT_EQ(CompressionThreads(options, kNoCompression, true), 1u);
  options.parallel_threads = 4;
  EXPECT_EQ(CompressionThreads(options, kZSTD, true), 4u);
  EXPECT_EQ(CompressionThreads(options, kLZ4Compression, false), 4u);
}

}  // namespace
}  // namespace ashlar
