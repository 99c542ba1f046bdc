// SPDX-License-Identifier: Apache-2.0
//
// Option files and strings of the world, as tests/data/options has them: what RocksDB 7.8.3 accepts
// is accepted, and means the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "ashlar/advanced_cache.h"
#include "ashlar/convenience.h"
#include "ashlar/memtablerep.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/table.h"
#include "ashlar/utilities/options_util.h"
#include "ashlar/utilities/table_properties_collectors.h"
#include "db/options/option_table.h"
#include "db/options/options_file.h"
#include "tests/support/json.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Values = std::map<std::string, std::string>;

std::vector<std::string> SplitAt(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

void AddPrinted(OptionTable table, const void* options, Values* values) {
  for (const OptionRow& row : table) {
    if (row.print == nullptr) continue;
    std::string& text = (*values)[row.name()];
    row.Print(PrintContext(), options, &text);
  }
}

std::string CapacityOf(const std::shared_ptr<Cache>& cache) {
  return cache == nullptr ? "no" : StrCat(cache->GetCapacity());
}

void Describe(const DBOptions& options, Values* values) {
  AddPrinted(DbOptionTable(), &options, values);
  (*values)["@statistics"] = options.statistics == nullptr ? "no" : "set";
  (*values)["@rate_limiter"] =
      options.rate_limiter == nullptr ? "no" : StrCat(options.rate_limiter->GetBytesPerSecond());
  (*values)["@listeners"] = StrCat(options.listeners.size());
}

void Describe(const ColumnFamilyOptions& options, Values* values) {
  AddPrinted(ColumnFamilyOptionTable(), &options, values);
  (*values)["@blob_cache"] = CapacityOf(options.blob_cache);
  (*values)["@collectors"] = StrCat(options.table_properties_collector_factories.size());
  if (options.table_factory == nullptr) return;
  const auto* table = options.table_factory->GetOptions<BlockBasedTableOptions>();
  if (table != nullptr) (*values)["@block_cache"] = CapacityOf(table->block_cache);
}

void Describe(const BlockBasedTableOptions& options, Values* values) {
  const std::unique_ptr<TableFactory> factory(NewBlockBasedTableFactory(options));
  const auto* table = factory->GetOptions<BlockBasedTableOptions>();
  AddPrinted(BlockBasedOptionTable(), table, values);
  (*values)["@block_cache"] = CapacityOf(table->block_cache);
}

// One line of strings.tsv.
struct TextCase {
  std::string kind;
  ConfigOptions config;
  std::string text;
  std::vector<std::string> expected;
};

TextCase ReadCase(const std::string& line) {
  TextCase result;
  std::vector<std::string> fields = SplitAt(line, '\t');
  result.kind = fields.at(0);
  result.text = fields.at(1);
  for (size_t at; (at = result.text.find("\\n")) != std::string::npos;) {
    result.text.replace(at, 2, "\n");
  }
  result.expected.assign(fields.begin() + 2, fields.end());
  result.config.input_strings_escaped = false;
  result.config.ignore_unknown_options = result.kind.back() == '~';
  result.config.ignore_unsupported_options = result.kind.back() != '!';
  if (result.kind.back() == '~' || result.kind.back() == '!') result.kind.pop_back();
  return result;
}

Status Load(const TextCase& c, Values* values) {
  Status status = Status::InvalidArgument("no such kind", c.kind);
  if (c.kind == "db") {
    DBOptions options;
    status = GetDBOptionsFromString(c.config, DBOptions(), c.text, &options);
    Describe(options, values);
  } else if (c.kind == "cf") {
    ColumnFamilyOptions options;
    status = GetColumnFamilyOptionsFromString(c.config, ColumnFamilyOptions(), c.text, &options);
    Describe(options, values);
  } else if (c.kind == "opts") {
    Options options;
    status = GetOptionsFromString(c.config, Options(), c.text, &options);
    Describe(static_cast<const DBOptions&>(options), values);
    Describe(static_cast<const ColumnFamilyOptions&>(options), values);
  } else if (c.kind == "table") {
    BlockBasedTableOptions options;
    status =
        GetBlockBasedTableOptionsFromString(c.config, BlockBasedTableOptions(), c.text, &options);
    Describe(options, values);
  } else if (c.kind == "plain") {
    PlainTableOptions options;
    status = GetPlainTableOptionsFromString(c.config, PlainTableOptions(), c.text, &options);
  }
  return status;
}

// The value of "name" or "struct.member" in what was printed.
std::string Lookup(const Values& values, const std::string& name) {
  const auto whole = values.find(name);
  if (whole != values.end()) return whole->second;
  const size_t dot = name.find('.');
  const auto outer = values.find(name.substr(0, dot));
  if (dot == std::string::npos || outer == values.end()) return "(no such option)";
  std::unordered_map<std::string, std::string> members;
  EXPECT_OK(StringToMap(outer->second, &members));
  return members[name.substr(dot + 1)];
}

TEST(OptionCorpus, StringsMeanWhatTheyMeanToRocksDb) {
  std::istringstream lines(ReadTestFile(SourcePath("tests/data/options/strings.tsv")));
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const TextCase c = ReadCase(line);
    SCOPED_TRACE(line);
    Values values;
    const Status status = Load(c, &values);
    ASSERT_FALSE(c.expected.empty());
    if (c.expected[0] == "refused") {
      EXPECT_FALSE(status.ok());
      continue;
    }
    ASSERT_OK(status);
    if (c.expected[0] == "accepted") continue;
    for (const std::string& expected : c.expected) {
      const size_t equals = expected.find('=');
      EXPECT_EQ(Lookup(values, expected.substr(0, equals)), expected.substr(equals + 1));
    }
  }
  EXPECT_GT(count, 600u);
}

