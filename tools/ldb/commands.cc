// SPDX-License-Identifier: Apache-2.0
//
// The command table, and the conversions between arguments and bytes that all commands share.
#include <algorithm>

#include "tools/ldb/command.h"
#include "tools/ldb/option_flags.h"
#include "tools/lib/key_text.h"
#include "tools/lib/program_parts.h"

namespace ashlar {
namespace {

constexpr size_t kAnyNumber = SIZE_MAX;

// The flags of OpenForWriting(), and `flags`.
std::vector<std::string_view> WithOpenFlags(std::vector<std::string_view> flags = {}) {
  flags.insert(flags.end(), OpenFlags().begin(), OpenFlags().end());
  return flags;
}

// clang-format off
// Commands that read and write single keys.
std::vector<LdbCommand> MakeDataCommands() {
  return {
      {.name = "get", .usage = "<key>", .summary = "print the value of a key",
       .details = "The exit code is 1 if there is no such key.",
       .flags = {"db_paths", "read_timestamp"}, .min_arguments = 1, .max_arguments = 1, .run = &RunGet},
      {.name = "explain", .usage = "--key=<key> | --seek=<key> | --seek_for_prev=<key>",
       .summary = "read a key and print each place that was searched, with its cost",
       .details = "Memtables, then tables, newest first: filter results, the sources of blocks, range\n"
                  "tombstones, merge operands, entries skipped. --key reads one key, --seek finds the\n"
                  "first key at or after the given one, --seek_for_prev the last one at or before it.",
       .flags = {"key", "seek", "seek_for_prev", "db_paths", "read_timestamp"}, .run = &RunExplain},
      {.name = "put", .usage = "<key> <value> [--create_if_missing]", .summary = "store a value",
       .details = "The database keeps its options: they are read from its OPTIONS file.",
       .flags = WithOpenFlags(), .min_arguments = 2, .max_arguments = 2, .run = &RunPut},
      {.name = "delete", .usage = "<key>", .summary = "delete a key",
       .details = "Deleting a key that does not exist is not an error.",
       .flags = WithOpenFlags(), .min_arguments = 1, .max_arguments = 1, .run = &RunDelete},
      {.name = "singledelete", .usage = "<key>", .summary = "delete a key that was put once",
       .details = "Compaction removes the tombstone together with the value. If the key was put more\n"
                  "than once, or merged, an older value may become visible again.",
       .flags = WithOpenFlags(), .min_arguments = 1, .max_arguments = 1, .run = &RunSingleDelete},
      {.name = "multi_get", .usage = "<key> [<key>] ..", .summary = "print \"key ==> value\" for several keys",
       .details = "Keys that do not exist are printed on stderr, and then the exit code is 1.",
       .flags = {"db_paths", "read_timestamp"}, .min_arguments = 1, .max_arguments = kAnyNumber, .run = &RunMultiGet},
      {.name = "deleterange", .usage = "<begin key> <end key>",
       .summary = "delete all keys from the first one on and before the second one",
       .flags = WithOpenFlags(), .min_arguments = 2, .max_arguments = 2, .run = &RunDeleteRange},
      {.name = "load", .usage = "[--create_if_missing] [--disable_wal] [--bulk_load] [--compact]",
       .summary = "store \"key ==> value\" lines from standard input",
       .details = "The input is the output of dump; other lines are counted and ignored. --bulk_load\n"
                  "turns compactions off meanwhile, --compact compacts everything at the end.",
       .flags = WithOpenFlags({"disable_wal", "bulk_load", "compact"}), .run = &RunLoad},
      {.name = "batchput", .usage = "<key> <value> [<key> <value>] .. [--create_if_missing]",
       .summary = "store several values, all or none of them",
       .flags = WithOpenFlags(), .min_arguments = 2, .max_arguments = kAnyNumber,
       .run = &RunBatchPut},
      {.name = "query", .usage = "[--create_if_missing]",
       .summary = "read commands from standard input: get, put, delete",
       .details = "One command a line; help lists them, quit or the end of the input ends the session.",
       .flags = WithOpenFlags(), .run = &RunQuery},
  };
}

// Commands on ranges of keys and on the whole database that change nothing.
std::vector<LdbCommand> MakeRangeCommands() {
  return {
      {.name = "scan",
       .usage = "[--from=<key>] [--to=<key>] [--max_keys=<n>] [--no_value] [--ttl [--timestamp] "
                "[--start_time=<seconds>] [--end_time=<seconds>]]",
       .summary = "print \"key : value\" for a range of keys",
       .details = "--from is inclusive, --to is not. Keys come in the order of the family's comparator.\n"
                  "--timestamp prints the time of each write; --start_time (inclusive) and --end_time\n"
                  "(not inclusive), seconds since 1970, choose by it.",
       .flags = {"from", "to", "max_keys", "no_value", "timestamp", "start_time", "end_time", "db_paths",
                 "read_timestamp"},
       .run = &RunScan},
      {.name = "dump",
       .usage = "[--from=<key>] [--to=<key>] [--max_keys=<n>] [--count_only] [--count_delim=<char>] "
                "[--stats] [--ttl [--timestamp] [--bucket=<seconds>] [--start_time=<seconds>] "
                "[--end_time=<seconds>]] | --path=<file> [--decode_blob_index] "
                "[--dump_uncompressed_blobs]",
       .summary = "print \"key ==> value\" for a range of keys, and their number",
       .details = "--count_only prints the number of keys and the sizes of values. --count_delim=<char>\n"
                  "prints one line for all keys with the same part before the first such character ('.'\n"
                  "if none is given). --path=<file> prints one table, blob file, log or MANIFEST, without\n"
                  "--db; --decode_blob_index decodes references to blobs, --dump_uncompressed_blobs\n"
                  "prints blobs uncompressed. --timestamp prints the time of each write; --start_time\n"
                  "(inclusive) and --end_time (not inclusive), seconds since 1970, choose by it; --bucket\n"
                  "counts the writes of each such row of seconds.",
       .flags = {"from", "to", "max_keys", "count_only", "count_delim", "stats", "path", "decode_blob_index",
                 "dump_uncompressed_blobs", "timestamp", "bucket", "start_time", "end_time", "db_paths",
                 "read_timestamp"},
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
       .summary = "estimate how many bytes of table files a range takes",
       .flags = {"from", "to", "db_paths"}, .run = &RunApproxSize},
      {.name = "checkconsistency", .usage = "",
       .summary = "check that the live files agree with the MANIFEST",
       .details = "Checks the sizes of tables, blob files and logs, the order of levels, and that every table\n"
                  "can be opened: its index and filter are read. sst_dump --file=<db> --command=verify\n"
                  "checks the data blocks.",
       .flags = {"db_paths"}, .run = &RunCheckConsistency},
      {.name = "get_property", .usage = "<name>",
       .summary = "print a property, for example rocksdb.stats or rocksdb.estimate-num-keys",
       .flags = {"db_paths"}, .min_arguments = 1, .max_arguments = 1, .run = &RunGetProperty},
  };
}

// The commands that read and write the columns of a key.
std::vector<LdbCommand> MakeColumnCommands() {
  return {
      {.name = "get_entity", .usage = "<key>",
       .summary = "print the columns of a key as \"name:value name:value\"",
       .details = "A plain value is one column without a name. --value_hex: hexadecimal digits.",
       .flags = {"db_paths", "read_timestamp"}, .min_arguments = 1, .max_arguments = 1, .run = &RunGetEntity},
      {.name = "multi_get_entity", .usage = "<key> [<key>] ..",
       .summary = "print \"key ==> name:value name:value\" for several keys",
       .details = "Keys that do not exist are printed on stderr, and then the exit code is 1.",
       .flags = {"db_paths", "read_timestamp"}, .min_arguments = 1, .max_arguments = kAnyNumber, .run = &RunMultiGetEntity},
      {.name = "put_entity",
       .usage = "<key> <column>:<value> [<column>:<value>] .. [--create_if_missing]",
       .summary = "store columns",
       .details = "\":<value>\" is the default column, which get prints.",
       .flags = WithOpenFlags(), .min_arguments = 2, .max_arguments = kAnyNumber,
       .run = &RunPutEntity},
  };
}

// The commands that change or copy the database as a whole: families, compaction, checkpoints,
// backups and external tables.
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
       .summary = "compact a range, or all of a family, the last level included",
       .flags = WithOpenFlags({"from", "to"}), .run = &RunCompact},
      {.name = "reduce_levels", .usage = "--new_levels=<number> [--print_old_levels]",
       .summary = "compact a family into fewer levels, so that it can be opened with a smaller num_levels",
       .details = "The option itself is not changed. If no deeper level has files, nothing is done.",
       .flags = WithOpenFlags({"new_levels", "print_old_levels"}), .run = &RunReduceLevels},
      {.name = "change_compaction_style",
       .usage = "--old_compaction_style=<0|1> --new_compaction_style=<0|1>",
       .summary = "prepare a family for another compaction style: 0 level, 1 universal",
       .details = "From level to universal, everything is compacted into one file of level 0. From\n"
                  "universal to level there is nothing to do, and the exit code is 1. The option itself is\n"
                  "not changed.",
       .flags = WithOpenFlags({"old_compaction_style", "new_compaction_style"}),
       .run = &RunChangeCompactionStyle},
      {.name = "checkpoint", .usage = "--checkpoint_dir=<new directory>",
       .summary = "make a copy that can be opened on its own; tables are linked, not copied",
       .flags = WithOpenFlags({"checkpoint_dir"}), .run = &RunCheckpoint},
      {.name = "backup", .usage = "--backup_dir=<directory> [--num_threads=<n>] ..",
       .summary = "create a backup in a directory, which is created if it does not exist",
       .details = "Files that an earlier backup has are not copied again. --num_threads: number of files\n"
                  "that are copied at the same time. --stderr_log_level=<0..5> prints log messages.\n"
                  "--backup_env_uri, --backup_fs_uri: Env or file system of the backup directory.",
       .flags = WithOpenFlags({"backup_dir", "backup_env_uri", "backup_fs_uri", "num_threads",
                               "stderr_log_level"}),
       .run = &RunBackup},
      {.name = "restore", .usage = "--backup_dir=<directory> [--wal_dir=<directory>] ..",
       .summary = "restore the database from the newest backup",
       .details = "Files of an existing database in the directory are deleted; it must not be open. The\n"
                  "other flags are those of backup. --wal_dir: for the logs, whose old ones are deleted. By\n"
                  "default the wal_dir of the OPTIONS file in the backup if that exists; it must have no logs.",
       .flags = {"backup_dir", "backup_env_uri", "backup_fs_uri", "num_threads", "stderr_log_level",
                 "wal_dir"},
       .run = &RunRestore},
      {.name = "write_extern_sst", .usage = "<new table>",
       .summary = "write a table for ingest_extern_sst from \"key ==> value\" lines of standard input",
       .details = "Keys must be in order. The table has the options, the comparator and the family of the\n"
                  "database. The input is the output of dump. --ttl: the values get the present time.",
       .flags = WithOpenFlags(), .min_arguments = 1, .max_arguments = 1,
       .run = &RunWriteExternSst},
      {.name = "ingest_extern_sst", .usage = "<table> [--move_files] [--allow_global_seqno=false] ..",
       .summary = "add a table that was made outside of the database",
       .details = "By default --snapshot_consistency, --allow_global_seqno and --allow_blocking_flush are\n"
                  "on, and --move_files, --ingest_behind and --write_global_seqno are off.",
       .flags = WithOpenFlags({"move_files", "snapshot_consistency", "allow_global_seqno",
                               "allow_blocking_flush", "ingest_behind", "write_global_seqno"}),
       .min_arguments = 1, .max_arguments = 1, .run = &RunIngestExternSst},
  };
}

