// SPDX-License-Identifier: Apache-2.0
//
// OPTIONS files: those that RocksDB wrote parse and round-trip, ours have its form, bad ones are
// refused with the line.
#include "db/options/options_file.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "ashlar/table.h"
#include "db/options/option_table.h"
#include "tests/support/json.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

std::string Vector(const std::string& name) {
  return ReadTestFile(SourcePath("tests/data/vectors/" + name));
}

OptionsFileContents Parse(const std::string& text) {
  auto parsed = ParseOptionsText(ConfigOptions(), text);
  EXPECT_OK(parsed);
  return parsed.ok() ? parsed.Take() : OptionsFileContents();
}

Status ParseStatus(const std::string& text, const ConfigOptions& config = ConfigOptions()) {
  return ParseOptionsText(config, text).status();
}

constexpr char kSmallest[] = "[DBOptions]\n[CFOptions \"default\"]\n";

// Lines "name=value" of a section, as a set: RocksDB writes them in any order.
std::set<std::string> LinesOf(const std::string& text, const std::string& section) {
  std::set<std::string> lines;
  std::istringstream in(text);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] == '[') inside = line.find(section) == 1;
    if (inside && line.find('=') != std::string::npos) lines.insert(line);
  }
  return lines;
}

TEST(OptionsFile, ReadsWhatRocksDb78Wrote) {
  const OptionsFileContents contents = Parse(Vector("options_7.8.3.ini"));
  EXPECT_EQ(contents.version, 7008003);
  EXPECT_FALSE(contents.db_options.write_dbid_to_manifest);
  ASSERT_EQ(contents.families.size(), 1u);
  const ColumnFamilyOptions& family = contents.families[0].options;
  EXPECT_EQ(family.compression, kSnappyCompression);
  EXPECT_FALSE(family.level_compaction_dynamic_level_bytes);
  EXPECT_EQ(family.merge_operator, nullptr);
  EXPECT_EQ(family.table_factory->GetOptions<BlockBasedTableOptions>()->format_version, 5u);
}

TEST(OptionsFile, ReadsWhatRocksDb119Wrote) {
  const OptionsFileContents contents = Parse(Vector("options_11.9.ini"));
  EXPECT_EQ(contents.version, 11009000);
  EXPECT_TRUE(contents.db_options.create_missing_column_families);
  ASSERT_EQ(contents.families.size(), 1u);
  const ColumnFamilyOptions& family = contents.families[0].options;
  EXPECT_EQ(family.compression, kLZ4Compression);
  EXPECT_EQ(family.ttl, 2592000u);
  EXPECT_TRUE(family.compaction_options_universal.reduce_file_locking);
  EXPECT_EQ(family.table_factory->GetOptions<BlockBasedTableOptions>()->format_version, 7u);
}

// What we write for RocksDB 11.9 has every line that it had, and none that it would not know.
TEST(OptionsFile, WritesTheLinesOfRocksDb119) {
  const std::string original = Vector("options_11.9.ini");
  const std::string ours = WriteOptionsText(Parse(original));
  for (const char* section : {"DBOptions", "CFOptions", "TableOptions"}) {
    std::set<std::string> expected = LinesOf(original, section);
    expected.erase("  merge_operator=CatMerge");  // cannot be made by name
    std::set<std::string> written = LinesOf(ours, section);
    for (const std::string& line : expected) {
      // Members of nested structs may come in another order.
      if (line.find('{') != std::string::npos) continue;
      EXPECT_EQ(written.count(line), 1u) << section << line;
    }
  }
}

TEST(OptionsFile, WritesOnlyNamesOfRocksDb78WhenAsked) {
  std::set<std::string> known;
  for (const char* section : {"DBOptions", "CFOptions", "TableOptions"}) {
    for (const std::string& line : LinesOf(Vector("options_7.8.3.ini"), section)) {
      known.insert(line.substr(0, line.find('=')));
    }
  }
  OptionsFileContents contents;
  contents.db_options.write_compatible_with = "7.8";
  contents.families.push_back({"default", ColumnFamilyOptions()});
  const std::string ours = WriteOptionsText(contents);
  EXPECT_NE(ours.find("rocksdb_version=7.8.3"), std::string::npos);
  EXPECT_EQ(ours.find("max_compressed_bytes_per_kb"), std::string::npos);
  EXPECT_NE(ours.find("  format_version=5\n"), std::string::npos);
  for (const char* section : {"DBOptions", "CFOptions", "TableOptions"}) {
    for (const std::string& line : LinesOf(ours, section)) {
      const std::string name = line.substr(0, line.find('='));
      if (name == "  wal_dir" || name == "  db_log_dir") continue;  // left out of the vector
      EXPECT_EQ(known.count(name), 1u) << line;
    }
  }
  EXPECT_EQ(Parse(ours).db_options.write_compatible_with, "7.8");
}

