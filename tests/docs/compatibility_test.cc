// SPDX-License-Identifier: Apache-2.0
//
// docs/compatibility.md says what is built. Options come from their tables; of calls, objects and
// properties it is tried; counters come from docs/statistics.md, which another test keeps true.
// tools_section_test.cc and listener_section_test.cc have the rest.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "ashlar/iostats_context.h"
#include "ashlar/perf_context.h"
#include "ashlar/statistics.h"
#include "db/options/option_table.h"
#include "tests/db/counter_walk.h"
#include "tests/docs/call_probes.h"
#include "tests/docs/header_text.h"
#include "tests/docs/page.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr char kSomeValues[] = "works for some values, others are refused";

// Headers of RocksDB 7.8 and 11.9 that were missing at first. One that is added needs no edit here.
constexpr const char* kHeadersOnceMissing[] = {
    "advanced_compression.h",
    "advanced_iterator.h",
    "blob_file_partition_strategy.h",
    "c.h",
    "cache_bench_tool.h",
    "db_bench_tool.h",
    "db_stress_tool.h",
    "env_encryption.h",
    "external_table.h",
    "index_factory.h",
    "io_dispatcher.h",
    "lazy_wide_columns.h",
    "persistent_cache.h",
    "point_lock_bench_tool.h",
    "table_reader_caller.h",
    "tool_hooks.h",
    "trace_record.h",
    "trace_record_result.h",
    "unique_id.h",
    "user_defined_index.h",
    "utilities/agg_merge.h",
    "utilities/customizable_util.h",
    "utilities/env_mirror.h",
    "utilities/info_log_finder.h",
    "utilities/ldb_cmd.h",
    "utilities/ldb_cmd_execute_result.h",
    "utilities/object_registry.h",
    "utilities/options_type.h",
    "utilities/replayer.h",
    "utilities/secondary_index.h",
    "utilities/secondary_index_faiss.h",
    "utilities/secondary_index_simple.h",
    "utilities/sim_cache.h",
    "utilities/sorted_run_builder.h",
    "utilities/types_util.h",
};

bool SaysNotBuilt(const std::string& comment) {
  static const std::regex words("NotSupported|[Nn]ot (yet )?built|[Nn]ull so far");
  return std::regex_search(comment, words);
}

std::string StateOf(const OptionInfo& facts) {
  switch (facts.support) {
    case Support::kHonoured:
      return facts.takes_effect == TakesEffect::kDynamic ? "works, also by SetOptions" : "works";
    case Support::kHint: return "hint";
    case Support::kDefaultOnly: return "refused";
    case Support::kSomeValues: return kSomeValues;
  }
  return "";
}

// What the header says of an object that only a program can give.
std::string StateOfMember(const DeclaredMember& member) {
  if (SaysNotBuilt(member.comment)) return kSomeValues;
  return member.comment.find("Ignored") != std::string::npos ? "hint" : "works";
}

// The rows of the table, and what `members` has besides. A name that means nothing as text may be a
// member that works: only programs set it.
std::string TextOfTable(OptionTable table, const std::vector<DeclaredMember>& members) {
  NamesByState names({"works, also by SetOptions", "works", kSomeValues, "hint", "refused"});
  for (const OptionRow& row : table) {
    const auto member = std::find_if(members.begin(), members.end(),
                                     [&](const auto& m) { return m.name == row.name(); });
    const bool is_text_only = row.parse != nullptr && row.print == nullptr &&
                              row.facts.support == Support::kHint && member != members.end();
    names.Add(is_text_only ? StateOfMember(*member) : StateOf(row.facts), row.name());
  }
  for (const DeclaredMember& member : members) {
    if (member.is_function || FindOption(table, member.name) != nullptr) continue;
    names.Add(StateOfMember(member), member.name);
  }
  return names.Text();
}

// "works" or "refused".
std::string StateOf(const Probe& probe) {
  Ground ground;
  const Status status = probe.run(ground);
  EXPECT_TRUE(status.ok() || status.IsNotSupported() || status.IsNotFound())
      << probe.name << ": " << status.ToString();
  return status.IsNotSupported() ? "refused" : "works";
}

