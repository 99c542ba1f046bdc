// SPDX-License-Identifier: Apache-2.0
//
// Corruption test: tiny databases whose files are changed in every way - bits flipped, cut short,
// extended, swapped, deleted, or with changed contents and matching checksums - and then opened,
// read, verified, compacted and opened again. Each case gets a class:
//
//   SAME    all rows as before
//   ERROR   opening, reading, verifying or compacting returned an error, and all rows that were
//           read were right
//   PREFIX  a state that the database had before, and the recovery report names the loss; only for
//           logs without absolute consistency, and for a MANIFEST that ends in the middle of its
//           last record
//   FORGED  other rows, after changes with matching checksums. The only requirements are that all
//           ways of reading agree, in the right order, before and after a compaction, unless other
//           bytes of the directory show the change: of a table, the number of its entries and its
//           first and last key; and that intact rows do not change when something else is forged
//   TWIN    other rows, after bytes were replaced by intact ones of another file whose format does
//           not identify it (logs, and tables before format_version 6); all ways of reading agree
//   BORDER  the newest log ends between two records, and the state is that of this moment: nothing
//           in the directory distinguishes this from a log that was never longer
//
// Everything else fails: a wrong or missing row with OK, reads that disagree, a crash, a hang, an
// allocation beyond 64 MiB and four times the size of the files.
//
//   corruption_test [--seconds=N] [--seed=N]
//
// Without --seconds a fixed number of cases; ASHLAR_SUITE_SCALE scales it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "tests/corruption/examination.h"
#include "tests/corruption/mutations.h"
#include "tests/corruption/records.h"
#include "tests/corruption/samples.h"
#include "tests/corruption/supervisor.h"
#include "tests/support/suite.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr size_t kSpareBytes = size_t{64} << 20;
constexpr int kPrintedFailures = 12;  // for each kind of file

SuiteArguments arguments;

// Whether the newest log was cut after one of its records, or zeroed from there on, and `found` is
// the state after this record.
bool IsAtBorder(const Sample& sample, const Mutation& mutation, const Contents& found) {
  std::string newest;
  for (const auto& [path, bytes] : sample.files) {
    if (KindOf(path) == "log") newest = path;
  }
  const auto changed = mutation.files.find(newest);
  if (mutation.path != newest || changed == mutation.files.end()) return false;
  const std::string& whole = sample.files.at(newest);
  const std::vector<LogRecord> records = FindRecords(whole);
  const size_t left = FindRecords(changed->second).size();
  if (left >= records.size()) return false;
  const size_t end = left == 0 ? 0 : records[left - 1].end();
  const bool is_cut = changed->second.compare(0, end, whole, 0, end) == 0 &&
                      changed->second.find_first_not_of('\0', end) == std::string::npos;
  // The record at the beginning that tells where the log before ended is an empty batch.
  size_t lost = 0;
  for (size_t i = left; i < records.size(); i++) {
    const char* const batch = whole.data() + records[i].payload_offset;
    if (records[i].payload_bytes < 12 || DecodeFixed32(batch + 8) != 0) lost++;
  }
  return is_cut && lost < sample.earlier.size() &&
         found == sample.earlier[sample.earlier.size() - 1 - lost];
}

// What is wrong with rows that were read with OK from a forged table; "" if nothing in the
// directory contradicts them.
std::string ContradictionElsewhere(const Sample& sample, const Mutation& mutation,
                                   const Contents& found) {
  if (!sample.is_one_table || KindOf(mutation.path) != "table") return "";
  const Rows& expected = sample.expected.at("default");
  const auto family = found.find("default");
  const Rows rows = family == found.end() ? Rows() : family->second;
  if (mutation.part == "dictionary") return "";  // the dictionary determines the rows
  if (mutation.part != "data") {
    return rows == expected ? ""
                            : StrCat("other rows, although only the ", mutation.part, " is forged");
  }
  // Two entries may have become versions of one key, or one a deletion; no entry can appear or
  // disappear.
  const std::string& table = mutation.files.at(mutation.path);
  const TableLayout intact = FindBlocks(sample.files.at(mutation.path));
  const uint64_t entries = CountEntries(intact, table).value_or(expected.size());
  if (entries != expected.size() || rows.size() > expected.size() || rows.empty()) {
    return StrCat(rows.size(), " rows of ", entries, " entries, but the properties say ",
                  expected.size());
  }
  // The samples with a single table are in bytewise order.
  if (rows.begin()->first < expected.begin()->first ||
      rows.rbegin()->first > expected.rbegin()->first) {
    return "rows beyond the bounds of the table in the MANIFEST";
  }
  return "";
}

// The level of a table is recorded in a single place. It determines where a lookup stops and what
// range tombstones hide from readers, while a compaction uses the sequence numbers.
bool IsMisledByLevels(const Sample& sample, const Findings& findings) {
  const bool has_moved =
      std::any_of(sample.levels.begin(), sample.levels.end(), [&](const auto& table) {
        const auto found = findings.levels.find(table.first);
        return found != findings.levels.end() && found->second != table.second;
      });
  return has_moved && (findings.wrong.starts_with(kGetAndScanDisagree) ||
                       (sample.has_range_tombstones && findings.wrong == kOtherRowsLater));
}

