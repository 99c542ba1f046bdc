// SPDX-License-Identifier: Apache-2.0
//
// The text log: levels, lines, rolling by size and by time, headers, deletion of old logs, names
// with a separate directory; and the JSON of the event log.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/file_system_wrapper.h"
#include "ashlar/options.h"
#include "env/event_log.h"
#include "env/info_log.h"
#include "env/memory/memory_file_system.h"
#include "tests/env/manual_clock.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class InfoLogTest : public testing::Test {
 protected:
  InfoLogTest()
      : clock_(std::make_shared<ManualClock>(1000000)),
        fs_(std::make_shared<MemoryFileSystem>(clock_)) {
    options_.db_path = "/db";
  }
  void Open() { OpenOn(fs_); }
  void OpenOn(const std::shared_ptr<FileSystem>& fs) {
    auto log = OpenInfoLog(fs, clock_, options_);
    ASSERT_OK(log);
    log_ = log.Take();
  }
  std::string Contents(const std::string& path = "/db/LOG") { return fs_->AllFiles()[path]; }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& [path, contents] : fs_->AllFiles()) names.push_back(path);
    return names;
  }
  bool Has(const std::string& text, const std::string& path = "/db/LOG") {
    return Contents(path).find(text) != std::string::npos;
  }

  const std::shared_ptr<ManualClock> clock_;
  const std::shared_ptr<MemoryFileSystem> fs_;
  InfoLogOptions options_;
  std::shared_ptr<Logger> log_;
};

TEST_F(InfoLogTest, LinesAreStampedAndEndOnce) {
  Open();
  Info(log_, "first %s", "message");
  Info(log_, "second\n");
  const std::string text = Contents();
  EXPECT_NE(text.find(" first message\n"), std::string::npos);
  EXPECT_NE(text.find(" second\n"), std::string::npos);
  EXPECT_EQ(text.find("\n\n"), std::string::npos);
  EXPECT_EQ(text.substr(0, 5), "1970/");
}

TEST_F(InfoLogTest, MessagesBelowTheLevelAreDroppedAndOthersMarked) {
  options_.level = InfoLogLevel::WARN_LEVEL;
  Open();
  Debug(log_, "debug");
  Info(log_, "info");
  Warn(log_, "careful");
  Error(log_, "broken");
  Header(log_, "always");
  EXPECT_FALSE(Has("debug"));
  EXPECT_FALSE(Has("info"));
  EXPECT_TRUE(Has("[WARN] careful"));
  EXPECT_TRUE(Has("[ERROR] broken"));
  EXPECT_TRUE(Has("always"));
  log_->SetInfoLogLevel(InfoLogLevel::DEBUG_LEVEL);
  Debug(log_, "now seen");
  EXPECT_TRUE(Has("[DEBUG] now seen"));
}

TEST_F(InfoLogTest, LongMessagesAreWhole) {
  Open();
  const std::string text(5000, 'x');
  Info(log_, "%s|", text.c_str());
  EXPECT_TRUE(Has(text + "|"));
}

TEST_F(InfoLogTest, ANullLoggerIsFine) {
  Info(static_cast<Logger*>(nullptr), "dropped");
  Header(std::shared_ptr<Logger>(), "dropped");
  LogFlush(std::shared_ptr<Logger>());
}

TEST_F(InfoLogTest, AnExistingLogIsSetAside) {
  fs_->PutFile("/db/LOG", "old lines");
  Open();
  EXPECT_EQ(Contents("/db/LOG.old.1000000"), "old lines");
  EXPECT_EQ(Contents(), "");
}

TEST_F(InfoLogTest, ALargeLogRollsAndRepeatsItsHeaders) {
  options_.max_file_bytes = 200;
  Open();
  Header(log_, "version 1");
  for (int i = 0; i < 4; ++i) {
    clock_->Advance(1);
    Info(log_, "%s", std::string(100, 'x').c_str());
  }
  EXPECT_EQ(Names().size(), 2u) << "the old one and the current one";
  EXPECT_TRUE(Has("version 1"));
  EXPECT_TRUE(Has("version 1", Names()[1]));
}

