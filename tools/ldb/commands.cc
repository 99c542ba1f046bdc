// SPDX-License-Identifier: Apache-2.0
//
// The command table, and what all commands share of their arguments.
#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/key_text.h"

namespace ashlar {
namespace {

constexpr size_t kAnyNumber = SIZE_MAX;

// The flags of OpenForWriting() and some more.
std::vector<std::string_view> WithOpenFlags(std::vector<std::string_view> flags = {}) {
  flags.insert(flags.end(), OpenFlags().begin(), OpenFlags().end());
  return flags;
}

// clang-format off
std::vector<LdbCommand> MakeDataCommands() {
  return {
      {.name = "get", .usage = "<key>", .summary = "print the value of a key",
       .details = "Exits with 1 if the key is not there.",
       .min_arguments = 1, .max_arguments = 1, .run = &RunGet},
      {.name = "explain", .usage = "--key=<key> | --seek=<key> | --seek_for_prev=<key>",
       .summary = "read, and print each place that was looked at, with what it cost",
       .details = "Memtables, then tables, newest first: answers of filters, where blocks came from,\n"
                  "range tombstones, merge operands, entries skipped. --key reads one key, --seek\n"
                  "looks for the first key at or after it, --seek_for_prev for the last one at or\n"
                  "before it.",
       .flags = {"key", "seek", "seek_for_prev"}, .run = &RunExplain},
      {.name = "put", .usage = "<key> <value> [--create_if_missing]", .summary = "store a value",
       .details = "The database keeps its options: they are read from its OPTIONS file.",
       .flags = WithOpenFlags(), .min_arguments = 2, .max_arguments = 2, .run = &RunPut},
      {.name = "delete", .usage = "<key>", .summary = "delete a key",
       .details = "Deleting what is not there is no error.",
       .flags = WithOpenFlags(), .min_arguments = 1, .max_arguments = 1, .run = &RunDelete},
      {.name = "batchput", .usage = "<key> <value> [<key> <value>] .. [--create_if_missing]",
       .summary = "store several values, all or none of them",
       .flags = WithOpenFlags(), .min_arguments = 2, .max_arguments = kAnyNumber,
       .run = &RunBatchPut},
      {.name = "scan", .usage = "[--from=<key>] [--to=<key>] [--max_keys=<n>] [--no_value]",
       .summary = "print \"key : value\" for a range of keys",
       .details = "--from is inclusive, --to is not. Keys come in the order of the family's comparator.",
       .flags = {"from", "to", "max_keys", "no_value"}, .run = &RunScan},
      {.name = "dump",
       .usage = "[--from=<key>] [--to=<key>] [--max_keys=<n>] [--count_only] [--stats]",
       .summary = "print \"key ==> value\" for a range of keys, and their number",
       .flags = {"from", "to", "max_keys", "count_only", "stats"}, .run = &RunDump},
      {.name = "idump",
       .usage = "[--from=<key>] [--to=<key>] [--max_keys=<n>] [--count_only] [--stats]",
       .summary = "print every stored version of a range of keys, deletes included",
       .details = "A line is 'key' seq:<sequence number>, type:<kind> => value. Kinds: 0 delete,\n"
                  "1 put, 2 merge, 7 single delete, 17 reference to a blob file. --input_key_hex:\n"
                  "--from and --to are hexadecimal.",
       .flags = {"from", "to", "max_keys", "count_only", "stats", "input_key_hex"},
       .run = &RunIdump},
      {.name = "approxsize", .usage = "--from=<key> --to=<key>",
       .summary = "estimate the bytes of table files that hold a range",
       .flags = {"from", "to"}, .run = &RunApproxSize},
      {.name = "checkconsistency", .usage = "",
       .summary = "check that the live files are what the MANIFEST says",
       .details = "Sizes, order of levels, and that every table can be opened. The blocks inside are\n"
                  "checked by sst_dump --file=<db> --command=verify.",
       .run = &RunCheckConsistency},
      {.name = "get_property", .usage = "<name>",
       .summary = "print a property, for instance rocksdb.stats or rocksdb.estimate-num-keys",
       .min_arguments = 1, .max_arguments = 1, .run = &RunGetProperty},
  };
}

std::vector<LdbCommand> MakeAdminCommands() {
  return {
      {.name = "list_column_families", .usage = "", .summary = "print the names of all families",
       .run = &RunListFamilies},
      {.name = "create_column_family", .usage = "<name>", .summary = "add an empty family",
       .flags = WithOpenFlags(), .min_arguments = 1, .max_arguments = 1, .run = &RunCreateFamily},
      {.name = "drop_column_family", .usage = "<name>",
       .summary = "drop a family and all of its data",
       .flags = WithOpenFlags(), .min_arguments = 1, .max_arguments = 1, .run = &RunDropFamily},
      {.name = "compact", .usage = "[--from=<key>] [--to=<key>]",
       .summary = "compact a range, or all of a family",
       .flags = WithOpenFlags({"from", "to"}), .run = &RunCompact},
      {.name = "manifest_dump", .usage = "[--verbose] [--path=<MANIFEST file>]",
       .summary = "print families, live files and counters of a MANIFEST",
       .details = "Without --path, of the one that CURRENT names. --verbose prints every version edit\n"
                  "first. --hex prints keys as hexadecimal digits.",
       .flags = {"verbose", "path"}, .needs_db = false, .run = &RunManifestDump},
      {.name = "dump_wal", .usage = "--walfile=<log file> [--header] [--print_value]",
       .summary = "print the write batches of a WAL, one a line",
       .details = "A line is sequence number, number of entries, bytes, offset in the file, then each\n"
                  "entry with its column family id, as PUT(0) : <key>, in hexadecimal.",
       .flags = {"walfile", "header", "print_value"}, .needs_db = false, .run = &RunDumpWal},
      {.name = "dump_live_files", .usage = "",
       .summary = "print the MANIFEST, all live tables and all needed WALs in full",
       .run = &RunDumpLiveFiles},
  };
}
// clang-format on

Result<std::string> FromText(const std::string& text, bool is_hex) {
  if (!is_hex) return text;
  return ParseHexText(text);
}

std::string ToText(const Slice& bytes, bool is_hex) {
  return is_hex ? HexText(bytes) : bytes.ToString();
}

}  // namespace

std::span<const LdbCommand> DataCommands() {
  static const std::vector<LdbCommand> commands = MakeDataCommands();
  return commands;
}

std::span<const LdbCommand> AdminCommands() {
  static const std::vector<LdbCommand> commands = MakeAdminCommands();
  return commands;
}

Result<std::string> Invocation::KeyFrom(const std::string& text) const {
  return FromText(text, hex_keys);
}
Result<std::string> Invocation::ValueFrom(const std::string& text) const {
  return FromText(text, hex_values);
}
std::string Invocation::KeyText(const Slice& key) const { return ToText(key, hex_keys); }
std::string Invocation::ValueText(const Slice& value) const { return ToText(value, hex_values); }

}  // namespace ashlar
