// SPDX-License-Identifier: Apache-2.0
//
// Buckets of keys as RocksDB 7.8.3 chose them, in tables so full that keys move and that more hash
// functions are needed.
#include "table/plain/cuckoo_placement.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr uint32_t kFree = CuckooPlacement::kFree;

TEST(CuckooPlacement, AFullTableGetsMoreHashFunctions) {
  CuckooTableOptions options;
  options.max_search_depth = 1;
  options.cuckoo_block_size = 1;
  const std::string keys = "00000000010000200003";
  const CuckooPlacement placed = PlaceInCuckooTable(keys, 5, 4, 5, options).Take();
  EXPECT_EQ(placed.buckets, (std::vector<uint32_t>{1, kFree, 3, 2, 0}));
  EXPECT_EQ(placed.hash_count, 3u);
}

TEST(CuckooPlacement, KeysMoveAlongTheShortestRow) {
  CuckooTableOptions options;
  options.max_search_depth = 2;
  options.cuckoo_block_size = 1;
  options.identity_as_first_hash = true;
  const std::string keys =
      "brodpnbnhboqhcpprqghm"
      "hdaabnpechakikbnfcjsk"
      "oqcincsgshcglslprdadq"
      "pclscnsefidcpckcdfbij"
      "polaisqrimeigslkpdeii";
  const CuckooPlacement placed = PlaceInCuckooTable(keys, 21, 5, 5, options).Take();
  EXPECT_EQ(placed.buckets, (std::vector<uint32_t>{2, 1, 3, 0, 4}));
}

// No key may move. RocksDB gives up at the same table.
TEST(CuckooPlacement, TooManyCollisionsAreAnError) {
  CuckooTableOptions options;
  options.max_search_depth = 0;
  options.cuckoo_block_size = 1;
  options.use_module_hash = false;
  std::string keys;
  for (int i = 0; i < 64; i++) {
    const std::string digits = std::to_string(i);
    keys += std::string(17 - digits.size(), '0') + digits;
  }
  const Status status = PlaceInCuckooTable(keys, 17, 64, 64, options).status();
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  options.max_search_depth = 100;
  EXPECT_OK(PlaceInCuckooTable(keys, 17, 64, 64, options).status());
}

}  // namespace
}  // namespace ashlar