std::string TextOfProbes(std::span<const Probe> probes) {
  NamesByState names = PlainStates();
  for (const Probe& probe : probes) names.Add(StateOf(probe), probe.name);
  return names.Text();
}

// What the comment above a member of ReadOptions and its like says.
std::string StateOfArgument(const DeclaredMember& member) {
  if (SaysNotBuilt(member.comment)) return "refused";
  static const std::regex hint("hint without effect|Ignored");
  return std::regex_search(member.comment, hint) ? "hint" : "works";
}

}  // namespace

TEST(Compatibility, OptionsAreWhatTheTablesSay) {
  const std::string header = TextOf("include/ashlar/options.h");
  ExpectSection("Options of the database",
                TextOfTable(DbOptionTable(), MembersOf(header, "struct DBOptions {")));
  ExpectSection("Options of a column family", TextOfTable(ColumnFamilyOptionTable(), {}));
  ExpectSection("Options of block-based tables", TextOfTable(BlockBasedOptionTable(), {}));
}

TEST(Compatibility, ArgumentsAreWhatTheHeaderAndTheCallsSay) {
  const std::string header = TextOf("include/ashlar/options.h");
  NamesByState names = PlainStates();
  std::set<std::string> said_refused, refused;
  for (const char* type : {"ReadOptions", "WriteOptions", "FlushOptions", "CompactRangeOptions"}) {
    for (const DeclaredMember& member : MembersOf(header, StrCat("struct ", type, " {"))) {
      if (member.is_function) continue;
      const std::string name = StrCat(type, "::", member.name);
      names.Add(StateOfArgument(member), name);
      if (StateOfArgument(member) == "refused") said_refused.insert(name);
    }
  }
  for (const Probe& probe : ArgumentProbes()) {
    if (StateOf(probe) == "refused") refused.insert(probe.name);
  }
  EXPECT_EQ(said_refused, refused) << "what include/ashlar/options.h says, what the calls do";
  ExpectSection("Options of single calls", names.Text());
}

// A program that includes one of these does not compile.
TEST(Compatibility, HeadersThatAreMissingAreNamed) {
  NamesByState names({"missing"});
  for (const char* header : kHeadersOnceMissing) {
    if (!std::filesystem::exists(SourcePath(StrCat("include/rocksdb/", header)))) {
      names.Add("missing", StrCat("<rocksdb/", header, ">"));
    }
  }
  ExpectSection("Headers of the drop-in", names.Text());
}

TEST(Compatibility, EveryMemberOfDbIsTriedAndItsHeaderSaysIfItIsRefused) {
  std::map<std::string, std::string> states;
  for (const Probe& probe : DbProbes()) states[probe.name] = StateOf(probe);
  std::set<std::string> declared;
  for (const DeclaredMember& member : MembersOf(TextOf("include/ashlar/db.h"), "class DB {")) {
    if (!member.is_function) continue;
    const std::string name = "DB::" + member.name;
    declared.insert(name);
    ASSERT_TRUE(states.contains(name)) << name << " has no probe in tests/docs/call_probes.cc";
    if (states[name] == "refused") {
      EXPECT_TRUE(SaysNotBuilt(member.comment))
          << name << ": include/ashlar/db.h reads as if built";
    } else {
      EXPECT_EQ(member.comment.find("NotSupported so far"), std::string::npos) << name;
    }
  }
  for (const auto& [name, state] : states) EXPECT_TRUE(declared.contains(name)) << name;
  ExpectSection("Calls of DB", TextOfProbes(DbProbes()));
}

TEST(Compatibility, FunctionsAndClassesBesideDb) {
  ExpectSection("Other calls", TextOfProbes(OtherProbes()));
}

TEST(Compatibility, CopiesOfDatabases) {
  ExpectSection("Copies of databases", TextOfProbes(CopyProbes()));
}

TEST(Compatibility, ObjectsGivenAsOptions) {
  ExpectSection("Objects given as options", TextOfProbes(ObjectProbes()));
}