// Commands that read or change files without opening the database.
std::vector<LdbCommand> MakeFileCommands() {
  return {
      {.name = "manifest_dump", .usage = "[--verbose] [--path=<MANIFEST file>]",
       .summary = "print families, live files and counters of a MANIFEST",
       .details = "Without --path, the MANIFEST is the one that CURRENT names, or the newest one if CURRENT\n"
                  "does not name any. --verbose prints every version edit first. --hex prints keys as\n"
                  "hexadecimal digits. Of a damaged MANIFEST the part before the damage is printed, and the\n"
                  "exit code is 1.",
       .flags = {"verbose", "path"}, .needs_db = false, .run = &RunManifestDump},
      {.name = "dump_wal",
       .usage = "--walfile=<log file> [--header] [--print_value] [--write_committed]",
       .summary = "print the write batches of a WAL, one a line",
       .details = "A line has the sequence number, the number of entries, the bytes and the offset in the\n"
                  "file, then each entry with the ID of its column family, such as PUT(0) : <key>. Keys\n"
                  "are hexadecimal. With --write_committed a transaction that was prepared with another\n"
                  "write policy is an error, with --write_committed=false one that was prepared with this.",
       .flags = {"walfile", "header", "print_value", "write_committed"}, .needs_db = false, .run = &RunDumpWal},
      {.name = "dump_live_files", .usage = "[--decode_blob_index] [--dump_uncompressed_blobs]",
       .summary = "print the MANIFEST, all live tables and blob files and all needed WALs in full",
       .flags = {"decode_blob_index", "dump_uncompressed_blobs", "db_paths"},
       .run = &RunDumpLiveFiles},
      {.name = "report", .usage = "[--output=<file>]",
       .summary = "draw the tree as a page of HTML: levels, space, tombstones, amplification, ages",
       .details = "Without --output the page is <db>_report.html. The database is not opened, so it may be\n"
                  "in use. Write amplification is computed from the info logs that are still there.",
       .flags = {"output", "db_paths"}, .run = &RunReport},
      {.name = "list_live_files_metadata", .usage = "[--sort_by_filename]",
       .summary = "print the paths of all live tables, with family and level",
       .flags = {"sort_by_filename", "db_paths"}, .run = &RunListLiveFiles},
      {.name = "list_file_range_deletes", .usage = "[--max_keys=<n>]",
       .summary = "print the range tombstones of all tables of a family, newest tables first",
       .details = "Keys are hexadecimal digits. Range tombstones that are only in the log are not shown;\n"
                  "dump_wal shows them.",
       .flags = {"max_keys", "db_paths"}, .run = &RunListFileRangeDeletes},
      {.name = "file_checksum_dump", .usage = "[--path=<MANIFEST file>]",
       .summary = "print number, checksum function and checksum of every live file from the MANIFEST",
       .details = "\"Unknown\" if a file was written without Options::file_checksum_gen_factory.\n"
                  "--hex prints checksums as hexadecimal digits. The files are not read.",
       .flags = {"path"}, .needs_db = false, .run = &RunFileChecksumDump},
      {.name = "unsafe_remove_sst_file", .usage = "<number of a table>",
       .summary = "remove a table from the database without reading it",
       .details = "For a table that is damaged or lost. Its entries are lost, and older versions of its\n"
                  "keys, and keys that it deleted, become visible. The database must not be open in another\n"
                  "process. list_live_files_metadata shows the numbers; the next open deletes the file.",
       .min_arguments = 1, .max_arguments = 1, .run = &RunUnsafeRemoveSstFile},
      {.name = "repair", .usage = "[--verbose] [--db_paths=<dir>,..]",
       .summary = "make a database that opens out of the files that are left of one",
       .details = "Prints a line for each file that was not simply kept, then OK. What cannot be used, or is\n"
                  "not needed any more, is moved to directories called lost; nothing is deleted. The options\n"
                  "are those of the newest OPTIONS file, unless --try_load_options=false. --db_paths: the\n"
                  "db_paths of the program, in its order. The database must not be open.",
       .flags = {"verbose", "db_paths"}, .run = &RunRepair},
      {.name = "update_manifest", .usage = "--update_temperatures",
       .summary = "record in the MANIFEST what the file system says about tables",
       .details = "--update_temperatures: the temperature of each table. The database must not be open.",
       .flags = {"update_temperatures", "db_paths"}, .run = &RunUpdateManifest},
  };
}
// clang-format on

// The bytes that a text on the command line stands for.
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
std::string Invocation::KeyText(const Slice& key) const {
  const std::shared_ptr<SliceFormatter>& formatter = Program().key_formatter;
  return formatter != nullptr && !hex_keys ? formatter->Format(key) : ToText(key, hex_keys);
}
std::string Invocation::ValueText(const Slice& value) const { return ToText(value, hex_values); }

}  // namespace ashlar