// The class; "" for a failure, then `wrong` has the reason.
std::string Classify(const Sample& sample, const Mutation& mutation, std::string* wrong) {
  const bool may_be_forged = mutation.is_forged || mutation.is_twin;
  const Findings findings = Examine(sample, mutation.files, mutation.directories, may_be_forged);
  *wrong = findings.wrong;
  if (mutation.is_forged && IsMisledByLevels(sample, findings)) return "FORGED";
  if (!wrong->empty()) return "";
  if (!findings.error.ok()) return "ERROR";
  if (findings.found == sample.expected) return "SAME";
  if (mutation.is_forged) {
    *wrong = ContradictionElsewhere(sample, mutation, findings.found);
    return wrong->empty() ? "FORGED" : "";
  }
  if (mutation.is_twin) return "TWIN";
  const std::string file_kind = KindOf(mutation.path);
  const bool is_log = file_kind == "log";
  const bool is_earlier = std::find(sample.earlier.begin(), sample.earlier.end(), findings.found) !=
                          sample.earlier.end();
  const bool is_cut = mutation.kind == "truncations" || mutation.kind == "pieces";
  const bool may_lose_tail = is_log ? sample.recovery_mode == WALRecoveryMode::kPointInTimeRecovery
                                    : file_kind == "MANIFEST" && is_cut;
  if (may_lose_tail && is_earlier && !findings.report.empty()) return "PREFIX";
  if (is_log && findings.report.empty() && IsAtBorder(sample, mutation, findings.found)) {
    return "BORDER";
  }
  *wrong = StrCat(is_earlier ? "an earlier state" : "a state that never was", ", report '",
                  findings.report, "'");
  return "";
}

void Check(const Sample& sample, const Mutation& mutation) {
  const std::string name = StrCat(sample.name, ": ", mutation.name);
  if (!NextCase(name)) return;
  size_t file_bytes = 0;
  for (const auto& [path, bytes] : mutation.files) file_bytes += bytes.size();
  SetAllocationLimit(kSpareBytes + 4 * file_bytes);
  std::string wrong;
  std::string found = Classify(sample, mutation, &wrong);
  SetAllocationLimit(SIZE_MAX);
  std::string file_kind = KindOf(mutation.path);
  if (file_kind == "other") file_kind = mutation.kind;
  if (found.empty()) {
    found = "FORBIDDEN";
    static std::map<std::string, int> failures;
    if (++failures[file_kind + mutation.kind] <= kPrintedFailures) {
      ADD_FAILURE() << name << ": " << wrong;
    }
  }
  SharedCounters::Add(StrCat("kind ", mutation.kind));
  const std::string forged = mutation.is_forged ? StrCat("forged ", mutation.part, " of ") : "";
  SharedCounters::Add(StrCat("class ", forged, file_kind, " ", found));
}

void CheckFixedWork(const std::vector<Sample>& samples) {
  for (const Sample& sample : samples) {
    const auto check = [&](const Mutation& mutation) { Check(sample, mutation); };
    check({.name = "nothing changed", .kind = "controls", .path = "none", .files = sample.files});
    MoveFiles(sample, check);
    AddStrayFiles(sample, samples.front(), check);
  }
}

// So that every machine has the same cases.
void ExpectNoHostName(const std::vector<Sample>& samples) {
  char name[256] = "";
  ASSERT_EQ(gethostname(name, sizeof(name) - 1), 0);
  const std::string host = name;
  if (host.size() < 5) return;  // too short to occur only in this place
  for (const Sample& sample : samples) {
    for (const auto& [path, bytes] : sample.files) {
      EXPECT_EQ(bytes.find(host), std::string::npos) << sample.name << ": " << path;
    }
  }
}

TEST(CorruptionTest, NoDamageGoesUnnoticed) {
  const double deadline = SuiteClock() + arguments.seconds;
  const std::vector<Sample> samples = MakeSamples();
  ExpectNoHostName(samples);
  for (uint64_t round = 0; round == 0 || SuiteClock() < deadline; ++round) {
    const Effort effort(SuiteScale(), arguments.seed, round);
    if (round == 0) CheckFixedWork(samples);
    for (const Sample& sample : samples) {
      if (round > 0 && SuiteClock() > deadline) break;
      const auto check = [&](const Mutation& mutation) { Check(sample, mutation); };
      DamageBytes(sample, effort, check);
      SwapBlocks(sample, effort, check);
      ForgeChecksums(sample, effort, check);
    }
  }
  EXPECT_EQ(SharedCounters::All()["class controls SAME"], samples.size());
  EndAllCases();
}

}  // namespace
}  // namespace ashlar

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ashlar::arguments = ashlar::ParseSuiteArguments(argc, argv, 0);
  const auto seed = static_cast<unsigned long long>(ashlar::arguments.seed);
  std::printf("corruption: seed %llu\n", seed);
  const int result = ashlar::RunSupervised([] { return RUN_ALL_TESTS(); });
  std::printf("corruption: seed %llu", seed);
  for (const auto& [name, count] : ashlar::SharedCounters::All()) {
    std::printf(", %llu %s", static_cast<unsigned long long>(count), name.c_str());
  }
  std::printf("\n");
  return result;
}