TEST_F(InfoLogTest, HeadersBeyondTheLimitLeaveRoomForLines) {
  options_.max_file_bytes = 200;
  Open();
  Header(log_, "%s", std::string(1000, 'h').c_str());
  for (int i = 0; i < 3; ++i) {
    clock_->Advance(1);
    Info(log_, "line %d", i);
  }
  EXPECT_EQ(Names().size(), 2u);
  EXPECT_TRUE(Has("line 0") && Has("line 2"));
}

TEST_F(InfoLogTest, AnOldLogRollsByTime) {
  options_.roll_after_seconds = 10;
  Open();
  Info(log_, "early");
  clock_->Advance(9999999);
  Info(log_, "still early");
  EXPECT_EQ(Names().size(), 1u);
  clock_->Advance(1);
  Info(log_, "late");
  EXPECT_EQ(Names().size(), 2u);
  EXPECT_FALSE(Has("still early"));
  EXPECT_TRUE(Has("late"));
}

TEST_F(InfoLogTest, TheOldestLogsAreDeleted) {
  options_.keep_file_count = 3;
  for (const char* micros : {"5", "40", "300"}) {
    fs_->PutFile(std::string("/db/LOG.old.") + micros, "");
  }
  fs_->PutFile("/db/LOG.txt", "somebody else's");
  Open();
  EXPECT_EQ(Names(), (std::vector<std::string>{"/db/LOG", "/db/LOG.old.300", "/db/LOG.old.40",
                                               "/db/LOG.txt"}));
}

TEST_F(InfoLogTest, TwoLogsOfOneMicrosecondGetDifferentNames) {
  Open();
  Open();
  Open();
  EXPECT_EQ(Names(),
            (std::vector<std::string>{"/db/LOG", "/db/LOG.old.1000000", "/db/LOG.old.1000001"}));
}

TEST_F(InfoLogTest, ASeparateDirectoryHoldsTheFlattenedPath) {
  options_.log_dir = "/logs";
  options_.db_path = "/data/my db";
  Open();
  Info(log_, "here");
  EXPECT_TRUE(Has("here", "/logs/data_my_db_LOG"));
}

TEST_F(InfoLogTest, NothingIsWrittenAfterClose) {
  Open();
  Info(log_, "before");
  ASSERT_OK(log_->Close());
  ASSERT_OK(log_->Close());
  Info(log_, "after");
  EXPECT_FALSE(Has("after"));
}

TEST_F(InfoLogTest, AFullDiskLosesLinesButNothingElse) {
  Open();
  Info(log_, "fits");
  fs_->SetByteQuota(fs_->UsedBytes());
  Info(log_, "does not fit");
  EXPECT_FALSE(Has("does not fit"));
  EXPECT_TRUE(Has("fits"));
}

TEST_F(InfoLogTest, LinesGoOnWhenTheDiskHasRoomAgain) {
  Open();
  auto plain = OpenLogFile(fs_, clock_, "/db/plain", InfoLogLevel::INFO_LEVEL);
  ASSERT_OK(plain);
  Info(log_, "fits");
  Info(*plain, "fits");
  fs_->SetByteQuota(fs_->UsedBytes() + 10);
  Info(log_, "is cut off");
  Info(*plain, "is lost");
  fs_->SetByteQuota(UINT64_MAX);
  Info(log_, "fits again");
  Info(*plain, "fits again");
  for (const std::string path : {"/db/LOG", "/db/plain"}) {
    EXPECT_TRUE(Has(" fits\n", path)) << Contents(path);
    EXPECT_TRUE(Has(" fits again\n", path)) << Contents(path);
  }
  EXPECT_TRUE(Has("\n1970/01/01\n1970/01/01")) << "a line of its own: " << Contents();
}

