// SPDX-License-Identifier: Apache-2.0
//
// Meta files: RocksDB's bytes, ours, and everything that may be wrong with them.
#include "db/utilities/backup/backup_meta.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "util/hash/crc32c.h"

namespace ashlar {
namespace {

// Of RocksDB 7.8.3.
constexpr char kFirstSchema[] =
    "1795847449\n"
    "2\n"
    "metadata 6D65746120646174610A01\n"
    "5\n"
    "shared_checksum/000009_sN0Y6IRVLIN9ZGVLKOAKD_1001.sst crc32 4178365986\n"
    "private/1/MANIFEST-000005 crc32 3324747802\n"
    "private/1/CURRENT crc32 2659179228\n"
    "private/1/OPTIONS-000007 crc32 863746709\n"
    "private/1/000008.log crc32 26091407\n";

BackupMeta FirstMeta() {
  BackupMeta meta;
  meta.timestamp = 1795847449;
  meta.sequence = 2;
  meta.app_metadata = "meta data\n\x01";
  const auto add = [&meta](const char* name, uint32_t crc) {
    meta.files.push_back({.name = name, .crc = crc});
  };
  add("shared_checksum/000009_sN0Y6IRVLIN9ZGVLKOAKD_1001.sst", 4178365986);
  add("private/1/MANIFEST-000005", 3324747802);
  add("private/1/CURRENT", 2659179228);
  add("private/1/OPTIONS-000007", 863746709);
  add("private/1/000008.log", 26091407);
  return meta;
}

Result<BackupMeta> Parse(const std::string& text, std::vector<std::string>* ignored = nullptr) {
  return ParseMeta(text, 1, "/b/meta/1", ignored);
}

void ExpectSame(const BackupMeta& found, const BackupMeta& expected) {
  EXPECT_EQ(found.timestamp, expected.timestamp);
  EXPECT_EQ(found.sequence, expected.sequence);
  EXPECT_EQ(found.app_metadata, expected.app_metadata);
  EXPECT_EQ(found.excluded, expected.excluded);
  ASSERT_EQ(found.files.size(), expected.files.size());
  for (size_t i = 0; i < found.files.size(); i++) {
    EXPECT_EQ(found.files[i].name, expected.files[i].name);
    EXPECT_EQ(found.files[i].crc, expected.files[i].crc);
    EXPECT_EQ(found.files[i].bytes, expected.files[i].bytes);
    EXPECT_EQ(found.files[i].temperature, expected.files[i].temperature);
  }
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(BackupMeta, FirstSchemaHasRocksDbsBytes) {
  EXPECT_EQ(WriteMeta(FirstMeta(), 1), kFirstSchema);
  const auto parsed = Parse(kFirstSchema);
  ASSERT_OK(parsed);
  ExpectSame(parsed.value(), FirstMeta());
}

TEST(BackupMeta, WithoutMetadataThereIsNoLineForIt) {
  BackupMeta meta = FirstMeta();
  meta.app_metadata.clear();
  EXPECT_EQ(WriteMeta(meta, 1).find("metadata"), std::string::npos);
  const auto parsed = Parse(WriteMeta(meta, 1));
  ASSERT_OK(parsed);
  ExpectSame(parsed.value(), meta);
}

TEST(BackupMeta, SecondSchemaSaysMore) {
  BackupMeta meta = FirstMeta();
  meta.files[0].bytes = 1001;
  meta.files[0].temperature = Temperature::kCold;
  meta.files[1].crc.reset();
  meta.excluded = {"shared_checksum/000010_sN0Y6IRVLIN9ZGVLKOAKD_50.sst"};
  const std::string text = WriteMeta(meta, 2);
  const std::string body =
      "schema_version 2.1\n"
      "1795847449\n"
      "2\n"
      "metadata 6D65746120646174610A01\n"
      "5\n"
      "shared_checksum/000009_sN0Y6IRVLIN9ZGVLKOAKD_1001.sst crc32 4178365986 size 1001 temp "
      "kCold\n"
      "private/1/MANIFEST-000005\n"
      "private/1/CURRENT crc32 2659179228\n"
      "private/1/OPTIONS-000007 crc32 863746709\n"
      "private/1/000008.log crc32 26091407\n"
      "shared_checksum/000010_sN0Y6IRVLIN9ZGVLKOAKD_50.sst ni::excluded true\n"
      "// FOOTER\n";
  EXPECT_EQ(text, body + "crc32c_of_file " +
                      std::to_string(crc32c::Value(body.data(), body.size())) + "\n");
  std::vector<std::string> ignored;
  const auto parsed = Parse(text, &ignored);
  ASSERT_OK(parsed);
  ExpectSame(parsed.value(), meta);
  EXPECT_TRUE(ignored.empty());
}

TEST(BackupMeta, SecondSchemaOfRocksDbIsRead) {
  for (const char* version : {"2", "2.0", "2.1", "2.77"}) {
    const auto parsed = Parse(std::string("schema_version ") + version + "\n" + kFirstSchema);
    ASSERT_OK(parsed);
    ExpectSame(parsed.value(), FirstMeta());
  }
}

TEST(BackupMeta, UnknownFieldsArePassedByAndTold) {
  std::string text = std::string("schema_version 2.5\n") + kFirstSchema;
  text = Replaced(text, "\n5\n", "\nnew_field of some kind\n5\n");
  text = Replaced(text, "crc32 26091407", "crc32 26091407 color blue color red");
  text += "// FOOTER\nanother_field 12\n";
  std::vector<std::string> ignored;
  const auto parsed = Parse(text, &ignored);
  ASSERT_OK(parsed);
  ExpectSame(parsed.value(), FirstMeta());
  EXPECT_EQ(ignored, (std::vector<std::string>{"new_field", "color", "another_field"}));
}

TEST(BackupMeta, FieldsThatMustBeUnderstoodAreNotSupported) {
  const std::string text = std::string("schema_version 2.5\n") + kFirstSchema;
  EXPECT_TRUE(Parse(Replaced(text, "\n5\n", "\nni::x y\n5\n")).status().IsNotSupported());
  EXPECT_TRUE(Parse(Replaced(text, "26091407", "26091407 ni::x y")).status().IsNotSupported());
  EXPECT_TRUE(Parse(text + "// FOOTER\nni::x y\n").status().IsNotSupported());
}

TEST(BackupMeta, NewerSchemasAreNotSupported) {
  for (const char* version : {"1", "1.0", "3", "3.0", "20", "2x", "x"}) {
    const auto parsed = Parse(std::string("schema_version ") + version + "\n" + kFirstSchema);
    EXPECT_TRUE(parsed.status().IsNotSupported()) << version;
  }
}

TEST(BackupMeta, UnknownTemperaturesAreUnknown) {
  const std::string text = std::string("schema_version 2.1\n") +
                           Replaced(kFirstSchema, "4178365986", "4178365986 temp kLukewarm");
  auto parsed = Parse(text);
  ASSERT_OK(parsed);
  EXPECT_EQ(parsed->files[0].temperature, Temperature::kUnknown);
}

TEST(BackupMeta, WhatDoesNotFitIsCorruption) {
  const std::string text = kFirstSchema;
  const std::string second = "schema_version 2.1\n" + text;
  const std::string cases[] = {
      "",
      "\n",
      Replaced(text, "1795847449", "yesterday"),
      Replaced(text, "1795847449", "-1"),
      Replaced(text, "\n2\n", "\n\n"),
      Replaced(text, "metadata 6D", "metadata 6X"),
      Replaced(text, "metadata ", "remark "),
      Replaced(text, "metadata 6D65", "metadata \nmetadata 6D65"),
      Replaced(text, "\n5\n", "\n4\n"),
      Replaced(text, "\n5\n", "\n6\n"),
      Replaced(text, "\n5\n", "\n5 \n"),
      Replaced(text, " crc32 26091407", ""),
      Replaced(text, " crc32 26091407", " 26091407"),
      Replaced(text, " crc32 26091407", " crc32 26091407 size 3"),
      Replaced(text, "crc32 26091407", "crc33 26091407"),
      Replaced(text, "crc32 26091407", "crc32 026091407"),
      Replaced(text, "crc32 26091407", "crc32 +26091407"),
      Replaced(text, "crc32 26091407", "crc32 26091407999"),
      Replaced(text, "crc32 26091407", "crc32 260914O7"),
      Replaced(text, "crc32 26091407", "crc32  26091407"),
      Replaced(text, "private/1/000008.log", "private/2/000008.log"),
      Replaced(text, "private/1/000008.log", "private/1/../1/000008.log"),
      Replaced(text, "private/1/000008.log", "/private/1/000008.log"),
      Replaced(text, "private/1/000008.log", "private/1/x/000008.log"),
      Replaced(text, "private/1/000008.log", "private/1/LOCK"),
      Replaced(text, "private/1/000008.log", "private/1/notes"),
      Replaced(text, "private/1/000008.log", "shared/000008.log"),
      Replaced(text, "private/1/000008.log", "shared_checksum/x/000008_1_1.sst"),
      Replaced(text, "private/1/000008.log", "private/1/CURRENT"),
      Replaced(text, "private/1/000008.log", "shared/000009.sst"),
      text + "\n",
      text + "private/1/IDENTITY crc32 5\n",
      text.substr(0, text.size() - 1),
      text + "// FOOTER\n",
      Replaced(second, "26091407", "26091407 size"),
      Replaced(second, "26091407", "26091407 size 1x"),
      Replaced(second, "26091407", "26091407 ni::excluded yes"),
      Replaced(second, "26091407", "26091407 ni::excluded true"),  // a private file
      second + "// FOOTER\nword\n",
      second + "// FOOTER\ncrc32c_of_file 1\n",
      "schema_version\n" + text,
      "schema_version  2.1\n" + text,
  };
  for (const std::string& damaged : cases) {
    const auto parsed = Parse(damaged);
    EXPECT_TRUE(parsed.status().IsCorruption()) << parsed.status().ToString() << "\n" << damaged;
  }
}

TEST(BackupMeta, ErrorsNameFileLineAndFinding) {
  EXPECT_EQ(Parse(Replaced(kFirstSchema, "crc32 863746709", "crc32 x")).status().ToString(),
            "Corruption: /b/meta/1: line 8: expected a CRC-32C in decimal, found "
            "\"private/1/OPTIONS-000007 crc32 x\"");
  EXPECT_EQ(Parse(Replaced(kFirstSchema, "\n5\n", "\n6\n")).status().ToString(),
            "Corruption: /b/meta/1: 6 files announced, 5 found");
}

TEST(BackupMeta, CutAnywhereIsCorruption) {
  const std::string text = kFirstSchema;
  for (size_t n = 0; n < text.size(); n++) {
    EXPECT_TRUE(Parse(text.substr(0, n)).status().IsCorruption()) << n;
  }
}

// With the footer no change of a byte goes unnoticed. Without it, one in the timestamp may.
TEST(BackupMeta, EveryChangedByteOfTheSecondSchemaIsTold) {
  BackupMeta meta = FirstMeta();
  meta.files[0].bytes = 1001;
  meta.excluded = {"shared_checksum/000010_sN0Y6IRVLIN9ZGVLKOAKD_50.sst"};
  const std::string text = WriteMeta(meta, 2);
  const size_t footer = text.find("// FOOTER");
  ASSERT_NE(footer, std::string::npos);
  for (size_t at = 0; at < text.size(); at++) {
    for (int change = 1; change < 256; change++) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const auto parsed = Parse(damaged);
      // The name of the field in the footer is not covered by it.
      const bool may_pass = at > footer + 9;
      EXPECT_TRUE(may_pass || !parsed.ok()) << at << " ^ " << change;
      if (parsed.ok()) ExpectSame(parsed.value(), meta);
    }
  }
}

TEST(BackupMeta, NamesAreReadFromWhatCannotBeParsed) {
  const std::string text =
      "garbage\nschema_version 9\nshared_checksum/000009_1_2.sst odd\n\nprivate/1/CURRENT\n"
      "shared/000010.sst";
  EXPECT_EQ(NamesInMeta(text),
            (std::vector<std::string>{"shared_checksum/000009_1_2.sst", "private/1/CURRENT",
                                      "shared/000010.sst"}));
  EXPECT_TRUE(NamesInMeta("").empty());
}

}  // namespace
}  // namespace ashlar
