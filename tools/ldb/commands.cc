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
       .flags = {"db_paths"}, .min_arguments = 1, .max_arguments = 1, .run = &RunGet},
      {.name = "explain", .usage = "--key=<key> | --seek=<key> | --seek_for_prev=<key>",
       .summary = "read, and print each place that was looked at, with what it cost",
       .details = "Memtables, then tables, newest first: answers of filters, where blocks came from,\n"
                  "range tombstones, merge operands, entries skipped. --key reads one key, --seek\n"
                  "looks for the first key at or after it, --seek_for_prev for the last one at or\n"
                  "before it.",
       .flags = {"key", "seek", "seek_for_prev", "db_paths"}, .run = &RunExplain},
      {.name = "put", .usage = "<key> <value> [--create_if_missing]", .summary = "store a value",
       .details = "The database keeps its options: they are read from its OPTIONS file.",
       .flags = WithOpenFlags(), .min_arguments = 2, .max_arguments = 2, .run = &RunPut},
      {.name = "delete", .usage = "<key>", .summary = "delete a key",
       .details = "Deleting what is not there is no error.",
       .flags = WithOpenFlags(), .min_arguments = 1, .max_arguments = 1, .run = &RunDelete},
      {.name = "singledelete", .usage = "<key>", .summary = "delete a key that was put once",
       .details = "The tombstone goes together with the value. Of a key that was put more often, or\n"
                  "merged, an older value may show again.",
       .flags = WithOpenFlags(), .min_arguments = 1, .max_arguments = 1, .run = &RunSingleDelete},
      {.name = "multi_get", .usage = "<key> [<key>] ..", .summary = "print \"key ==> value\" for several keys",
       .details = "Keys that are not there are named on stderr, and the exit code is 1 then.",
       .flags = {"db_paths"}, .min_arguments = 1, .max_arguments = kAnyNumber, .run = &RunMultiGet},
      {.name = "deleterange", .usage = "<begin key> <end key>",
       .summary = "delete all keys from the first one on and before the second one",
       .flags = WithOpenFlags(), .min_arguments = 2, .max_arguments = 2, .run = &RunDeleteRange},
      {.name = "load", .usage = "[--create_if_missing] [--disable_wal] [--bulk_load] [--compact]",
       .summary = "store \"key ==> value\" lines from standard input",
       .details = "What dump prints can be read; other lines are counted and left out. --bulk_load puts\n"
                  "compactions off meanwhile, --compact ends with one of everything.",
       .flags = WithOpenFlags({"disable_wal", "bulk_load", "compact"}), .run = &RunLoad},
      {.name = "batchput", .usage = "<key> <value> [<key> <value>] .. [--create_if_missing]",
       .summary = "store several values, all or none of them",
       .flags = WithOpenFlags(), .min_arguments = 2, .max_arguments = kAnyNumber,
       .run = &RunBatchPut},
      {.name = "query", .usage = "[--create_if_missing]",
       .summary = "read commands from standard input: get, put, delete",
       .details = "A line each; help lists them, quit or the end of the input ends it.",
       .flags = WithOpenFlags(), .run = &RunQuery},
  };
}

