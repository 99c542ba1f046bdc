// SPDX-License-Identifier: Apache-2.0
//
// The ids of sessions, from which the keys of blocks in a cache are made, with an Env of the
// program that repeats itself.
#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/env_wrapper.h"
#include "ashlar/table.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class RepeatingEnv final : public EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;
  std::string GenerateUniqueId() override { return "always the same"; }
};

class SessionIdsTest : public DbTest {
 protected:
  SessionIdsTest() : repeating_(options_.env) {
    BlockBasedTableOptions table;
    table.block_cache = NewLRUCache(1 << 20);
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    options_.env = &repeating_;
  }
  std::unique_ptr<DB> OpenAt(const std::string& dir) {
    std::unique_ptr<DB> db;
    EXPECT_OK(DB::Open(options_, dir, &db));
    return db;
  }

  RepeatingEnv repeating_;
};

TEST_F(SessionIdsTest, DatabasesThatShareACacheReadTheirOwnBlocks) {
  const std::unique_ptr<DB> databases[] = {OpenAt("/first"), OpenAt("/second")};
  std::string sessions[2];
  for (int i = 0; i < 2; i++) {
    ASSERT_NE(databases[i], nullptr);
    ASSERT_OK(databases[i]->GetDbSessionId(sessions[i]));
    ASSERT_OK(databases[i]->Put(WriteOptions(), "key", "value " + std::to_string(i)));
    ASSERT_OK(databases[i]->Flush(FlushOptions()));
  }
  EXPECT_NE(sessions[0], sessions[1]);
  for (int i = 0; i < 2; i++) {
    std::string value;
    ASSERT_OK(databases[i]->Get(ReadOptions(), "key", &value));
    EXPECT_EQ(value, "value " + std::to_string(i));
  }
}

}  // namespace
}  // namespace ashlar