// ---- files

struct FileLine {
  std::string section;
  std::string argument;
  std::string name;
  std::string value;
};

std::vector<FileLine> CorpusLines(const std::string& text) {
  std::vector<FileLine> lines;
  FileLine at;
  for (const std::string& raw : SplitAt(text, '\n')) {
    const std::string line(TrimSpaces(raw));
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      const size_t quote = line.find('"');
      at.section = TrimSpaces(line.substr(1, std::min(quote, line.size() - 1) - 1));
      at.argument = quote == std::string::npos
                        ? ""
                        : UnescapeOptionString(line.substr(quote + 1, line.rfind('"') - quote - 1));
      continue;
    }
    const size_t equals = line.find('=');
    at.name = line.substr(0, equals);
    at.value = line.substr(equals + 1);
    lines.push_back(at);
  }
  return lines;
}

const ColumnFamilyOptions& FamilyOf(const OptionsFileContents& contents, const std::string& name) {
  for (const FamilyOptionsInFile& family : contents.families) {
    if (family.name == name) return family.options;
  }
  ADD_FAILURE() << "no family " << name;
  return contents.families.front().options;
}

// What the option of the line is after loading; the line's own value if it has no text form here.
std::string Loaded(const OptionsFileContents& contents, const FileLine& line) {
  Values values;
  if (line.section == "DBOptions") {
    Describe(contents.db_options, &values);
  } else if (line.section == "CFOptions") {
    Describe(FamilyOf(contents, line.argument), &values);
    const auto& factory = FamilyOf(contents, line.argument).table_factory;
    values["table_factory"] = factory == nullptr ? "nullptr" : factory->Name();
  } else if (line.section == "TableOptions/BlockBasedTable") {
    Describe(*FamilyOf(contents, line.argument).table_factory->GetOptions<BlockBasedTableOptions>(),
             &values);
  }
  const auto found = values.find(line.name);
  return found == values.end() ? line.value : found->second;
}

// Whether `loaded` says what `written` says: structs may come in another order and with more
// members.
bool Says(const std::string& loaded, const std::string& written) {
  if (loaded == written) return true;
  double a, b;
  if (ParseDoubleText(loaded, &a) && ParseDoubleText(written, &b) && a == b) return true;
  std::unordered_map<std::string, std::string> ours, theirs;
  if (written.find('=') == std::string::npos || !StringToMap(loaded, &ours).ok() ||
      !StringToMap(written, &theirs).ok()) {
    return false;
  }
  return std::all_of(theirs.begin(), theirs.end(), [&](const auto& member) {
    const bool is_retired = member.first == "ttl";
    return is_retired || (ours.count(member.first) > 0 && Says(ours[member.first], member.second));
  });
}

// Objects that cannot be made by name, or print otherwise.
bool IsKnownToDiffer(const FileLine& line) {
  return (line.name == "merge_operator" && line.value.find("id=") == std::string::npos) ||
         (line.name == "filter_policy" && line.value != "nullptr");
}

OptionsFileContents LoadFile(const std::string& path) {
  auto contents = ParseOptionsText(ConfigOptions(), ReadTestFile(path));
  EXPECT_OK(contents) << path;
  return contents.ok() ? contents.Take() : OptionsFileContents();
}