// Ranges of keys, and facts about all of them.
std::vector<LdbCommand> MakeRangeCommands() {
  return {
      {.name = "scan", .usage = "[--from=<key>] [--to=<key>] [--max_keys=<n>] [--no_value]",
       .summary = "print \"key : value\" for a range of keys",
       .details = "--from is inclusive, --to is not. Keys come in the order of the family's comparator.",
       .flags = {"from", "to", "max_keys", "no_value", "db_paths"}, .run = &RunScan},
      {.name = "dump",
       .usage = "[--from=<key>] [--to=<key>] [--max_keys=<n>] [--count_only] [--count_delim=<char>] "
                "[--stats] | --path=<file> [--decode_blob_index] [--dump_uncompressed_blobs]",
       .summary = "print \"key ==> value\" for a range of keys, and their number",
       .details = "--count_only prints their number and the sizes of values, --count_delim=<char> a line for\n"
                  "keys that are alike before the first such character ('.' if none is given).\n"
                  "--path=<file> prints a table, blob file, log or MANIFEST by itself, without --db: with\n"
                  "--decode_blob_index what references to blobs say, with --dump_uncompressed_blobs all values.",
       .flags = {"from", "to", "max_keys", "count_only", "count_delim", "stats", "path", "decode_blob_index",
                 "dump_uncompressed_blobs", "db_paths"},
       .needs_db = false, .run = &RunDump},
      {.name = "idump",
       .usage = "[--from=<key>] [--to=<key>] [--max_keys=<n>] [--count_only] [--count_delim=<char>] "
                "[--stats] [--decode_blob_index]",
       .summary = "print every stored version of a range of keys, deletes included",
       .details = "A line is 'key' seq:<sequence number>, type:<kind> => value. Kinds: 0 delete,\n"
                  "1 put, 2 merge, 7 single delete, 17 reference to a blob file. --input_key_hex:\n"
                  "--from and --to are hexadecimal.",
       .flags = {"from", "to", "max_keys", "count_only", "count_delim", "stats", "input_key_hex", "decode_blob_index", "db_paths"},
       .run = &RunIdump},
      {.name = "approxsize", .usage = "--from=<key> --to=<key>",
       .summary = "estimate the bytes of table files that hold a range",
       .flags = {"from", "to", "db_paths"}, .run = &RunApproxSize},
      {.name = "checkconsistency", .usage = "",
       .summary = "check that the live files are what the MANIFEST says",
       .details = "Sizes of tables, blob files and logs, order of levels, and that every table can be opened:\n"
                  "its index and filter are read. The blocks inside are checked by\n"
                  "sst_dump --file=<db> --command=verify.",
       .flags = {"db_paths"}, .run = &RunCheckConsistency},
      {.name = "get_property", .usage = "<name>",
       .summary = "print a property, for instance rocksdb.stats or rocksdb.estimate-num-keys",
       .flags = {"db_paths"}, .min_arguments = 1, .max_arguments = 1, .run = &RunGetProperty},
  };
}

std::vector<LdbCommand> MakeColumnCommands() {
  return {
      {.name = "get_entity", .usage = "<key>",
       .summary = "print the columns of a key as \"name:value name:value\"",
       .details = "A plain value is one column without a name. --value_hex: hexadecimal digits.",
       .flags = {"db_paths"}, .min_arguments = 1, .max_arguments = 1, .run = &RunGetEntity},
      {.name = "multi_get_entity", .usage = "<key> [<key>] ..",
       .summary = "print \"key ==> name:value name:value\" for several keys",
       .details = "As multi_get.",
       .flags = {"db_paths"}, .min_arguments = 1, .max_arguments = kAnyNumber, .run = &RunMultiGetEntity},
      {.name = "put_entity",
       .usage = "<key> <column>:<value> [<column>:<value>] .. [--create_if_missing]",
       .summary = "store columns",
       .details = "\":<value>\" is the default column, which get prints.",
       .flags = WithOpenFlags(), .min_arguments = 2, .max_arguments = kAnyNumber,
       .run = &RunPutEntity},
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
      {.name = "reduce_levels", .usage = "--new_levels=<number> [--print_old_levels]",
       .summary = "compact a family into fewer levels, so that it can be opened with num_levels so small",
       .details = "The option itself is not changed. Nothing is done where no deeper level has files.",
       .flags = WithOpenFlags({"new_levels", "print_old_levels"}), .run = &RunReduceLevels},
      {.name = "change_compaction_style",
       .usage = "--old_compaction_style=<0|1> --new_compaction_style=<0|1>",
       .summary = "make a family fit for another style of compaction: 0 levels, 1 universal",
       .details = "From levels to universal: everything becomes one file in level 0. The other way there is\n"
                  "nothing to do, which is said with exit code 1. The option itself is not changed.",
       .flags = WithOpenFlags({"old_compaction_style", "new_compaction_style"}),
       .run = &RunChangeCompactionStyle},
      {.name = "checkpoint", .usage = "--checkpoint_dir=<new directory>",
       .summary = "make a copy that can be opened by itself; tables are linked, not copied",
       .flags = WithOpenFlags({"checkpoint_dir"}), .run = &RunCheckpoint},
      {.name = "write_extern_sst", .usage = "<new table>",
       .summary = "make a table of \"key ==> value\" lines from standard input, in order",
       .details = "With the options, the comparator and the family of the database, for\n"
                  "ingest_extern_sst. What dump prints can be read.",
       .flags = WithOpenFlags(), .min_arguments = 1, .max_arguments = 1,
       .run = &RunWriteExternSst},
      {.name = "ingest_extern_sst", .usage = "<table> [--move_files] [--allow_global_seqno=false] ..",
       .summary = "take a table that was made outside into the database",
       .details = "--snapshot_consistency, --allow_global_seqno and --allow_blocking_flush are on,\n"
                  "--move_files, --ingest_behind and --write_global_seqno are off.",
       .flags = WithOpenFlags({"move_files", "snapshot_consistency", "allow_global_seqno",
                               "allow_blocking_flush", "ingest_behind", "write_global_seqno"}),
       .min_arguments = 1, .max_arguments = 1, .run = &RunIngestExternSst},
  };
}

