// SPDX-License-Identifier: Apache-2.0
//
// Parses the flags; each number is checked against its bounds.
#include "tools/db_stress/settings.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <sstream>

#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

constexpr std::string_view kHead =
    "db_stress --db=<directory> [flags]\n\n"
    "Works on a database with many threads at once, knows the value that every key must have, and\n"
    "ends with exit code 1 at the first wrong value. The expected states are in a separate file "
    "that\n"
    "survives kill -9, so the next run, perhaps with other options, first verifies everything:\n\n"
    "  db_stress --db=/tmp/s --seconds=20                 # a new database, 20 seconds\n"
    "  db_stress --db=/tmp/s --seconds=20 --draw=7        # verify, then continue with other "
    "options\n"
    "  db_stress --db=/tmp/s --verify_only                # only verify\n"
    "  db_stress --db=/tmp/s --seconds=60 --weights=put=50,iterate=20,compact_range=1\n"
    "  tools/db_stress/crash_loop.py --db_stress=build/test/db_stress --kills=300\n\n"
    "The last one kills and restarts it repeatedly. Exit code 0 means that everything was right. "
    "The\n"
    "message of a failure has the family, the key, the value found and the values allowed; "
    "database\n"
    "and expected states stay as they are. --seed and --draw repeat operations and options, but "
    "the\n"
    "order of threads differs each time.\n\n"
    "Writers store a pending event before each call and clear it afterwards, so a key whose write "
    "was\n"
    "interrupted by a kill may have its old or its new value, and every other key exactly one. "
    "Readers\n"
    "load the state before and after a read: the value found must lie between the two. There are "
    "three\n"
    "kinds of keys: the first eighth is put once and then single-deleted; the second eighth is "
    "written\n"
    "in all families by one batch, and a snapshot must have the same event in all; the others "
    "allow\n"
    "every operation.\n";

constexpr std::string_view kFlags =
    "\nFlags:\n"
    "  --db=<directory>           the database; created if it does not exist\n"
    "  --expected=<file>          the expected states; default: <db>.expected\n"
    "  --families=<n>             column families, 2 to 100, the same in every run; default 4\n"
    "  --keys=<n>                 keys of each family, at least 800, the same in every run; "
    "default\n"
    "                             10000\n"
    "  --threads=<n>              default 8\n"
    "  --seconds=<n>              duration of the operations; default 10\n"
    "  --ops_per_thread=<n>       number of operations, instead of --seconds\n"
    "  --seed=<n>                 seed of the operations; default: from the clock\n"
    "  --draw=<n>                 seed of the options: compression, compaction styles, blob "
    "files,\n"
    "                             filters, sizes, both kinds of log ...; default 0: default "
    "options\n"
    "  --db_options=<text>        \"name=value;..\", overrides the draw\n"
    "  --family_options=<text>    the same for column families\n"
    "  --value_bytes=<n>          longest payload, but one in 32 may be eight times as long; "
    "default\n"
    "                             100\n"
    "  --sync_percent=<n>         percent of writes that are synced; default 2\n"
    "  --watchdog_seconds=<n>     a call that takes longer counts as hung and ends the program;\n"
    "                             default 60\n"
    "  --use_txn                  a TransactionDB: batches become transactions, some of them "
    "prepared\n"
    "                             first or rolled back; give it again while one may be prepared\n"
    "  --txn_write_policy=<n>     with --use_txn: 0 write-committed (default), 1 write-prepared, "
    "2\n"
    "                             write-unprepared, which writes large transactions while they "
    "run;\n"
    "                             give it again while one may be undecided\n"
    "  --use_optimistic_txn       the same with an OptimisticTransactionDB, without prepares\n"
    "  --destroy                  begin with an empty database, even if there is one\n"
    "  --verify_only              open, verify all keys, close\n"
    "  --skip_verifydb            verify nothing at the begin and at the end; only after a run "
    "that "
    "was\n"
    "                             not killed\n"
    "  --test_secondary           at the end, every key in a secondary must have its state\n"
    "  --weights=<op>=<n>,..      frequency of an operation relative to the sum of all; 0: never\n"
    "  --<flag>_one_in=<n>        one operation of n of each thread, instead of its weight; 0: "
    "never.\n"
    "                             The flags: backup, checkpoint, export, secondary_catch_up, "
    "trace,\n"
    "                             acquire_snapshot, compact_files, compact_range, flush,\n"
    "                             get_property, ingest_external_file, set_options, sync_wal,\n"
    "                             verify_checksum\n"
    "  --help\n";