// A value that 7.8 does not know would keep it from reading the file.
TEST(OptionsFile, WritesOnlyValuesOfRocksDb78WhenAsked) {
  OptionsFileContents contents;
  contents.db_options.lowest_used_cache_tier = CacheTier::kVolatileCompressedTier;
  contents.families.push_back({"default", ColumnFamilyOptions()});
  contents.families[0].options.last_level_temperature = Temperature::kIce;
  BlockBasedTableOptions table;
  table.prepopulate_block_cache =
      BlockBasedTableOptions::PrepopulateBlockCache::kFlushAndCompaction;
  contents.families[0].options.table_factory.reset(NewBlockBasedTableFactory(table));
  const auto has_line = [&contents](const std::string& line) {
    return WriteOptionsText(contents).find("  " + line + "\n") != std::string::npos;
  };
  EXPECT_TRUE(has_line("lowest_used_cache_tier=kVolatileCompressedTier"));
  EXPECT_TRUE(has_line("last_level_temperature=kIce"));
  EXPECT_TRUE(has_line("prepopulate_block_cache=kFlushAndCompaction"));
  contents.db_options.write_compatible_with = "7.8";
  EXPECT_TRUE(has_line("lowest_used_cache_tier=kVolatileTier"));
  EXPECT_TRUE(has_line("last_level_temperature=kCold"));
  EXPECT_TRUE(has_line("prepopulate_block_cache=kFlushOnly"));
}

// Not a line of 7.8's file while it is empty.
TEST(OptionsFile, CompressionByLevelIsOneOfRocksDb78) {
  OptionsFileContents contents = Parse(Vector("options_7.8.3.ini"));
  contents.db_options.write_compatible_with = "7.8";
  contents.families[0].options.compression_per_level = {kNoCompression, kLZ4Compression};
  const std::string text = WriteOptionsText(contents);
  EXPECT_EQ(Parse(text).families[0].options.compression_per_level,
            contents.families[0].options.compression_per_level);
}

TEST(OptionsFile, RoundTripsBothVectors) {
  for (const char* name : {"options_7.8.3.ini", "options_11.9.ini"}) {
    const std::string once = WriteOptionsText(Parse(Vector(name)));
    EXPECT_EQ(WriteOptionsText(Parse(once)), once) << name;
  }
}

TEST(OptionsFile, OddFamilyNamesRoundTrip) {
  OptionsFileContents contents;
  contents.families.push_back({"default", ColumnFamilyOptions()});
  contents.families.push_back({"be\\ta\"x]\n#:", ColumnFamilyOptions()});
  contents.families[1].options.num_levels = 3;
  const std::string text = WriteOptionsText(contents);
  EXPECT_NE(text.find("[CFOptions \"be\\\\ta\"x]\\n\\#\\:\"]"), std::string::npos);
  const OptionsFileContents parsed = Parse(text);
  ASSERT_EQ(parsed.families.size(), 2u);
  EXPECT_EQ(parsed.families[1].name, contents.families[1].name);
  EXPECT_EQ(parsed.families[1].options.num_levels, 3);
}

TEST(OptionsFile, SmallestFile) {
  EXPECT_OK(ParseStatus(kSmallest));
  EXPECT_OK(ParseStatus(std::string("[Version]\nrocksdb_version=7.8\noptions_file_version=1.0\n") +
                        kSmallest));
}

TEST(OptionsFile, CommentsAndSpaces) {
  const OptionsFileContents contents =
      Parse("# x\n [DBOptions]  # y\n\t max_open_files = 5 # z\n\n[CFOptions \"default\"]");
  EXPECT_EQ(contents.db_options.max_open_files, 5);
}

TEST(OptionsFile, FirstOfARepeatedKeyCounts) {
  EXPECT_EQ(Parse("[DBOptions]\nmax_open_files=5\nmax_open_files=6\n[CFOptions \"default\"]\n")
                .db_options.max_open_files,
            5);
}

TEST(OptionsFile, RefusesBrokenStructure) {
  const char* kBad[] = {
      "",
      "[DBOptions]\n",
      "[CFOptions \"default\"]\n",
      "a=b\n[DBOptions]\n[CFOptions \"default\"]\n",
      "[DBOptions]\n[DBOptions]\n[CFOptions \"default\"]\n",
      "[DBOptions]\n[CFOptions \"other\"]\n",
      "[DBOptions]\n[CFOptions \"default\"]\n[CFOptions \"default\"]\n",
      "[DBOptions]\n[CFOptions \"default]\n",
      "[DBOptions]\nnonsense\n[CFOptions \"default\"]\n",
      "[DBOptions]\n[CFOptions \"default\"]\n[TableOptions/BlockBasedTable \"other\"]\n",
      "[DBOptions]\n[CFOptions \"default\"]\n[Strange]\n",
      "[Version]\nrocksdb_version=x\n[DBOptions]\n[CFOptions \"default\"]\n",
      "[Version]\noptions_file_version=0.9\n[DBOptions]\n[CFOptions \"default\"]\n",
  };
  for (const char* bad : kBad) EXPECT_TRUE(ParseStatus(bad).IsInvalidArgument()) << bad;
}

