// SPDX-License-Identifier: Apache-2.0
//
// One row a flag: its name, its text in the help, and where its value goes.
#include "tools/db_stress/settings.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

constexpr std::string_view kHead =
    "db_stress --db=<directory> [flags]\n\n"
    "Works on a database with many threads at once, knows of every key which value it must have, "
    "and\n"
    "ends with exit code 1 at the first that is wrong. What it knows is in a file of its own that\n"
    "survives kill -9, so the next run, with other options perhaps, first verifies everything:\n\n"
    "  db_stress --db=/tmp/s --seconds=20                 # a new database, 20 seconds\n"
    "  db_stress --db=/tmp/s --seconds=20 --draw=7        # verify, then go on with other options\n"
    "  db_stress --db=/tmp/s --verify_only                # only look\n"
    "  db_stress --db=/tmp/s --seconds=60 --weights=put=50,iterate=20,compact_range=1\n"
    "  tools/db_stress/crash_loop.py --db_stress=build/test/db_stress --kills=300\n\n"
    "The last one kills and restarts it again and again. Exit code 0 says that all was right. What "
    "is\n"
    "printed of a failure names family, key, what was found and what could have been; the database "
    "and\n"
    "the file stay as they are. --seed and --draw repeat operations and options; threads meet\n"
    "differently each time.\n\n"
    "Writers store what they are about to do before each call and take it back afterwards, so a "
    "key\n"
    "whose write a kill interrupted may have its old or its new value, and every other key exactly "
    "one.\n"
    "Readers take the state before and after a read: what they find must lie between the two. Keys "
    "are\n"
    "of three kinds: the first eighth is put once and then single-deleted; the second is written "
    "in all\n"
    "families by one batch, and a snapshot must find the same in all; the others take "
    "everything.\n";

constexpr std::string_view kFlags =
    "\nFlags:\n"
    "  --db=<directory>           the database; made if it is not there\n"
    "  --expected=<file>          what is known of the keys; without it <db>.expected\n"
    "  --families=<n>             column families, 2 to 100, the same in every run; 4\n"
    "  --keys=<n>                 keys of each, at least 800, the same in every run; 10000\n"
    "  --threads=<n>              8\n"
    "  --seconds=<n>              how long operations run; 10\n"
    "  --ops_per_thread=<n>       instead of --seconds: how many\n"
    "  --seed=<n>                 of the operations; from the clock if not given\n"
    "  --draw=<n>                 draw options with this seed: compression, styles of compaction, "
    "blob\n"
    "                             files, filters, sizes, both kinds of log ...; 0, which is the "
    "default:\n"
    "                             default options\n"
    "  --db_options=<text>        \"name=value;..\", over those that were drawn\n"
    "  --family_options=<text>    the same of column families\n"
    "  --value_bytes=<n>          the longest payload, but one in 32 may have eight times as many; "
    "100\n"
    "  --sync_percent=<n>         of writes; 2\n"
    "  --watchdog_seconds=<n>     a call that takes longer counts as hung, and ends the program; "
    "60\n"
    "  --destroy                  begin with an empty database, whatever is there\n"
    "  --verify_only              open, verify all keys, close\n"
    "  --weights=<op>=<n>,..      how often an operation comes, beside the sum of all; 0: never\n"
    "  --help\n";

Status ReadCount(const CommandLine& line, std::string_view flag, int64_t least, int64_t most,
                 int64_t default_value, int64_t* result) {
  ASSIGN_OR_RETURN(*result, line.Number(flag, default_value));
  if (*result >= least && *result <= most) return Status::OK();
  return Status::InvalidArgument(
      StrCat("--", flag, ": expected ", least, " to ", most, ", found ", *result));
}

template <typename T>
Status ReadInto(const CommandLine& line, std::string_view flag, int64_t least, int64_t most,
                T* member) {
  int64_t value = 0;
  RETURN_IF_ERROR(ReadCount(line, flag, least, most, static_cast<int64_t>(*member), &value));
  *member = static_cast<T>(value);
  return Status::OK();
}

Status ReadWeights(const std::string& text, const std::vector<std::string_view>& operations,
                   Settings* settings) {
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) {
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

Status ReadNumbers(const CommandLine& line, Settings* settings) {
  RETURN_IF_ERROR(ReadInto(line, "families", 2, 100, &settings->families));
  RETURN_IF_ERROR(ReadInto(line, "keys", 800, int64_t{1} << 40, &settings->keys));
  RETURN_IF_ERROR(ReadInto(line, "threads", 1, 1000, &settings->threads));
  RETURN_IF_ERROR(ReadInto(line, "seconds", 0, 1'000'000, &settings->seconds));
  RETURN_IF_ERROR(ReadInto(line, "ops_per_thread", 0, INT64_MAX, &settings->ops_per_thread));
  RETURN_IF_ERROR(ReadInto(line, "seed", INT64_MIN, INT64_MAX, &settings->seed));
  RETURN_IF_ERROR(ReadInto(line, "draw", 0, INT64_MAX, &settings->draw));
  RETURN_IF_ERROR(ReadInto(line, "value_bytes", 0, 1'000'000, &settings->value_bytes));
  RETURN_IF_ERROR(ReadInto(line, "sync_percent", 0, 100, &settings->sync_percent));
  return ReadInto(line, "watchdog_seconds", 1, 1'000'000, &settings->watchdog_seconds);
}

}  // namespace

Result<Settings> ParseSettings(const CommandLine& line,
                               const std::vector<std::string_view>& operations) {
  RETURN_IF_ERROR(
      line.CheckFlags({"db", "expected", "families", "keys", "threads", "seconds", "ops_per_thread",
                       "seed", "draw", "db_options", "family_options", "value_bytes",
                       "sync_percent", "watchdog_seconds", "destroy", "verify_only", "weights"}));
  if (!line.words().empty()) {
    return Status::InvalidArgument(StrCat("not a flag: ", line.words()[0]));
  }
  Settings settings;
  settings.db = line.Value("db").value_or("");
  while (settings.db.size() > 1 && settings.db.back() == '/') settings.db.pop_back();
  if (settings.db.empty()) return Status::InvalidArgument("--db=<directory> is missing");
  settings.expected = line.Value("expected").value_or(settings.db + ".expected");
  settings.db_options = line.Value("db_options").value_or("");
  settings.family_options = line.Value("family_options").value_or("");
  RETURN_IF_ERROR(ReadNumbers(line, &settings));
  ASSIGN_OR_RETURN(settings.destroys, line.Bool("destroy"));
  ASSIGN_OR_RETURN(settings.verifies_only, line.Bool("verify_only"));
  RETURN_IF_ERROR(ReadWeights(line.Value("weights").value_or(""), operations, &settings));
  return settings;
}

std::string HelpText(const std::string& operations) {
  return StrCat(kHead, kFlags, "\nOperations, and how often each comes:\n", operations);
}

}  // namespace ashlar::stress
