// SPDX-License-Identifier: Apache-2.0
//
// Corruption test: tiny databases whose files are changed in every way - bits flipped, cut short,
// extended, swapped, deleted - and then opened and read. Each case is put in one class:
//
//   SAME    all rows as before
//   ERROR   opening or reading said so
//   PREFIX  a state that the database had before, and the recovery report says what was dropped;
//           only for logs
//   BORDER  the newest log ends between two records: nothing in the directory can tell that from a
//           log that never was longer
//   KNOWN   silent loss that is not detected yet: the newest log deleted, or a MANIFEST cut short.
//           Counted and printed; the list may only get shorter
//
// Anything else fails: a wrong or missing row with OK, a crash, a hang.
//
//   corruption_test [--seconds=25] [--seed=N]
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/write_batch.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/opened_db.h"
#include "tests/support/option_set.h"
#include "tests/support/suite.h"
#include "util/random.h"

namespace ashlar {
namespace {

constexpr char kDir[] = "/db";
using Files = std::map<std::string, std::string>;

SuiteArguments arguments;

// Counts by kind of file and class, and of mutations.
std::map<std::string, std::map<std::string, uint64_t>> classes;
std::map<std::string, uint64_t> mutations;

struct Sample {
  std::string name;
  OptionSet options;
  Files files;
  Contents expected;
  std::vector<Contents> earlier;  // states the logs led through
};

// Without background work the files stay as they are made.
Options OptionsOf(const OptionSet& set, Env* env) {
  Options options = set.Build(env);
  options.disable_auto_compactions = true;
  return options;
}

// A database made by steps; all states from `first_log_step` on can be reached by losing the tail
// of the log.
class SampleMaker {
 public:
  SampleMaker(const std::string& name, const OptionSet& set)
      : fs_(std::make_shared<MemoryFileSystem>()), env_(NewCompositeEnv(fs_)) {
    sample_.name = name;
    sample_.options = set;
    EXPECT_TRUE(db_.Open(OptionsOf(set, env_.get()), kDir).ok());
    sample_.expected["default"];
  }