// Those that look at files, or work on them without opening the database.
std::vector<LdbCommand> MakeFileCommands() {
  return {
      {.name = "manifest_dump", .usage = "[--verbose] [--path=<MANIFEST file>]",
       .summary = "print families, live files and counters of a MANIFEST",
       .details = "Without --path, of the one that CURRENT names, or without CURRENT of the newest one.\n"
                  "--verbose prints every version edit first. --hex prints keys as hexadecimal digits.\n"
                  "Of a damaged MANIFEST what comes before the damage is printed; the exit code is 1.",
       .flags = {"verbose", "path"}, .needs_db = false, .run = &RunManifestDump},
      {.name = "dump_wal", .usage = "--walfile=<log file> [--header] [--print_value]",
       .summary = "print the write batches of a WAL, one a line",
       .details = "A line is sequence number, number of entries, bytes, offset in the file, then each\n"
                  "entry with its column family id, as PUT(0) : <key>, in hexadecimal.",
       .flags = {"walfile", "header", "print_value"}, .needs_db = false, .run = &RunDumpWal},
      {.name = "dump_live_files", .usage = "[--decode_blob_index] [--dump_uncompressed_blobs]",
       .summary = "print the MANIFEST, all live tables and blob files and all needed WALs in full",
       .flags = {"decode_blob_index", "dump_uncompressed_blobs", "db_paths"},
       .run = &RunDumpLiveFiles},
      {.name = "report", .usage = "[--output=<file>]",
       .summary = "draw the tree as a page of HTML: levels, space, tombstones, amplification, ages",
       .details = "Without --output it is <db>_report.html. The database is not opened, so it may be in use.\n"
                  "What was written is read from the info logs, as far as they reach.",
       .flags = {"output", "db_paths"}, .run = &RunReport},
      {.name = "list_live_files_metadata", .usage = "[--sort_by_filename]",
       .summary = "print the paths of all live tables, with family and level",
       .flags = {"sort_by_filename", "db_paths"}, .run = &RunListLiveFiles},
      {.name = "list_file_range_deletes", .usage = "[--max_keys=<n>]",
       .summary = "print the range tombstones of all tables of a family, newest tables first",
       .details = "Keys are hexadecimal digits. What is still in the log is not shown; dump_wal shows it.",
       .flags = {"max_keys", "db_paths"}, .run = &RunListFileRangeDeletes},
      {.name = "file_checksum_dump", .usage = "[--path=<MANIFEST file>]",
       .summary = "print number, function and checksum of every live file, as the MANIFEST has them",
       .details = "\"Unknown\" where a file was written without Options::file_checksum_gen_factory.\n"
                  "--hex prints checksums as hexadecimal digits. The files are not read.",
       .flags = {"path"}, .needs_db = false, .run = &RunFileChecksumDump},
      {.name = "unsafe_remove_sst_file", .usage = "<number of a table>",
       .summary = "take a table out of the database without reading it",
       .details = "For a table that is damaged or lost. What was in it is gone, and older versions of its\n"
                  "keys, and keys that it deleted, show again. The database must not be open elsewhere.\n"
                  "list_live_files_metadata shows the numbers; the next open deletes the file.",
       .min_arguments = 1, .max_arguments = 1, .run = &RunUnsafeRemoveSstFile},
  };
}
// clang-format on

Result<std::string> FromText(const std::string& text, bool is_hex) {
  if (!is_hex) return text;
  return ParseHexText(text);
}

std::vector<LdbCommand> Joined(std::vector<LdbCommand> some, const std::vector<LdbCommand>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

std::string ToText(const Slice& bytes, bool is_hex) {
  return is_hex ? HexText(bytes) : bytes.ToString();
}

}  // namespace

std::span<const LdbCommand> DataCommands() {
  static const auto commands =
      Joined(Joined(MakeDataCommands(), MakeRangeCommands()), MakeColumnCommands());
  return commands;
}

std::span<const LdbCommand> AdminCommands() {
  static const auto commands = Joined(MakeAdminCommands(), MakeFileCommands());
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
