// SPDX-License-Identifier: Apache-2.0
//
// The tools' part of docs/compatibility.md, from what their --help prints: commands, and the flags
// of each. Any other flag is refused by name, which the tests of the tools hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include "tests/docs/page.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/support/skip.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The flags of RocksDB 7.8's tools, as their --help lists them.
constexpr const char* kFlagsOfRocksDbLdb[] = {"--allow_blocking_flush",
                                              "--allow_global_seqno",
                                              "--auto_compaction",
                                              "--backup_dir",
                                              "--backup_env_uri",
                                              "--backup_fs_uri",
                                              "--blob_compaction_readahead_size",
                                              "--blob_compression_type",
                                              "--blob_file_size",
                                              "--blob_garbage_collection_age_cutoff",
                                              "--blob_garbage_collection_force_threshold",
                                              "--block_size",
                                              "--bloom_bits",
                                              "--bucket",
                                              "--bulk_load",
                                              "--checkpoint_dir",
                                              "--column_family",
                                              "--compact",
                                              "--compression_max_dict_bytes",
                                              "--compression_type",
                                              "--count_delim",
                                              "--count_only",
                                              "--create_if_missing",
                                              "--db",
                                              "--db_write_buffer_size",
                                              "--decode_blob_index",
                                              "--disable_consistency_checks",
                                              "--disable_wal",
                                              "--dump_uncompressed_blobs",
                                              "--enable_blob_files",
                                              "--enable_blob_garbage_collection",
                                              "--end_time",
                                              "--env_uri",
                                              "--file_size",
                                              "--fix_prefix_len",
                                              "--from",
                                              "--fs_uri",
                                              "--header",
                                              "--hex",
                                              "--ignore_unknown_options",
                                              "--ingest_behind",
                                              "--input_key_hex",
                                              "--json",
                                              "--key_hex",
                                              "--max_keys",
                                              "--min_blob_size",
                                              "--move_files",
                                              "--new_compaction_style",
                                              "--new_levels",
                                              "--no_value",
                                              "--num_threads",
                                              "--old_compaction_style",
                                              "--path",
                                              "--print_old_levels",
                                              "--print_value",
                                              "--secondary_path",
                                              "--snapshot_consistency",
                                              "--sort_by_filename",
                                              "--start_time",
                                              "--stats",
                                              "--stderr_log_level",
                                              "--timestamp",
                                              "--to",
                                              "--try_load_options",
                                              "--ttl",
                                              "--update_temperatures",
                                              "--value_hex",
                                              "--verbose",
                                              "--walfile",
                                              "--write_buffer_size",
                                              "--write_committed",
                                              "--write_global_seqno"};
constexpr const char* kFlagsOfRocksDbSstDump[] = {"--command",
                                                  "--compression_level_from",
                                                  "--compression_level_to",
                                                  "--compression_max_dict_buffer_bytes",
                                                  "--compression_max_dict_bytes",
                                                  "--compression_types",
                                                  "--compression_use_zstd_finalize_dict",
                                                  "--compression_zstd_max_train_bytes",
                                                  "--decode_blob_index",
                                                  "--env_uri",
                                                  "--file",
                                                  "--from",
                                                  "--fs_uri",
                                                  "--input_key_hex",
                                                  "--output_hex",
                                                  "--parse_internal_key",
                                                  "--prefix",
                                                  "--read_num",
                                                  "--set_block_size",
                                                  "--show_properties",
                                                  "--to",
                                                  "--verify_checksum"};

// Those that none of our help texts has.
void AddMissing(std::span<const char* const> flags, const std::string& help, NamesByState* names) {
  for (const std::string flag : flags) {
    if (!std::regex_search(help, std::regex(flag + "\\b"))) names->Add("refused flags", flag);
  }
}

bool IsBuilt(const std::string& tool) { return std::filesystem::exists(BuildPath(tool)); }

