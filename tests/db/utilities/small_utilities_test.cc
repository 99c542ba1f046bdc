// SPDX-License-Identifier: Apache-2.0
//
// Public ids of tables, the list of info logs, and objects of a program by text.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/merge_operator.h"
#include "ashlar/unique_id.h"
#include "ashlar/utilities/customizable_util.h"
#include "ashlar/utilities/info_log_finder.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class SmallUtilities : public DbTest {};

TEST_F(SmallUtilities, TablesHaveDifferentIds) {
  Open();
  Put("a", "1");
  Flush();
  Put("b", "2");
  Flush();
  TablePropertiesCollection tables;
  ASSERT_OK(db_->GetPropertiesOfAllTables(&tables));
  ASSERT_EQ(tables.size(), 2u);
  std::vector<std::string> ids;
  for (const auto& [name, properties] : tables) {
    std::string id, extended;
    ASSERT_OK(GetUniqueIdFromTableProperties(*properties, &id));
    ASSERT_OK(GetExtendedUniqueIdFromTableProperties(*properties, &extended));
    EXPECT_EQ(id.size(), 16u);
    EXPECT_EQ(extended.size(), 24u);
    EXPECT_EQ(extended.substr(0, 16), id);
    ids.push_back(id);
  }
  EXPECT_NE(ids[0], ids[1]);
  std::string id = "old";
  EXPECT_FALSE(GetUniqueIdFromTableProperties(TableProperties(), &id).ok());
  EXPECT_EQ(id, "");
}

TEST(UniqueIds, HumansReadThemInPartsOfSixteenDigits) {
  EXPECT_EQ(UniqueIdToHumanString(std::string("\x01\x23\x45\x67\x89\xab\xcd\xef", 8) +
                                  std::string(8, '\xff')),
            "0123456789ABCDEF-FFFFFFFFFFFFFFFF");
  EXPECT_EQ(UniqueIdToHumanString(""), "");
}

TEST(InfoLogs, AreListedWithTheOlderOnes) {
  const std::string dir = FreshTempDir("info_logs");
  for (const bool has_own_dir : {false, true}) {
    Options options;
    options.create_if_missing = true;
    const std::string path = dir + (has_own_dir ? "/a" : "/b");
    if (has_own_dir) options.db_log_dir = dir + "/logs";
    std::vector<std::string> names;
    for (int open = 0; open < 2; ++open) {
      std::unique_ptr<DB> db;
      ASSERT_OK(DB::Open(options, path, &db));
      ASSERT_OK(GetInfoLogList(db.get(), &names));
    }
    ASSERT_EQ(names.size(), 2u) << has_own_dir;
    EXPECT_NE(names[0].find("LOG"), std::string::npos);
    EXPECT_EQ(names[1].rfind(names[0] + ".old", 0), 0u) << names[1];
  }
  std::vector<std::string> names;
  EXPECT_TRUE(GetInfoLogList(nullptr, &names).IsInvalidArgument());
}

class Stone final : public MergeOperator {
 public:
  const char* Name() const override { return "Stone"; }
};

TEST(CustomizableUtil, LoadsObjectsOfTheProgram) {
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  std::shared_ptr<MergeOperator> shared;
  EXPECT_TRUE(LoadSharedObject(config, "Stone", &shared).IsNotSupported());
  config.registry->AddLibrary("l")->AddFactory<MergeOperator>(
      "Stone", [](const std::string&, std::unique_ptr<MergeOperator>* guard, std::string*) {
        guard->reset(new Stone);
        return guard->get();
      });
  ASSERT_OK(LoadSharedObject(config, "Stone", &shared));
  EXPECT_STREQ(shared->Name(), "Stone");
  EXPECT_TRUE(LoadSharedObject(config, "{id=Stone;size=1}", &shared).IsInvalidArgument());
  std::unique_ptr<MergeOperator> unique;
  ASSERT_OK(LoadUniqueObject(config, "{id=Stone}", &unique));
  ASSERT_NE(unique, nullptr);
  MergeOperator* fixed = nullptr;
  EXPECT_TRUE(LoadStaticObject(config, "Stone", &fixed).IsInvalidArgument());
  std::shared_ptr<MergeOperator> managed;
  ASSERT_OK(LoadManagedObject(config, "Stone", &managed));
  ASSERT_NE(managed, nullptr);
  ASSERT_OK(LoadSharedObject(config, "nullptr", &shared));
  EXPECT_EQ(shared, nullptr);
}

}  // namespace
}  // namespace ashlar
