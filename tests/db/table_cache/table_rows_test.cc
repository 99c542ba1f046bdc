// SPDX-License-Identifier: Apache-2.0
//
// The row cache of a family.
#include "db/table_cache/table_rows.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/cache.h"

namespace ashlar {
namespace {

TEST(TableRows, DebugStringNamesTheCacheAndItsUse) {
  const std::shared_ptr<Cache> cache = NewLRUCache(1 << 20);
  const TableRows rows(cache, /*statistics=*/nullptr);
  const std::string text = rows.DebugString();
  EXPECT_NE(text.find(cache->Name()), std::string::npos) << text;
  EXPECT_NE(text.find("of 1048576 bytes used by all"), std::string::npos) << text;
  EXPECT_NE(text, TableRows(cache, nullptr).DebugString()) << "each has rows of its own";
}

}  // namespace
}  // namespace ashlar