TEST_F(InfoLogTest, OptionsDescribeTheLog) {
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  DBOptions options;
  options.env = env.get();
  options.info_log_level = InfoLogLevel::ERROR_LEVEL;
  std::shared_ptr<Logger> logger;
  ASSERT_OK(CreateLoggerFromOptions("/somewhere/db", options, &logger));
  EXPECT_EQ(logger->GetInfoLogLevel(), InfoLogLevel::ERROR_LEVEL);
  EXPECT_OK(env->FileExists("/somewhere/db/LOG"));
  options.info_log = NewNullLogger();
  ASSERT_OK(CreateLoggerFromOptions("/somewhere/db", options, &logger));
  EXPECT_EQ(logger, options.info_log);
}

// The file is empty before it is flushed.
class BufferedFile final : public FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    buffer_.append(data.data(), data.size());
    return IOStatus::OK();
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return target()->Append(std::exchange(buffer_, ""), options, dbg);
  }

 private:
  std::string buffer_;
};

// A file system of a program. Functions that are not set call the target.
class ProgramFs final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  using LoggerMaker = std::function<IOStatus(const std::string& f, std::shared_ptr<Logger>* r)>;

  const char* Name() const override { return "ProgramFs"; }
  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    files++;
    std::unique_ptr<FSWritableFile> file;
    IOStatus status = target()->NewWritableFile(f, options, &file, dbg);
    if (status.ok()) *r = std::make_unique<BufferedFile>(std::move(file));
    return status;
  }
  IOStatus NewLogger(const std::string& f, const IOOptions& options, std::shared_ptr<Logger>* r,
                     IODebugContext* dbg) override {
    if (new_logger) return new_logger(f, r);
    return target()->NewLogger(f, options, r, dbg);
  }

  LoggerMaker new_logger;
  int files = 0;
};

// Keeps its lines, and passes them to another log if there is one.
class KeptLog final : public Logger {
 public:
  explicit KeptLog(std::shared_ptr<Logger> next = nullptr) : next_(std::move(next)) {}
  using Logger::Logv;
  void Logv(const char* format, va_list ap) override {
    char line[200];
    vsnprintf(line, sizeof(line), format, ap);
    lines.emplace_back(line);
    Info(next_, "%s", line);
  }
  std::vector<std::string> lines;

 protected:
  Status CloseImpl() override { return Status::OK(); }

 private:
  const std::shared_ptr<Logger> next_;
};

TEST_F(InfoLogTest, LinesDoNotStayInAFilesBuffer) {
  const auto fs = std::make_shared<ProgramFs>(fs_);
  OpenOn(fs);
  Info(log_, "here");
  EXPECT_TRUE(Has("here"));
  EXPECT_EQ(fs->files, 1) << "the usual log is a file of this file system, not of its target";
}

TEST_F(InfoLogTest, AFileSystemsOwnLogTakesThePlaceOfOurs) {
  const auto fs = std::make_shared<ProgramFs>(fs_);
  const auto own = std::make_shared<KeptLog>();
  std::string path;
  fs->new_logger = [&](const std::string& f, std::shared_ptr<Logger>* r) {
    path = f;
    *r = own;
    return IOStatus::OK();
  };
  fs_->PutFile("/db/LOG", "old lines");
  options_.level = InfoLogLevel::WARN_LEVEL;
  OpenOn(fs);
  EXPECT_EQ(log_, own);
  EXPECT_EQ(path, "/db/LOG");
  EXPECT_EQ(own->GetInfoLogLevel(), InfoLogLevel::WARN_LEVEL);
  EXPECT_EQ(Names(), std::vector<std::string>{"/db/LOG.old.1000000"});
}