std::string HelpOf(const std::string& tool, const std::string& arguments) {
  const std::string text = RunCommand(StrCat(BuildPath(tool), " ", arguments));
  EXPECT_FALSE(text.empty()) << tool;
  return text;
}

// The first group of every match.
std::vector<std::string> All(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it) {
    found.push_back((*it)[1]);
  }
  EXPECT_FALSE(found.empty()) << pattern;
  return found;
}

std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  EXPECT_NE(from, std::string::npos) << begin;
  return text.substr(from, text.find(end, from) - from);
}

// A command with the flags of its own: those that all commands that write share stand apart.
std::string CommandWithFlags(const std::string& name, const std::vector<std::string>& shared) {
  const std::string help = HelpOf("ldb", name + " --help");
  if (help.find("\nFlags:") == std::string::npos) return name;
  std::string entry = name;
  for (const std::string& flag : All(Between(help, "\nFlags:", "\f"), "(--\\w+)")) {
    if (std::find(shared.begin(), shared.end(), flag) == shared.end()) StrAppend(&entry, " ", flag);
  }
  return entry;
}

std::string LdbSection() {
  const std::string help = HelpOf("ldb", "--help");
  const std::vector<std::string> everywhere =
      All(Between(help, "Flags of all", "\nData:"), "(--\\w+)");
  const std::vector<std::string> writing =
      All(Between(help, "Flags of commands that write", "\nRead commands"), "(--\\w+)");
  NamesByState names({"works", "refused", "flags of all commands", "flags of commands that write",
                      "refused flags"});
  const std::string commands = Between(help, "\nData:", "\nFlags of commands that write");
  std::string all_help = help;
  for (const std::string& name : All(commands, "\n  ([a-z]\\w*)[^\n]*\n      ")) {
    names.Add("works", CommandWithFlags(name, writing));
    all_help += HelpOf("ldb", name + " --help");
  }
  for (const std::string& flag : everywhere) names.Add("flags of all commands", flag);
  for (const std::string& flag : writing) names.Add("flags of commands that write", flag);
  AddMissing(kFlagsOfRocksDbLdb, all_help, &names);
  return names.Text();
}

std::string SstDumpSection() {
  const std::string help = HelpOf("sst_dump", "--help");
  const size_t commands = help.find("\nCommands:"), flags = help.find("\nFlags:");
  NamesByState names({"commands that work", "flags that work", "refused flags"});
  for (const std::string& name : All(help.substr(commands, flags - commands), "\n  ([a-z]\\w*) ")) {
    names.Add("commands that work", "--command=" + name);
  }
  for (const std::string& line : All(help.substr(flags), "\n  (--[^\n]*)")) {
    names.Add("flags that work", All(line, "(--\\w+)")[0]);
  }
  AddMissing(kFlagsOfRocksDbSstDump, help, &names);
  if (help.find("\n  recompress") == std::string::npos) {
    names.Add("refused flags", "--command=recompress");
  }
  return names.Text();
}

std::string DbBenchSection() {
  NamesByState names({"flags that work"});
  for (const std::string& flag :
       All(HelpOf("db_bench", "--helpmatch=tools/db_bench"), "\n    -(\\w+) \\(")) {
    names.Add("flags that work", "--" + flag);
  }
  return names.Text();
}

}  // namespace

TEST(CompatibilityOfTools, Ldb) {
  if (!IsBuilt("ldb")) return SkipAsImpossible("ldb is not part of this build");
  ExpectSection("ldb", LdbSection());
}

TEST(CompatibilityOfTools, SstDump) {
  if (!IsBuilt("sst_dump")) return SkipAsImpossible("sst_dump is not part of this build");
  ExpectSection("sst_dump", SstDumpSection());
}

TEST(CompatibilityOfTools, DbBench) {
  if (!IsBuilt("db_bench")) return SkipAsImpossible("db_bench is not part of this build");
  ExpectSection("db_bench", DbBenchSection());
}

}  // namespace ashlar