  void Put(const std::string& key, const std::string& value) {
    EXPECT_TRUE(db_.db()->Put(WriteOptions(), key, value).ok());
    sample_.expected["default"][key] = value;
    sample_.earlier.push_back(sample_.expected);
  }
  void Delete(const std::string& key) {
    EXPECT_TRUE(db_.db()->Delete(WriteOptions(), key).ok());
    sample_.expected["default"].erase(key);
    sample_.earlier.push_back(sample_.expected);
  }
  // Afterwards nothing of what is there may get lost.
  void Flush() {
    EXPECT_TRUE(db_.db()->Flush(FlushOptions()).ok());
    sample_.earlier = {sample_.expected};
  }
  void Compact() {
    EXPECT_TRUE(db_.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  }
  // As a killed process leaves it.
  Sample Take() {
    EXPECT_TRUE(db_.db()->FlushWAL(true).ok());
    sample_.files = fs_->AllFiles();
    std::erase_if(sample_.files, [](const auto& file) {
      return file.first.ends_with("/LOCK") || file.first.ends_with("/LOG");
    });
    return std::move(sample_);
  }

 private:
  const std::shared_ptr<MemoryFileSystem> fs_;
  const std::unique_ptr<Env> env_;
  OpenedDb db_;
  Sample sample_;
};

Sample OneTable(const std::string& name, const OptionSet& set) {
  SampleMaker maker(name, set);
  for (int i = 0; i < 30; ++i) maker.Put("key" + std::to_string(i), std::string(20, 'a' + i % 26));
  maker.Flush();
  return maker.Take();
}

// Two levels that overlap, deletions over older values, and a log with more of both.
Sample Levels(const std::string& name, const OptionSet& set) {
  SampleMaker maker(name, set);
  for (int i = 0; i < 30; ++i) maker.Put("key" + std::to_string(i), "old" + std::to_string(i));
  maker.Flush();
  maker.Compact();
  for (int i = 0; i < 30; i += 3) maker.Delete("key" + std::to_string(i));
  for (int i = 1; i < 30; i += 3) maker.Put("key" + std::to_string(i), "new");
  maker.Flush();
  for (int i = 2; i < 30; i += 9) maker.Put("key" + std::to_string(i), "newest");
  maker.Delete("key1");
  return maker.Take();
}

Sample LogOnly(const std::string& name, const OptionSet& set) {
  SampleMaker maker(name, set);
  for (int i = 0; i < 15; ++i) maker.Put("key" + std::to_string(i % 9), "v" + std::to_string(i));
  maker.Delete("key3");
  return maker.Take();
}

std::vector<Sample> MakeSamples() {
  OptionSet plain, lz4, old_format;
  plain.Set("memtable", 1 << 20);
  lz4 = plain;
  lz4.Set("compression", 4);
  lz4.Set("bloom", 10);
  lz4.Set("hash_index", 1);
  lz4.Set("format", 6);
  old_format = plain;
  old_format.Set("format", 2);
  old_format.Set("checksum", 1);
  old_format.Set("bloom", 10);
  old_format.Set("block", 64);
  return {OneTable("one table", plain),       LogOnly("log", plain),
          Levels("levels", plain),            OneTable("one table, LZ4, format 6", lz4),
          Levels("levels, format 2", old_format)};
}

std::string KindOf(const std::string& path) {
  if (path.ends_with(".sst")) return "table";
  if (path.ends_with(".log")) return "log";
  for (const char* kind : {"MANIFEST", "CURRENT", "OPTIONS", "IDENTITY"}) {
    if (path.find(kind) != std::string::npos) return kind;
  }
  return "other";
}

// Opens and reads, and says the class; "" and *wrong if it is none.
std::string Classify(const Sample& sample, const Files& files, bool is_log, std::string* wrong) {
  auto fs = std::make_shared<MemoryFileSystem>();
  for (const auto& [path, bytes] : files) fs->PutFile(path, bytes);
  const std::unique_ptr<Env> env = NewCompositeEnv(fs);
  Options options = OptionsOf(sample.options, env.get());
  options.create_if_missing = false;
  OpenedDb opened;
  if (!opened.Open(options, kDir).ok()) return "ERROR";
  Contents found;
  Status status = opened.ReadAll(&found);
  if (status.ToString().find("DISAGREE") != std::string::npos) {
    *wrong = status.ToString();
    return "";
  }
  if (!status.ok()) return "ERROR";
  if (found == sample.expected) return "SAME";
  // What a scan does not see, a get may.
  for (const auto& [key, value] : sample.expected.at("default")) {
    std::string got;
    status = opened.db()->Get(ReadOptions(), key, &got);
    if (!status.ok() && !status.IsNotFound()) return "ERROR";
  }
  std::string report;
  (void)opened.db()->GetProperty("ashlar.recovery-report", &report);
  const bool is_earlier =
      std::find(sample.earlier.begin(), sample.earlier.end(), found) != sample.earlier.end();
  if (is_log && (is_earlier || found["default"].empty()) && !report.empty()) return "PREFIX";
  *wrong = std::to_string(found["default"].size()) + " rows instead of " +
           std::to_string(sample.expected.at("default").size()) +
           (is_earlier ? ", an earlier state" : ", a state that never was") + ", report '" +
           report + "'";
  return "";
}

struct Mutation {
  std::string name;
  std::string kind;  // of the figures
  std::string path;
  Files files;
};

void Check(const Sample& sample, const Mutation& mutation) {
  BeginCase(sample.name + ": " + mutation.name);
  std::string wrong;
  const std::string file_kind = KindOf(mutation.path);
  std::string found = Classify(sample, mutation.files, file_kind == "log", &wrong);
  const bool is_silent_prefix = wrong.find("DISAGREE") == std::string::npos &&
                                wrong.find("report ''") != std::string::npos;
  if (found.empty() && is_silent_prefix) {
    if (file_kind == "log" && mutation.kind == "truncations") found = "BORDER";
    if (file_kind == "log" && mutation.kind == "deletions") found = "KNOWN";
    if (file_kind == "MANIFEST" && mutation.kind == "truncations") found = "KNOWN";
  }
  ++mutations[mutation.kind];
  if (found.empty()) {
    found = "FORBIDDEN";
    const uint64_t count = ++classes[file_kind][found];
    if (count <= 12) ADD_FAILURE() << sample.name << ": " << mutation.name << ": " << wrong;
    return;
  }
  ++classes[file_kind][found];
}

// The bytes that are in use: logs and MANIFESTs may be followed by reserved room.
size_t UsedBytes(const std::string& bytes) {
  const size_t last = bytes.find_last_not_of('\0');
  return last == std::string::npos ? 0 : std::min(bytes.size(), last + 9);
}

void FlipBits(const Sample& sample, const std::string& path, uint64_t turn, uint64_t turns) {
  const std::string& bytes = sample.files.at(path);
  const uint64_t bits = UsedBytes(bytes) * 8;
  for (uint64_t bit = turn; bit < bits; bit += turns) {
    Mutation mutation{path + " bit " + std::to_string(bit) + " of " + std::to_string(bits),
                      "bit flips", path, sample.files};
    mutation.files[path][bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    Check(sample, mutation);
  }
}

void CutShort(const Sample& sample, const std::string& path, uint64_t turn, uint64_t turns) {
  const std::string& bytes = sample.files.at(path);
  for (uint64_t size = turn; size < UsedBytes(bytes); size += turns) {
    Mutation mutation{path + " cut to " + std::to_string(size), "truncations", path, sample.files};
    mutation.files[path].resize(size);
    Check(sample, mutation);
  }
}

// Swaps and deletions of whole files, and bytes added at the end.
void MoveFiles(const Sample& sample) {
  for (const auto& [path, bytes] : sample.files) {
    Mutation mutation{path + " deleted", "deletions", path, sample.files};
    mutation.files.erase(path);
    Check(sample, mutation);
    for (size_t size : {1, 512, 4096}) {
      Mutation longer{path + " extended by " + std::to_string(size), "extensions", path,
                      sample.files};
      longer.files[path] += Random64(size).Bytes(size);
      Check(sample, longer);
    }
    for (const auto& [other, other_bytes] : sample.files) {
      if (other <= path || bytes == other_bytes) continue;
      Mutation swapped{path + " swapped with " + other, "swaps",
                       KindOf(other) == "log" ? other : path, sample.files};
      std::swap(swapped.files[path], swapped.files[other]);
      Check(sample, swapped);
    }
  }
}

TEST(CorruptionTest, NoDamageGoesUnnoticed) {
  std::printf("corruption: seed %llu\n", static_cast<unsigned long long>(arguments.seed));
  const double deadline = SuiteClock() + arguments.seconds;
  const std::vector<Sample> samples = MakeSamples();
  for (const Sample& sample : samples) {
    Mutation none{"nothing changed", "controls", "", sample.files};
    Check(sample, none);
    MoveFiles(sample);
  }
  ASSERT_EQ(classes["other"]["SAME"], samples.size()) << "the samples themselves must be fine";
  // Every turn takes other bits of every file; small files are through after few turns.
  constexpr uint64_t kTurns = 61;
  for (uint64_t i = 0; i < kTurns && SuiteClock() < deadline; ++i) {
    const uint64_t turn = (i * 23 + arguments.seed) % kTurns;
    for (const Sample& sample : samples) {
      for (const auto& file : sample.files) {
        if (KindOf(file.first) == "OPTIONS") continue;  // not read when opening
        if (SuiteClock() > deadline) break;
        FlipBits(sample, file.first, turn, kTurns);
        CutShort(sample, file.first, turn, kTurns);
      }
    }
  }
  EndCases();
}

}  // namespace
}  // namespace ashlar

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ashlar::arguments = ashlar::ParseSuiteArguments(argc, argv, 25);
  const int result = RUN_ALL_TESTS();
  std::printf("corruption:");
  for (const auto& [kind, count] : ashlar::mutations) {
    std::printf(" %llu %s,", static_cast<unsigned long long>(count), kind.c_str());
  }
  for (const auto& [file, counts] : ashlar::classes) {
    std::printf(" %s[", file.c_str());
    for (const auto& [name, count] : counts) {
      std::printf(" %s %llu", name.c_str(), static_cast<unsigned long long>(count));
    }
    std::printf(" ]");
  }
  std::printf(", seed %llu\n", static_cast<unsigned long long>(ashlar::arguments.seed));
  return result;
}
