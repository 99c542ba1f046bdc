// SPDX-License-Identifier: Apache-2.0
//
// When a table is obsolete: LiveVersions against a model that keeps every version's tables.
#include "db/version/live_versions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace ashlar {
namespace {

class LiveVersionsTest : public testing::Test {
 protected:
  ~LiveVersionsTest() override {
    for (TableFile* file : files_) delete file;
  }
  TableFile* NewFile() {
    FileMetadata meta;
    meta.number = FileNumber{files_.size() + 1};
    files_.push_back(new TableFile(meta));
    return files_.back();
  }
  void Add(uint64_t version, const std::vector<TableFile*>& added) {
    std::vector<std::unique_ptr<TableFile>> files;
    for (TableFile* file : added) files.emplace_back(file);
    live_.Add(version, LiveVersions::NewPlace(), files);
    for (auto& file : files) static_cast<void>(file.release());
  }

  std::vector<TableFile*> files_;
  LiveVersions live_;
};

}  // namespace

TEST_F(LiveVersionsTest, ATableGoesWithTheLastVersionThatHoldsIt) {
  TableFile* const file = NewFile();
  Add(1, {file});
  Add(2, {});
  live_.Retire({file});
  Add(3, {});
  EXPECT_TRUE(live_.Remove(2).empty()) << "version 1 holds it";
  EXPECT_EQ(live_.Remove(1), std::vector<TableFile*>{file});
  EXPECT_TRUE(live_.Remove(3).empty());
  EXPECT_TRUE(live_.empty());
}

// A long-lived reader of version 1 keeps nothing that came later.
TEST_F(LiveVersionsTest, AnOldVersionKeepsNoTableThatCameAfterIt) {
  TableFile* const file = NewFile();
  Add(1, {});
  Add(2, {file});
  live_.Retire({file});
  Add(3, {});
  EXPECT_EQ(live_.Remove(2), std::vector<TableFile*>{file});
}

TEST_F(LiveVersionsTest, SaysUnderWhichVersionATableIsNoted) {
  TableFile* const file = NewFile();
  Add(1, {file});
  Add(2, {});
  live_.Retire({file});
  Add(3, {});
  EXPECT_EQ(live_.DebugString(), "version 1:\nversion 2: #1\nversion 3:\n");
  EXPECT_TRUE(live_.Remove(2).empty());
  EXPECT_EQ(live_.DebugString(), "version 1: #1\nversion 3:\n");
}

TEST_F(LiveVersionsTest, AgreesWithCountingEveryHolder) {
  std::mt19937 random(1);
  std::map<uint64_t, std::set<TableFile*>> model;  // by live version
  const auto is_held = [&model](TableFile* file) {
    return std::any_of(model.begin(), model.end(),
                       [file](const auto& version) { return version.second.contains(file); });
  };
  Add(1, {});
  model[1] = {};
  for (uint64_t next = 2; next < 2000;) {
    const uint64_t newest = model.rbegin()->first;
    if (model.size() < 8 && random() % 2 == 0) {
      std::set<TableFile*> held = model[newest];
      std::vector<TableFile*> removed, added;
      for (TableFile* file : model[newest]) {
        if (random() % 3 == 0) removed.push_back(file);
      }
      for (TableFile* file : removed) held.erase(file);
      for (uint32_t i = random() % 3; i > 0; i--) added.push_back(NewFile());
      held.insert(added.begin(), added.end());
      live_.Retire(removed);
      Add(next, added);
      model[next++] = std::move(held);
    } else if (model.size() > 1) {
      auto victim = model.begin();
      std::advance(victim, random() % (model.size() - 1));  // never the newest
      const std::set<TableFile*> held = victim->second;
      const std::vector<TableFile*> gone = live_.Remove(victim->first);
      model.erase(victim);
      std::set<TableFile*> expected;
      for (TableFile* file : held) {
        if (!is_held(file)) expected.insert(file);
      }
      ASSERT_EQ(std::set<TableFile*>(gone.begin(), gone.end()), expected);
      ASSERT_EQ(gone.size(), expected.size());
    }
  }
}

}  // namespace ashlar
