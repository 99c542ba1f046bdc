// SPDX-License-Identifier: Apache-2.0
//
// Databases whose files in memory are changed between two lives, and what the next opening finds.
// Threads: one at a time.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/options.h"
#include "db/wal/log_reader.h"
#include "env/filename.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"

namespace ashlar {

using Files = std::map<std::string, std::string>;
inline constexpr WALRecoveryMode kSkipAny = WALRecoveryMode::kSkipAnyCorruptedRecords;
inline constexpr WALRecoveryMode kEveryMode[] = {WALRecoveryMode::kTolerateCorruptedTailRecords,
                                                 WALRecoveryMode::kAbsoluteConsistency,
                                                 WALRecoveryMode::kPointInTimeRecovery, kSkipAny};

class RecoveryTest : public testing::Test {
 protected:
  RecoveryTest() {
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
  }

  // The files that a killed process leaves after `work`.
  Files FilesAfter(const std::function<void(OpenedDb*)>& work) {
    auto fs = std::make_shared<MemoryFileSystem>();
    const std::unique_ptr<Env> env = NewCompositeEnv(fs);
    options_.env = env.get();
    OpenedDb opened;
    EXPECT_OK(opened.Open(options_, "/db"));
    work(&opened);
    return WithoutLock(fs->AllFiles());
  }
  static Files WithoutLock(Files files) {
    std::erase_if(files, [](const auto& file) { return file.first.ends_with("/LOCK"); });
    return files;
  }
  static void Put(OpenedDb* opened, const std::string& key) {
    EXPECT_OK(opened->db()->Put(WriteOptions(), key, "value"));
  }

  // What an open of these files finds: the keys of all families, or why there are none.
  std::string Keys(const Files& files,
                   WALRecoveryMode mode = WALRecoveryMode::kPointInTimeRecovery) {
    auto fs = std::make_shared<MemoryFileSystem>();
    for (const auto& [path, bytes] : files) fs->PutFile(path, bytes);
    const std::unique_ptr<Env> env = NewCompositeEnv(fs);
    Options options = options_;
    options.env = env.get();
    options.wal_recovery_mode = mode;
    OpenedDb opened;
    message_.clear();
    Status status = opened.Open(options, "/db");
    Contents contents;
    if (status.ok()) {
      EXPECT_TRUE(opened.db()->GetProperty("ashlar.recovery-report", &message_));
      status = opened.ReadAll(&contents);
    }
    if (!status.ok()) {
      message_ = status.ToString();
      return status.IsCorruption() ? "corruption" : "other error";
    }
    std::string keys;
    for (const auto& [family, rows] : contents) {
      for (const auto& [key, value] : rows) keys += key;
    }
    EXPECT_OK(opened.Close());
    after_ = WithoutLock(fs->AllFiles());
    return keys;
  }
  // In the modes that do not take whatever is left.
  void ExpectCorruptionUnlessSkipping(const Files& files, const std::string& skipped) {
    for (WALRecoveryMode mode : kEveryMode) {
      EXPECT_EQ(Keys(files, mode), mode == kSkipAny ? skipped : "corruption") << int(mode);
      EXPECT_NE(message_, "") << int(mode);
    }
  }

  static std::vector<std::string> Paths(const Files& files, const std::string& part) {
    std::vector<std::string> paths;
    for (const auto& [path, bytes] : files) {
      if (path.find(part) != std::string::npos) paths.push_back(path);
    }
    return paths;
  }
  static std::string Newest(const Files& files, const std::string& part) {
    const std::vector<std::string> paths = Paths(files, part);
    EXPECT_FALSE(paths.empty());
    return paths.back();
  }
  static FileNumber NumberOf(const std::string& path) {
    FileNumber number;
    FileType type;
    EXPECT_TRUE(ParseFileName(path.substr(path.rfind('/') + 1), &number, &type));
    return number;
  }
  // Where the records of a log or MANIFEST end, from 0 on.
  static std::vector<uint64_t> Borders(const std::string& bytes, FileNumber log_number = {}) {
    LogReader::Options options;
    options.log_number = log_number;
    LogReader reader(NewMemoryLogSource(bytes, "log"), options, nullptr);
    std::vector<uint64_t> borders{0};
    for (Slice record; reader.ReadRecord(&record);) borders.push_back(reader.record_end());
    return borders;
  }

  Options options_;
  std::string message_;  // of the last open: the error, or the recovery report
  Files after_;          // the last open and clean close
};

}  // namespace ashlar