TEST_F(InfoLogTest, AFileSystemMayWrapTheUsualLog) {
  const auto fs = std::make_shared<ProgramFs>(fs_);
  std::shared_ptr<KeptLog> own;
  fs->new_logger = [&](const std::string& f, std::shared_ptr<Logger>* r) {
    std::shared_ptr<Logger> usual;
    IOStatus status = fs_->NewLogger(f, IOOptions(), &usual, nullptr);
    *r = own = std::make_shared<KeptLog>(usual);
    return status;
  };
  OpenOn(fs);
  Info(log_, "here");
  EXPECT_EQ(own->lines, std::vector<std::string>{"here"});
  EXPECT_TRUE(Has("here"));
}

TEST_F(InfoLogTest, ALogThatIsToRollIsOurs) {
  const auto fs = std::make_shared<ProgramFs>(fs_);
  fs->new_logger = [](const std::string&, std::shared_ptr<Logger>* r) {
    *r = std::make_shared<KeptLog>();
    return IOStatus::OK();
  };
  options_.roll_after_seconds = 10;
  OpenOn(fs);
  Info(log_, "here");
  EXPECT_TRUE(Has("here"));
}

TEST_F(InfoLogTest, WhatAFileSystemDoesNotOfferIsOurs) {
  const auto fs = std::make_shared<ProgramFs>(fs_);
  fs->new_logger = [](const std::string&, std::shared_ptr<Logger>*) {
    return IOStatus::NotSupported();
  };
  OpenOn(fs);
  Info(log_, "here");
  EXPECT_TRUE(Has("here"));
}

// An Env of a program, with the older interface.
class LoggingEnv final : public EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;
  Status NewLogger(const std::string&, std::shared_ptr<Logger>* r) override {
    *r = logger;
    return Status::OK();
  }
  const std::shared_ptr<Logger> logger = std::make_shared<KeptLog>();
};

TEST_F(InfoLogTest, AnEnvsOwnLogTakesThePlaceOfOurs) {
  LoggingEnv env(std::unique_ptr<Env>(NewMemEnv(Env::Default())));
  DBOptions options;
  options.env = &env;
  std::shared_ptr<Logger> logger;
  ASSERT_OK(CreateLoggerFromOptions("/db", options, &logger));
  EXPECT_EQ(logger, env.logger);
}

// A logger of a program that overrides only the function with a level.
class LevelLogger : public Logger {
 public:
  using Logger::Logv;
  void Logv(const InfoLogLevel level, const char*, va_list) override { levels.push_back(level); }
  std::vector<int> levels;
};

TEST(Logger, ProgramsMayOverrideTheFormWithALevel) {
  LevelLogger logger;
  Debug(&logger, "below the level");
  Info(&logger, "x");
  Warn(&logger, "x");
  Log(&logger, "x");
  EXPECT_EQ(logger.levels, (std::vector<int>{INFO_LEVEL, WARN_LEVEL, INFO_LEVEL}));
}

TEST(EventLog, OneLineOfJsonPerEvent) {
  auto clock = std::make_shared<ManualClock>(77);
  auto fs = std::make_shared<MemoryFileSystem>(clock);
  auto log = OpenLogFile(fs, clock, "/LOG", InfoLogLevel::INFO_LEVEL);
  ASSERT_OK(log);
  const EventLogger events(log->get(), clock.get());
  {
    EventLine line = events.Event("flush_started");
    line.Add("job", 3).Add("cf_name", std::string("a\"b\\c\n")).Add("ratio", 0.5).Add("ok", true);
    JsonWriter inner;
    inner.Add("size", 7).Finish();
    line.Add("files", std::vector<uint64_t>{4, 5}).Add("none", std::vector<uint64_t>{});
    line.Add("properties", inner);
  }
  const std::string text = fs->AllFiles()["/LOG"];
  EXPECT_NE(
      text.find("EVENT_LOG_v1 {\"time_micros\": 77, \"event\": \"flush_started\", \"job\": 3, "
                "\"cf_name\": \"a\\\"b\\\\c\\u000a\", \"ratio\": 0.5, \"ok\": true, "
                "\"files\": [4, 5], \"none\": [], \"properties\": {\"size\": 7}}\n"),
      std::string::npos)
      << text;
}

}  // namespace
}  // namespace ashlar
