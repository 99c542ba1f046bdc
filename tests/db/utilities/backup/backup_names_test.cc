// SPDX-License-Identifier: Apache-2.0
//
// Names in a backup directory, against those that RocksDB gives.
#include "db/utilities/backup/backup_names.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

constexpr auto kSession = BackupEngineOptions::kUseDbSessionId;
const auto kSessionAndSize = kSession | BackupEngineOptions::kFlagIncludeFileSize;
constexpr auto kLegacy = BackupEngineOptions::kLegacyCrc32cAndFileSize;

FileIdentityForName Table(const std::string& session_id = "N0Y6IRVLIN9ZGVLKOAKD") {
  return {.database_name = "000009.sst",
          .type = kTableFile,
          .bytes = 1001,
          .session_id = session_id,
          .crc = 4178365986};
}

FileIdentityForName Blob() {
  return {.database_name = "000012.blob",
          .type = kBlobFile,
          .bytes = 70,
          .session_id = "N0Y6IRVLIN9ZGVLKOAKD",
          .crc = 7};
}

TEST(BackupNames, TablesAreNamedBySessionAndSize) {
  EXPECT_EQ(SharedChecksumName(Table(), kSessionAndSize),
            "shared_checksum/000009_sN0Y6IRVLIN9ZGVLKOAKD_1001.sst");
  EXPECT_EQ(SharedChecksumName(Table(), kSession),
            "shared_checksum/000009_sN0Y6IRVLIN9ZGVLKOAKD.sst");
  EXPECT_FALSE(NameNeedsCrc(Table(), kSession));
}

TEST(BackupNames, WithoutSessionTheCrcIsInTheName) {
  const char* const by_crc = "shared_checksum/000009_4178365986_1001.sst";
  EXPECT_EQ(SharedChecksumName(Table(), kLegacy), by_crc);
  EXPECT_EQ(SharedChecksumName(Table(""), kSessionAndSize), by_crc);
  EXPECT_EQ(SharedChecksumName(Blob(), kSessionAndSize), "shared_checksum/000012_7_70.blob");
  EXPECT_TRUE(NameNeedsCrc(Table(), kLegacy));
  EXPECT_TRUE(NameNeedsCrc(Table(""), kSession));
  EXPECT_TRUE(NameNeedsCrc(Blob(), kSession));
}

TEST(BackupNames, DatabaseNameIsFoundAgain) {
  EXPECT_EQ(DatabaseNameOf(SharedChecksumName(Table(), kSessionAndSize)), "000009.sst");
  EXPECT_EQ(DatabaseNameOf(SharedChecksumName(Table(), kSession)), "000009.sst");
  EXPECT_EQ(DatabaseNameOf(SharedChecksumName(Table(), kLegacy)), "000009.sst");
  EXPECT_EQ(DatabaseNameOf("shared/000009.sst"), "000009.sst");
  EXPECT_EQ(DatabaseNameOf("private/1/MANIFEST-000005"), "MANIFEST-000005");
  EXPECT_EQ(DatabaseNameOf("private/1/CURRENT"), "CURRENT");
}

TEST(BackupNames, SessionIdIsReadBackFromNamesThatHaveOne) {
  EXPECT_EQ(SessionIdIn("shared_checksum/000009_sN0Y6IRVLIN9ZGVLKOAKD_1001.sst"),
            "N0Y6IRVLIN9ZGVLKOAKD");
  EXPECT_EQ(SessionIdIn("shared_checksum/000009_sN0Y6IRVLIN9ZGVLKOAKD.sst"),
            "N0Y6IRVLIN9ZGVLKOAKD");
  EXPECT_EQ(SessionIdIn("shared_checksum/000009_4178365986_1001.sst"), std::nullopt);
  EXPECT_EQ(SessionIdIn("shared_checksum/000009_sTOOSHORT_1001.sst"), std::nullopt);
  EXPECT_EQ(SessionIdIn("shared_checksum/000009_sn0y6irvlin9zgvlkoakd.sst"), std::nullopt);
  EXPECT_EQ(SessionIdIn("shared/000009_sN0Y6IRVLIN9ZGVLKOAKD.sst"), std::nullopt);
}

TEST(BackupNames, IdsArePlainNumbers) {
  EXPECT_EQ(ParseBackupId("1"), 1u);
  EXPECT_EQ(ParseBackupId("4294967293"), 4294967293u);
  for (const char* name : {"", "0", "01", "+1", "1 ", "x", ".1.tmp", "1.tmp", "4294967294",
                           "4294967295", "4294967296", "99999999999"}) {
    EXPECT_EQ(ParseBackupId(name), std::nullopt) << name;
  }
}

TEST(BackupNames, TemporaryNamesAreTold) {
  EXPECT_EQ(TempNameOf("shared_checksum/000009_s_1.sst"), "shared_checksum/.000009_s_1.sst.tmp");
  EXPECT_EQ(MetaTempName(7), "meta/.7.tmp");
  EXPECT_TRUE(IsTempName(".000009_s_1.sst.tmp"));
  EXPECT_TRUE(IsTempName(".7.tmp"));
  EXPECT_FALSE(IsTempName("7"));
  EXPECT_FALSE(IsTempName(".tmp"));
  EXPECT_FALSE(IsTempName("000009.sst"));
}

}  // namespace
}  // namespace ashlar