TEST(Compatibility, PropertiesAreAsked) {
  Ground ground;
  ground.options.statistics = CreateDBStatistics();
  ground.options.blob_cache = NewLRUCache(1 << 20);
  // Only the tables of FIFO compaction have an age.
  ground.options.compaction_style = kCompactionStyleFIFO;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(ground.options, "/counted", &db));
  ASSERT_OK(db->Put(WriteOptions(), "k", "v"));
  NamesByState names({"works", "refused"});
  const auto ask = [&](const std::string& name) {
    const bool takes_level = name.ends_with("at-level") || name.ends_with("at-temperature");
    const std::string asked = takes_level ? name + "0" : name;
    std::string text;
    std::map<std::string, std::string> map;
    const bool is_known = db->GetProperty(asked, &text) || db->GetMapProperty(asked, &map);
    names.Add(is_known ? "works" : "refused", takes_level ? name + "<N>" : name);
  };
  const std::regex quoted("\"((?:rocksdb|ashlar)\\.[a-z0-9.-]+)\"");
  for (const char* file : {"db/api/names.cc", "db/report/properties.cc"}) {
    const std::string text = TextOf(file);
    for (std::sregex_iterator it(text.begin(), text.end(), quoted), end; it != end; ++it) {
      ask((*it)[1]);
    }
  }
  ExpectSection("Properties", names.Text());
}

TEST(Compatibility, CountersAreThoseOfTheStatisticsPage) {
  const std::vector<std::string> never = ListedUnder("Not counted, and why");
  NamesByState names({"tickers that count", "tickers that stay 0", "histograms that count",
                      "histograms that stay 0", "perf counters that count",
                      "perf counters that stay 0", "I/O counters that count",
                      "I/O counters that stay 0"});
  const auto add = [&](const std::string& kind, const std::string& name) {
    const bool is_listed = std::any_of(
        never.begin(), never.end(), [&](const std::string& row) { return name.starts_with(row); });
    names.Add(StrCat(kind, is_listed ? " that stay 0" : " that count"), name);
  };
  for (const auto& [ticker, name] : TickersNameMap) add("tickers", name);
  for (const auto& [histogram, name] : HistogramsNameMap) add("histograms", name);
  for (const auto& [name, value] : CountersIn(get_perf_context()->ToString())) {
    add("perf counters", name);
  }
  for (const auto& [name, value] : CountersIn(get_iostats_context()->ToString())) {
    add("I/O counters", name);
  }
  ExpectSection("Counters", names.Text());
}

// A class or function that is refused is said to be in the header that declares it.
TEST(Compatibility, HeadersOfWhatIsRefusedSaySo) {
  const std::map<std::string, const char*> headers = {
      {"Checkpoint", "utilities/checkpoint.h"},
      {"CheckpointEngine", "utilities/checkpoint.h"},
      {"DBWithTTL", "utilities/db_ttl.h"},
      {"OptimisticTransactionDB", "utilities/optimistic_transaction_db.h"},
      {"TransactionDB", "utilities/transaction_db.h"},
      {"SstFileReader", "sst_file_reader.h"},
      {"SstFileWriter", "sst_file_writer.h"},
      {"RepairDB", "db.h"},
      {"OptionChangeMigration", "utilities/option_change_migration.h"},
      {"NewFileTraceWriter", "trace_reader_writer.h"},
      {"NewFileTraceReader", "trace_reader_writer.h"},
      {"NewCompressedSecondaryCache", "cache.h"},
      {"NewTieredCache", "cache.h"},
      {"UpdateTieredCache", "cache.h"},
      {"NewRangeLockManager", "utilities/transaction_db.h"},
      {"NewPersistentCache", "persistent_cache.h"},
      {"Env", "env.h"},
      {"DbDumpTool", "db_dump_tool.h"},
      {"DbUndumpTool", "db_dump_tool.h"},
  };
  for (const std::span<const Probe> probes : {OtherProbes(), CopyProbes()}) {
    for (const Probe& probe : probes) {
      if (StateOf(probe) != "refused") continue;
      const std::string name = probe.name;
      const auto header = headers.find(name.substr(0, name.find("::")));
      ASSERT_NE(header, headers.end()) << name << ": which header?";
      EXPECT_TRUE(SaysNotBuilt(TextOf(StrCat("include/ashlar/", header->second)))) << name;
    }
  }
}

}  // namespace ashlar