TEST(OptionsFile, ErrorsNameTheLine) {
  const Status status =
      ParseStatus("[DBOptions]\n\nmax_open_files=many\n[CFOptions \"default\"]\n");
  EXPECT_NE(status.ToString().find("line 3"), std::string::npos) << status.ToString();
  EXPECT_NE(status.ToString().find("max_open_files"), std::string::npos);
}

std::string WithUnknownKey(const std::string& version) {
  return "[Version]\nrocksdb_version=" + version +
         "\n[DBOptions]\nfrom_tomorrow=1\n[CFOptions \"default\"]\n";
}

TEST(OptionsFile, UnknownKeysFailUnlessTheFileIsNewerAndTheyMayBeIgnored) {
  ConfigOptions tolerant;
  tolerant.ignore_unknown_options = true;
  EXPECT_TRUE(ParseStatus(WithUnknownKey("99.0.0")).IsInvalidArgument());
  EXPECT_TRUE(ParseStatus(WithUnknownKey("11.9.0"), tolerant).IsInvalidArgument());
  EXPECT_OK(ParseStatus(WithUnknownKey("99.0.0"), tolerant));
}

TEST(OptionsFile, OfReadAmpBytesPerBitTheLower32BitsCount) {
  const OptionsFileContents contents =
      Parse(std::string(kSmallest) +
            "[TableOptions/BlockBasedTable \"default\"]\n  read_amp_bytes_per_bit=8589934599\n");
  ASSERT_EQ(contents.families.size(), 1u);
  const auto& factory = contents.families[0].options.table_factory;
  EXPECT_EQ(factory->GetOptions<BlockBasedTableOptions>()->read_amp_bytes_per_bit, 7u);
}

TEST(OptionsFile, ALargeDictionaryHasASignForRocksDb78) {
  ColumnFamilyOptions family;
  family.compression_opts.max_dict_bytes = 0xffffffff;
  PrintContext context;
  std::string text;
  PrintOptions(ColumnFamilyOptionTable(), context, &family, &text);
  EXPECT_NE(text.find("max_dict_bytes=4294967295;"), std::string::npos);
  text.clear();
  context.newest = Since::kRocksDb78;
  PrintOptions(ColumnFamilyOptionTable(), context, &family, &text);
  EXPECT_NE(text.find("max_dict_bytes=-1;"), std::string::npos);
}

TEST(OptionsFile, UnknownTableFormatsAreSkippedAndLeftUnset) {
  const OptionsFileContents contents = Parse(
      "[DBOptions]\n[CFOptions \"default\"]\ntable_factory=Foreign\n"
      "[TableOptions/Foreign \"default\"]\nwhatever=1\n");
  EXPECT_EQ(contents.families[0].options.table_factory, nullptr);
}

// Everything else stays as it is, also names of objects that do not exist here.
TEST(OptionsFile, ACopyNamesItsFamiliesAndNoDirectoriesOfLogs) {
  const std::string begin = "# comment\n[Version]\n  rocksdb_version=7.8.3\n";
  const std::string first = "[CFOptions \"default\"]\n  comparator=own\n";
  const std::string second = "[CFOptions \"a\\#b\"]\n  merge_operator=own\n";
  const std::string third = "[CFOptions \"c\"]\n  wal_dir=kept\n[TableOptions/Own \"c\"]\n x=1\n";
  const std::string db = "[DBOptions]\n  wal_dir=/logs\n  max_open_files=7\n db_log_dir = /i # x\n";
  const std::string db_of_copy = "[DBOptions]\n  wal_dir=\n  max_open_files=7\n  db_log_dir=\n";
  const std::string text = begin + db + first + second + third;
  const auto copy_without = [&](const std::string& family) {
    return OptionsTextOfCopy(text, [&](const std::string& name) { return name != family; });
  };
  EXPECT_EQ(copy_without("a#b"), begin + db_of_copy + first + third);
  EXPECT_EQ(copy_without("c"), begin + db_of_copy + first + second);
  EXPECT_EQ(copy_without("none"), begin + db_of_copy + first + second + third);
}

}  // namespace
}  // namespace ashlar
