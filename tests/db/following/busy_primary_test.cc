// SPDX-License-Identifier: Apache-2.0
//
// Secondaries beside a primary that writes, switches memtables, flushes, compacts and deletes in
// threads of its own. Write number i puts i under "n" and under one of many keys, in two families
// by one batch. So a state says which prefix of the writes it must be, down to each row.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/db/following/secondary_db.h"
#include "tests/support/mappable_dir.h"
#include "tests/support/skip.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kKeys = 50;
const std::vector<std::string> kBusyFamilies = {"default", "other"};

struct Case {
  const char* name;
  void (*set)(Options*);
};

const Case kCases[] = {
    {"Plain", [](Options*) {}},
    {"Recycled", [](Options* options) { options->recycle_log_file_num = 3; }},
    {"Compressed", [](Options* options) { options->wal_compression = kZSTD; }},
    {"NewManifests", [](Options* options) { options->max_manifest_file_size = 1; }},
    {"BlobFiles",
     [](Options* options) {
       options->enable_blob_files = true;
       options->enable_blob_garbage_collection = true;
       options->blob_garbage_collection_age_cutoff = 1;
     }},
};

std::string NameOfCase(const testing::TestParamInfo<Case>& info) { return info.param.name; }

std::string KeyOf(int i) { return StrCat("k", 10 + i % kKeys); }

// The rows after so many writes.
Rows RowsAfter(int writes) {
  Rows rows;
  if (writes == 0) return rows;
  rows["n"] = StrCat(writes);
  for (int i = std::max(1, writes - kKeys + 1); i <= writes; i++) rows[KeyOf(i)] = StrCat(i);
  return rows;
}

class BusyPrimaryTest : public testing::TestWithParam<Case> {
 protected:
  void Run(TestDb* primary) {
    Options& options = primary->options();
    options.write_buffer_size = 16 << 10;
    options.arena_block_size = 4096;
    options.level0_file_num_compaction_trigger = 2;
    GetParam().set(&options);
    primary->Open(kBusyFamilies);
    SecondaryDb by_hand, by_itself;
    by_hand.Open(options, primary->dir(), kBusyFamilies, primary->dir() + ".secondary");
    options.follower_refresh_catchup_period_ms = 1;
    ASSERT_OK(
        by_itself.TryFollow(options, primary->dir(), kBusyFamilies, primary->dir() + ".follower"));

    std::atomic<bool> is_over{false};
    std::thread writer([&] {
      for (int i = 1; i <= kWrites; i++) {
        WriteBatch batch;
        for (ColumnFamilyHandle* family : primary->handles()) {
          EXPECT_OK(batch.Put(family, "n", StrCat(i)));
          EXPECT_OK(batch.Put(family, KeyOf(i), StrCat(i)));
        }
        primary->Write(&batch);
      }
      is_over = true;
    });
    std::thread upkeep([&] {
      for (size_t i = 0; !is_over; i++) {
        ColumnFamilyHandle* const family = primary->handles()[i % 2];
        i % 3 == 0 ? primary->Compact(family) : primary->Flush(family);
      }
    });
    std::thread reader([&] {
      int seen = 0;
      while (!is_over && !testing::Test::HasFailure()) CheckState(&by_itself, &seen);
    });
    int seen = 0;
    while (!is_over && !testing::Test::HasFailure()) {
      const Status status = by_hand->TryCatchUpWithPrimary();
      EXPECT_TRUE(status.ok() || status.IsTryAgain()) << status.ToString();
      CheckState(&by_hand, &seen);
    }
    writer.join();
    upkeep.join();
    reader.join();
    for (SecondaryDb* secondary : {&by_hand, &by_itself}) {
      secondary->CatchUp();
      CheckState(secondary, &seen);
      EXPECT_EQ(seen, kWrites);
    }
    by_hand.Close();
    by_itself.Close();
    primary->Close();
  }

 private:
  static constexpr int kWrites = 3000;

  // Of both families by iterators of one moment, and by one MultiGet.
  static void CheckState(SecondaryDb* secondary, int* seen) {
    std::vector<Iterator*> made;
    ASSERT_OK((*secondary)->NewIterators(ReadOptions(), secondary->handles(), &made));
    std::vector<std::unique_ptr<Iterator>> iterators;
    for (Iterator* it : made) iterators.emplace_back(it);
    const Rows first = SecondaryDb::RowsOf(iterators[0].get());
    const int writes = first.empty() ? 0 : std::stoi(first.at("n"));
    ASSERT_GE(writes, *seen);
    *seen = writes;
    ASSERT_EQ(first, RowsAfter(writes));
    ASSERT_EQ(SecondaryDb::RowsOf(iterators[1].get()), first);
    std::vector<std::string> values;
    const std::vector<Status> statuses =
        (*secondary)->MultiGet(ReadOptions(), secondary->handles(), {"n", "n"}, &values);
    ASSERT_EQ(statuses[0].ok(), statuses[1].ok());
    ASSERT_EQ(values[0], values[1]);
    if (!statuses[0].ok()) return;
    ASSERT_GE(std::stoi(values[0]), writes);
  }
};

}  // namespace

TEST_P(BusyPrimaryTest, SecondariesSeePrefixesOfTheWritesInMemory) {
  TestDb primary;
  Run(&primary);
}

TEST_P(BusyPrimaryTest, SecondariesSeePrefixesOfTheWritesOnDiskWithMappedLogs) {
  const std::string dir = FreshMappableDir(StrCat("busy_primary_", GetParam().name));
  if (dir.empty()) return SkipAsMissing(kMappableFileSystem);
  TestDb primary(FileSystem::Default());
  primary.options().create_if_missing = primary.options().create_missing_column_families = true;
  primary.dir() = dir + "/db";
  Run(&primary);
}

INSTANTIATE_TEST_SUITE_P(Cases, BusyPrimaryTest, testing::ValuesIn(kCases), NameOfCase);

}  // namespace ashlar
