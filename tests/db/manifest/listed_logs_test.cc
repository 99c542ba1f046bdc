// SPDX-License-Identifier: Apache-2.0
//
// Which logs the MANIFEST names to RocksDB, and when it takes them back.
#include "db/manifest/listed_logs.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// "+6:100 -7": an addition of log 6 with 100 bytes, then a deletion below 7.
std::string Show(const std::vector<VersionEdit>& edits) {
  std::string text;
  for (const VersionEdit& edit : edits) {
    EXPECT_NE(edit.wal_additions.empty(), !edit.wal_deletion.has_value());  // never both
    for (const WalAddition& log : edit.wal_additions) {
      StrAppend(&text, "+", log.log_number, ":", *log.synced_bytes, " ");
    }
    if (edit.wal_deletion) StrAppend(&text, "-", *edit.wal_deletion, " ");
  }
  return text;
}

LogSummary Log(uint64_t number, uint64_t synced, uint64_t end) {
  return {.number = FileNumber{number}, .first_seqno = 1, .synced_bytes = synced, .end_bytes = end};
}

constexpr std::optional<uint64_t> kNewManifest = std::nullopt;

// Behind a change that says from which log on they are needed.
std::vector<VersionEdit> News(ListedLogs* listed, const std::vector<LogSummary>& logs,
                              uint64_t needed, std::optional<uint64_t> change_begin = 4711) {
  VersionEdit edit;
  edit.min_log_number_to_keep = FileNumber{needed};
  const auto news = listed->News(logs, {VersionEdit(), edit}, /*min_log=*/1, change_begin);
  for (const VersionEdit& record : news) EXPECT_EQ(record.change_begin, change_begin);
  return news;
}

TEST(ListedLogs, NamesWhatIsClosedAndSyncedOnce) {
  ListedLogs logs;
  EXPECT_EQ(Show(News(&logs, {Log(5, 50, 100), Log(6, 100, 100), Log(7, 80, 0)}, 5)), "+6:100 ");
  EXPECT_EQ(Show(News(&logs, {Log(5, 100, 100), Log(6, 100, 100), Log(7, 80, 90)}, 5)), "+5:100 ");
  EXPECT_EQ(Show(News(&logs, {Log(5, 100, 100), Log(6, 100, 100)}, 5)), "");
}

TEST(ListedLogs, TakesBackWhatIsNotNeededAnyMore) {
  ListedLogs logs;
  EXPECT_EQ(Show(News(&logs, {Log(5, 9, 9), Log(6, 9, 9)}, 5)), "+5:9 +6:9 ");
  EXPECT_EQ(Show(News(&logs, {Log(5, 9, 9), Log(6, 9, 9), Log(7, 8, 8)}, 6)), "+7:8 -6 ");
  EXPECT_EQ(Show(News(&logs, {Log(6, 9, 9), Log(7, 8, 8)}, 6)), "");
  EXPECT_EQ(Show(News(&logs, {}, 20)), "-20 ");
  EXPECT_EQ(Show(News(&logs, {}, 30)), "");  // none is named any more
}

TEST(ListedLogs, BeginsAnewWithANewManifest) {
  ListedLogs logs;
  EXPECT_EQ(Show(News(&logs, {Log(5, 9, 9), Log(6, 9, 9)}, 5)), "+5:9 +6:9 ");
  EXPECT_EQ(Show(News(&logs, {Log(5, 9, 9), Log(6, 9, 9)}, 6, kNewManifest)), "+6:9 ");
}

}  // namespace
}  // namespace ashlar