TEST(OptionCorpus, FilesOfEveryReleaseLoadWithEqualValues) {
  size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(SourcePath("tests/data/options"))) {
    const std::string path = file.path().string();
    if (file.path().extension() != ".ini" || path.find("ycsb") != std::string::npos) continue;
    ++count;
    const OptionsFileContents contents = LoadFile(path);
    ASSERT_FALSE(contents.families.empty()) << path;
    for (const FileLine& line : CorpusLines(ReadTestFile(path))) {
      if (line.section == "Version" || IsKnownToDiffer(line)) continue;
      const std::string loaded = Loaded(contents, line);
      EXPECT_TRUE(Says(loaded, line.value))
          << path << " " << line.name << ": " << loaded << ", not " << line.value;
    }
  }
  EXPECT_GE(count, 14u);
}

TEST(OptionCorpus, FilterPoliciesOfFiles) {
  const auto policy_of = [](const char* file) {
    const OptionsFileContents contents = LoadFile(SourcePath(StrCat("tests/data/options/", file)));
    const auto* table =
        contents.families.at(0).options.table_factory->GetOptions<BlockBasedTableOptions>();
    return table->filter_policy == nullptr ? "nullptr" : table->filter_policy->GetId();
  };
  EXPECT_EQ(policy_of("rocksdb-7.8-objects.ini"), "bloomfilter:12.5:false");
  EXPECT_EQ(policy_of("rocksdb-7.8-hash_index_ribbon.ini"), "ribbonfilter:10:0");
  EXPECT_EQ(policy_of("rocksdb-11.9-hash_index_ribbon.ini"), "ribbonfilter:10:0");
  EXPECT_EQ(policy_of("rocksdb-11.9-partitioned_xxh3.ini"), "bloomfilter:10:false");
}

// What a benchmark driver in the manner of YCSB gives, with the values that RocksDB 7.8.3 gets.
TEST(OptionCorpus, AProgramsFileWithUnitsAndAFifoSection) {
  const OptionsFileContents contents =
      LoadFile(SourcePath("tests/data/options/program-ycsb_fifo.ini"));
  EXPECT_EQ(contents.db_options.max_total_wal_size, 512u << 20);
  EXPECT_EQ(contents.db_options.bytes_per_sync, 8u << 20);
  EXPECT_EQ(contents.db_options.compaction_readahead_size, 2u);  // the number ends at the space
  EXPECT_NE(contents.db_options.statistics, nullptr);
  ASSERT_NE(contents.db_options.rate_limiter, nullptr);
  EXPECT_EQ(contents.db_options.rate_limiter->GetBytesPerSecond(), 100 << 20);
  const ColumnFamilyOptions& family = FamilyOf(contents, "default");
  EXPECT_EQ(family.compaction_style, kCompactionStyleFIFO);
  EXPECT_EQ(family.compaction_options_fifo.max_table_files_size, 1u);  // and at the point
  EXPECT_EQ(family.max_compaction_bytes, 0u);                          // and at the x
  EXPECT_EQ(family.write_buffer_size, 64u << 20);
  EXPECT_EQ(family.ttl, UINT64_MAX);
  const auto* table = family.table_factory->GetOptions<BlockBasedTableOptions>();
  EXPECT_EQ(table->block_size, 16u << 10);
  EXPECT_EQ(table->block_cache->GetCapacity(), 1u << 30);
}

TEST(OptionCorpus, OldNamesOfObjectsInAFile) {
  const OptionsFileContents contents =
      LoadFile(SourcePath("tests/data/options/program-ycsb_fifo.ini"));
  const ColumnFamilyOptions& table_family = FamilyOf(contents, "usertable");
  EXPECT_EQ(table_family.memtable_factory->CheckedCast<SkipListFactory>()->lookahead(), 16u);
  const auto* table = table_family.table_factory->GetOptions<BlockBasedTableOptions>();
  EXPECT_EQ(table->block_size, 16u << 10);
  EXPECT_EQ(table->block_cache->GetCapacity(), 64u << 20);
  ASSERT_EQ(table_family.table_properties_collector_factories.size(), 1u);
  const auto* collector = dynamic_cast<const CompactOnDeletionCollectorFactory*>(
      table_family.table_properties_collector_factories[0].get());
  ASSERT_NE(collector, nullptr);
  EXPECT_EQ(collector->GetWindowSize(), 1024u);
  EXPECT_EQ(collector->GetDeletionTrigger(), 100u);
  EXPECT_EQ(collector->GetDeletionRatio(), 0.5);
}

}  // namespace
}  // namespace ashlar
