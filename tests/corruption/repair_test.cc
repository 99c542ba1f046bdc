// SPDX-License-Identifier: Apache-2.0
//
// RepairDB() on the samples with damage: it always leads to a database that opens and can be read,
// and as long as only files are damaged that say what the other
// files are, no row is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "db/repair/repair_db.h"
#include "env/memory/memory_file_system.h"
#include "tests/corruption/samples.h"
#include "tests/support/opened_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

struct Outcome {
  Status status;  // of the repair, of opening, or of reading
  Contents found;
  std::string report;
};

Outcome RepairAndRead(const Sample& sample, const Files& files) {
  const auto fs = std::make_shared<MemoryFileSystem>();
  const std::unique_ptr<Env> env = NewCompositeEnv(fs);
  for (const auto& [path, bytes] : files) fs->PutFile(path, bytes);
  Options options = OptionsOf(sample, env.get());
  options.create_if_missing = false;
  Outcome outcome;
  std::vector<std::string> report;
  outcome.status = RepairWithReport(kSampleDir, options, {{kDefaultColumnFamilyName, options}},
                                    options, &report);
  for (const std::string& line : report) StrAppend(&outcome.report, "\n  ", line);
  if (!outcome.status.ok()) return outcome;
  OpenedDb opened;
  outcome.status = opened.Open(options, kSampleDir);
  if (outcome.status.ok()) outcome.status = opened.ReadAll(&outcome.found);
  if (outcome.status.ok()) outcome.status = opened.db()->VerifyChecksum();
  return outcome;
}

// "family/key", and "family/key=value".
std::set<std::string> RowsOf(const Contents& contents) {
  std::set<std::string> all;
  for (const auto& [family, rows] : contents) {
    for (const auto& [key, value] : rows) {
      all.insert(StrCat(family, "/", key));
      all.insert(StrCat(family, "/", key, "=", value));
    }
  }
  return all;
}

// What the database had at some time.
std::set<std::string> KnownRows(const Sample& sample) {
  std::set<std::string> all = RowsOf(sample.expected);
  for (const Contents& contents : sample.earlier) all.merge(RowsOf(contents));
  return all;
}

bool SaysWhatOthersAre(const std::string& kind) {
  return kind == "MANIFEST" || kind == "CURRENT" || kind == "IDENTITY";
}

Files With(Files files, const std::string& path, std::string bytes) {
  files[path] = std::move(bytes);
  return files;
}
Files Without(Files files, const std::string& path) {
  files.erase(path);
  return files;
}

// One file damaged in several ways.
std::vector<Files> DamagedForms(const Files& files, const std::string& path) {
  const std::string& bytes = files.at(path);
  std::vector<Files> forms{Without(files, path), With(files, path, "")};
  const size_t used = std::min(UsedBytes(bytes), bytes.size());
  constexpr size_t kPlaces = 3;
  for (size_t i = 0; i < kPlaces && used > 0; i++) {
    const size_t at = std::min(used - 1, used * i / kPlaces + 3);
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x20);
    forms.push_back(With(files, path, flipped));
    forms.push_back(With(files, path, bytes.substr(0, at)));
  }
  return forms;
}

TEST(RepairedSamplesTest, ASampleWithoutDamageStaysTheSame) {
  for (const Sample& sample : MakeSamples()) {
    const Outcome outcome = RepairAndRead(sample, sample.files);
    EXPECT_TRUE(outcome.status.ok()) << sample.name << ": " << outcome.status.ToString();
    EXPECT_EQ(outcome.found, sample.expected) << sample.name << outcome.report;
  }
}

TEST(RepairedSamplesTest, DamageOfEachFileLeadsToADatabaseThatOpens) {
  for (const Sample& sample : MakeSamples()) {
    if (!sample.is_main) continue;
    const std::set<std::string> known = KnownRows(sample);
    for (const auto& [path, bytes] : sample.files) {
      size_t form = 0;
      for (const Files& files : DamagedForms(sample.files, path)) {
        const std::string what = StrCat(sample.name, ", ", path, ", form ", form++);
        const Outcome outcome = RepairAndRead(sample, files);
        const std::string kind = KindOf(path);
        if (SaysWhatOthersAre(kind)) {
          EXPECT_TRUE(outcome.status.ok()) << what << ": " << outcome.status.ToString();
          EXPECT_EQ(outcome.found, sample.expected) << what << outcome.report;
        }
        // A value in a blob file that is gone is the only thing that may not be readable.
        EXPECT_TRUE(outcome.status.ok() || path.ends_with(".blob"))
            << what << ": " << outcome.status.ToString() << outcome.report;
        if (kind == "table") continue;  // without a tombstone or an operand, older rows are there
        for (const std::string& row : RowsOf(outcome.found)) {
          // A merge operand of a later log meets an older value if a log in the middle is lost.
          const bool may_be_mixed = kind == "log" && row.find('=') != std::string::npos;
          EXPECT_TRUE(may_be_mixed || known.contains(row)) << what << ": " << row;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ashlar