// RocksDB's flags for the frequency of operations, and two of the same form for operations that its
// stress program does not have.
struct OneInFlag {
  std::string_view flag;
  std::string_view operation;
};
constexpr OneInFlag kOneInFlags[] = {
    {"acquire_snapshot_one_in", "snapshot"},
    {"backup_one_in", "backup"},
    {"checkpoint_one_in", "checkpoint"},
    {"compact_files_one_in", "compact_files"},
    {"compact_range_one_in", "compact_range"},
    {"export_one_in", "export"},
    {"flush_one_in", "flush"},
    {"get_property_one_in", "ask"},
    {"ingest_external_file_one_in", "ingest"},
    {"secondary_catch_up_one_in", "secondary"},
    {"set_options_one_in", "set_options"},
    {"sync_wal_one_in", "sync_log"},
    {"trace_one_in", "trace"},
    {"verify_checksum_one_in", "verify_checksums"},
};

// InvalidArgument names the flag and its bounds.
// The bounds are inclusive. *result is undefined after an error.
Status ReadCount(const CommandLine& line, std::string_view flag, int64_t min, int64_t max,
                 int64_t default_value, int64_t* result) {
  assert(result != nullptr && min <= max);
  ASSIGN_OR_RETURN(*result, line.Number(flag, default_value));
  if (*result >= min && *result <= max) return Status::OK();
  return Status::InvalidArgument(
      StrCat("--", flag, ": expected ", min, " to ", max, ", found ", *result));
}

// The value that the member has already is the default, so defaults are stated once, in the struct.
template <typename T>
Status ReadInto(const CommandLine& line, std::string_view flag, int64_t min, int64_t max,
                T* member) {
  assert(member != nullptr);
  int64_t value = 0;
  RETURN_IF_ERROR(ReadCount(line, flag, min, max, static_cast<int64_t>(*member), &value));
  *member = static_cast<T>(value);
  return Status::OK();
}

// "put=10,get=0": the relative frequencies of operations. The others keep theirs.
// `operations` are the known names; a misspelt one is an error, because a run that silently never
// does an operation would look like a success.
Status ReadWeights(const std::string& text, const std::vector<std::string_view>& operations,
                   Settings* settings) {
  assert(settings != nullptr);
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) {
    // If there is no equals sign, `equals` is npos, `name` is the whole word and the weight stays
    // -1.
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    int weight = -1;
    if (equals != std::string::npos) {
      std::from_chars(word.data() + equals + 1, word.data() + word.size(), weight);
    }
    const bool is_known = std::find(operations.begin(), operations.end(), name) != operations.end();
    if (!is_known || weight < 0) {
      return Status::InvalidArgument(
          StrCat("--weights: expected <operation>=<number>, found \"", word, "\""));
    }
    settings->weights[name] = weight;
  }
  return Status::OK();
}

Status ReadOneIns(const CommandLine& line, Settings* settings) {
  for (const OneInFlag& row : kOneInFlags) {
    if (!line.Has(row.flag)) continue;
    uint64_t one_in = 0;
    RETURN_IF_ERROR(ReadInto(line, row.flag, 0, INT64_MAX, &one_in));
    settings->one_in[std::string(row.operation)] = one_in;
  }
  return Status::OK();
}

// All flags but --help.
std::vector<std::string_view> KnownFlags() {
  std::vector<std::string_view> flags = {"db",
                                         "expected",
                                         "families",
                                         "keys",
                                         "threads",
                                         "seconds",
                                         "ops_per_thread",
                                         "seed",
                                         "draw",
                                         "db_options",
                                         "family_options",
                                         "value_bytes",
                                         "sync_percent",
                                         "watchdog_seconds",
                                         "use_txn",
                                         "txn_write_policy",
                                         "destroy",
                                         "verify_only",
                                         "use_optimistic_txn",
                                         "test_secondary",
                                         "weights",
                                         "skip_verifydb"};
  for (const OneInFlag& row : kOneInFlags) flags.push_back(row.flag);
  return flags;
}

// Families and keys have lower bounds because keys are divided into kinds, and the last family is
// the volatile one.
Status ReadNumbers(const CommandLine& line, Settings* settings) {
  assert(settings != nullptr);
  RETURN_IF_ERROR(ReadInto(line, "families", 2, 100, &settings->families));
  RETURN_IF_ERROR(ReadInto(line, "keys", 800, int64_t{1} << 40, &settings->keys));
  RETURN_IF_ERROR(ReadInto(line, "threads", 1, 1000, &settings->threads));
  RETURN_IF_ERROR(ReadInto(line, "seconds", 0, 1'000'000, &settings->seconds));
  RETURN_IF_ERROR(ReadInto(line, "ops_per_thread", 0, INT64_MAX, &settings->ops_per_thread));
  RETURN_IF_ERROR(ReadInto(line, "seed", INT64_MIN, INT64_MAX, &settings->seed));
  RETURN_IF_ERROR(ReadInto(line, "draw", 0, INT64_MAX, &settings->draw));
  RETURN_IF_ERROR(ReadInto(line, "value_bytes", 0, 1'000'000, &settings->value_bytes));
  RETURN_IF_ERROR(ReadInto(line, "sync_percent", 0, 100, &settings->sync_percent));
  RETURN_IF_ERROR(ReadInto(line, "txn_write_policy", 0, 2, &settings->txn_write_policy));
  return ReadInto(line, "watchdog_seconds", 1, 1'000'000, &settings->watchdog_seconds);
}

}  // namespace

Result<Settings> ParseSettings(const CommandLine& line,
                               const std::vector<std::string_view>& operations) {
  RETURN_IF_ERROR(line.CheckFlags(KnownFlags()));
  if (!line.words().empty()) {
    return Status::InvalidArgument(StrCat("not a flag: ", line.words()[0]));
  }
  Settings settings;
  settings.db = line.Value("db").value_or("");
  // Without this a slash at the end would put the expected states inside the database.
  while (settings.db.size() > 1 && settings.db.back() == '/') settings.db.pop_back();
  if (settings.db.empty()) return Status::InvalidArgument("--db=<directory> is missing");
  settings.expected = line.Value("expected").value_or(settings.db + ".expected");
  settings.db_options = line.Value("db_options").value_or("");
  settings.family_options = line.Value("family_options").value_or("");
  RETURN_IF_ERROR(ReadNumbers(line, &settings));
  // The kinds of transactions exclude each other, because a directory is opened by one class only.
  ASSIGN_OR_RETURN(const bool locks, line.Bool("use_txn"));
  ASSIGN_OR_RETURN(const bool is_optimistic, line.Bool("use_optimistic_txn"));
  if (locks && is_optimistic) {
    return Status::InvalidArgument("--use_txn and --use_optimistic_txn exclude each other");
  }
  if (settings.txn_write_policy != 0 && !locks) {
    return Status::InvalidArgument("--txn_write_policy needs --use_txn");
  }
  settings.transactions = locks           ? Transactions::kLocking
                          : is_optimistic ? Transactions::kOptimistic
                                          : Transactions::kNone;
  ASSIGN_OR_RETURN(settings.destroys, line.Bool("destroy"));
  ASSIGN_OR_RETURN(settings.verifies_only, line.Bool("verify_only"));
  ASSIGN_OR_RETURN(settings.skips_verification, line.Bool("skip_verifydb"));
  if (settings.verifies_only && settings.skips_verification) {
    return Status::InvalidArgument("--verify_only and --skip_verifydb exclude each other");
  }
  ASSIGN_OR_RETURN(settings.tests_secondary, line.Bool("test_secondary"));
  RETURN_IF_ERROR(ReadOneIns(line, &settings));
  RETURN_IF_ERROR(ReadWeights(line.Value("weights").value_or(""), operations, &settings));
  return settings;
}

// The list of operations comes from the caller, because the table of operations knows the
// functions, and this file does not.
std::string HelpText(const std::string& operations) {
  return StrCat(kHead, kFlags, "\nOperations, with their weights:\n", operations);
}

}  // namespace ashlar::stress
