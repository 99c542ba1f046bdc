// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of some families, and checkpoints by an engine.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "ashlar/file_system_wrapper.h"
#include "ashlar/metadata.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/statistics.h"
#include "ashlar/utilities/checkpoint.h"
#include "ashlar/utilities/options_util.h"
#include "tests/support/log_lines.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class CheckpointEngineTest : public DbTest {
 protected:
  CheckpointEngineTest() : DbTest(TestFiles::kSim) {
    options_.statistics = CreateDBStatistics();
    options_.enable_blob_files = true;
    options_.min_blob_size = 20;
  }
  // Three families with a table, a blob file and a write in the log each.
  void Fill() {
    Open({kDefaultColumnFamilyName, "second", "third"});
    for (ColumnFamilyHandle* handle : handles_) {
      Put(handle, "large", handle->GetName() + std::string(30, 'x'));
      Put(handle, "small", handle->GetName());
    }
    Flush(handles_);
    for (ColumnFamilyHandle* handle : handles_) Put(handle, "logged", handle->GetName());
  }
  static std::unique_ptr<CheckpointEngine> Engine(const CheckpointEngineOptions& options = {}) {
    std::unique_ptr<CheckpointEngine> engine;
    EXPECT_OK(CheckpointEngine::Open(options, &engine));
    return engine;
  }
  Contents ContentsOf(const std::string& dir) {
    TestDb copy(sim_, options_);
    copy.dir() = dir;
    copy.options().create_if_missing = false;
    copy.options().create_missing_column_families = false;
    copy.OpenAll();
    return copy.db() == nullptr ? Contents() : copy.ReadAll();
  }
  std::unique_ptr<Checkpoint> NewCheckpoint() {
    Checkpoint* made = nullptr;
    EXPECT_OK(Checkpoint::Create(db_.get(), &made));
    return std::unique_ptr<Checkpoint>(made);
  }
  int FilesIn(const std::string& dir, const std::string& ending) {
    std::vector<std::string> names;
    EXPECT_OK(env_->GetChildren(dir, &names));
    return static_cast<int>(std::count_if(
        names.begin(), names.end(), [&](const auto& name) { return name.ends_with(ending); }));
  }
};

TEST_F(CheckpointEngineTest, CopiesSomeFamilies) {
  Fill();
  for (const uint64_t log_size : {uint64_t{0}, UINT64_MAX}) {
    const std::string dir = "/copy" + std::to_string(log_size);
    uint64_t seqno = 0;
    ASSERT_OK(NewCheckpoint()->CreateCheckpoint(dir, {handles_[2]}, log_size, &seqno));
    EXPECT_EQ(seqno, db_->GetLatestSequenceNumber());
    EXPECT_EQ(FilesIn(dir, ".blob"), 2);
    EXPECT_EQ(FilesIn(dir, ".sst"), 4);
    const Contents contents = ContentsOf(dir);
    ASSERT_EQ(contents.size(), 2u);
    EXPECT_EQ(contents.at("default").at("logged"), "default");
    EXPECT_EQ(contents.at("third").at("logged"), "third");
    EXPECT_EQ(contents.at("third").at("large"), "third" + std::string(30, 'x'));
  }
  EXPECT_EQ(ReadAll().size(), 3u);
}

// A new family of the copy gets an id that no dropped family had.
TEST_F(CheckpointEngineTest, ACopyOfSomeFamiliesGoesOn) {
  Fill();
  ASSERT_OK(NewCheckpoint()->CreateCheckpoint("/copy", {handles_[0]}, UINT64_MAX));
  TestDb copy(sim_, options_);
  copy.dir() = "/copy";
  copy.OpenAll();
  ASSERT_NE(copy.db(), nullptr);
  ColumnFamilyHandle* const again = copy.CreateFamily("second");
  EXPECT_EQ(copy.Scan({}, again), "");
  EXPECT_GT(again->GetID(), handles_[2]->GetID());
  copy.Put(again, "new", "1");
  copy.Drop();
  EXPECT_EQ(ContentsOf("/copy").at("second"), (Rows{{"new", "1"}}));
}

// The names of the families with which the options in a copy open it.
std::vector<std::string> NamesByOptionsOf(Env* env, const std::string& dir) {
  ConfigOptions config;
  config.env = env;
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  EXPECT_OK(LoadLatestOptions(config, dir, &options, &families));
  EXPECT_EQ(options.wal_dir, "");
  EXPECT_EQ(options.db_log_dir, "");
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;
  EXPECT_OK(DB::Open(options, dir, families, &handles, &db));
  std::vector<std::string> names;
  for (ColumnFamilyHandle* const handle : handles) {
    std::string value;
    EXPECT_OK(db->Get(ReadOptions(), handle, "logged", &value));
    names.push_back(handle->GetName());
    EXPECT_EQ(value, names.back());
    EXPECT_OK(db->DestroyColumnFamilyHandle(handle));
  }
  return names;
}

TEST_F(CheckpointEngineTest, OpensWithTheOptionsThatItHas) {
  options_.wal_dir = "/logs";
  options_.db_log_dir = "/info_logs";
  Fill();
  using Names = std::vector<std::string>;
  const auto checkpoint = NewCheckpoint();
  ASSERT_OK(checkpoint->CreateCheckpoint("/some", {handles_[2]}, UINT64_MAX));
  EXPECT_EQ(NamesByOptionsOf(env_.get(), "/some"), (Names{"default", "third"}));
  ASSERT_OK(checkpoint->CreateCheckpoint("/all", UINT64_MAX));
  EXPECT_EQ(NamesByOptionsOf(env_.get(), "/all"), (Names{"default", "second", "third"}));
}

TEST_F(CheckpointEngineTest, RefusesFamiliesThatItDoesNotHave) {
  Fill();
  TestDb other;
  other.Open({kDefaultColumnFamilyName, "second"});
  const auto checkpoint = NewCheckpoint();
  const auto refused = [&](ColumnFamilyHandle* handle) {
    return checkpoint->CreateCheckpoint("/copy", {handles_[1], handle}).IsInvalidArgument();
  };
  EXPECT_TRUE(refused(nullptr));
  EXPECT_TRUE(refused(other.handles()[1]));
  ASSERT_OK(db_->DropColumnFamily(handles_[2]));
  EXPECT_TRUE(refused(handles_[2]));
  EXPECT_TRUE(env_->FileExists("/copy").IsNotFound());
  EXPECT_TRUE(env_->FileExists("/copy.tmp").IsNotFound());
}

TEST_F(CheckpointEngineTest, ServesSeveralDatabases) {
  Fill();
  TestDb other;
  other.Open();
  other.Put("a", "1");
  CheckpointEngineOptions options;
  options.max_background_operations = 3;
  const auto engine = Engine(options);
  uint64_t seqno = 0;
  ASSERT_OK(engine->CreateCheckpoint(db_.get(), "/copy", &seqno));
  EXPECT_EQ(seqno, db_->GetLatestSequenceNumber());
  EXPECT_EQ(ContentsOf("/copy"), ReadAll());
  ASSERT_OK(engine->CreateCheckpoint(other.db(), "/copy"));
  EXPECT_TRUE(other.env()->FileExists("/copy/CURRENT").ok());
  EXPECT_TRUE(engine->CreateCheckpoint(db_.get(), "/copy").IsInvalidArgument());
  EXPECT_TRUE(engine->CreateCheckpoint(nullptr, "/none").IsInvalidArgument());
  EXPECT_TRUE(CheckpointEngine::Open(options, nullptr).IsInvalidArgument());
}

TEST_F(CheckpointEngineTest, TakesItsOptions) {
  Fill();
  CheckpointEngineOptions options;
  options.use_link_file_when_available = false;
  options.max_background_operations = 0;
  options.backup_rate_limiter.reset(NewGenericRateLimiter(1 << 30));
  const auto engine = Engine(options);
  CreateCheckpointOptions call;
  call.log_size_for_flush = UINT64_MAX;
  call.column_families = {handles_[1]};
  ASSERT_OK(engine->CreateCheckpoint(db_.get(), "/copy", nullptr, call));
  EXPECT_EQ(ContentsOf("/copy").size(), 2u);
  const uint64_t copied = TakeTicks(CHECKPOINT_WRITE_BYTES);
  EXPECT_GE(static_cast<uint64_t>(options.backup_rate_limiter->GetTotalBytesThrough()), copied);
  ASSERT_OK(Engine()->CreateCheckpoint(db_.get(), "/linked", nullptr, call));
  EXPECT_LT(TakeTicks(CHECKPOINT_WRITE_BYTES), copied);
}

TEST_F(CheckpointEngineTest, ExportsAFamily) {
  Fill();
  ExportImportFilesMetaData* metadata = nullptr;
  ASSERT_OK(Engine()->ExportColumnFamily(db_.get(), handles_[1], "/export", &metadata));
  const std::unique_ptr<ExportImportFilesMetaData> exported(metadata);
  ColumnFamilyHandle* imported = nullptr;
  ASSERT_OK(db_->CreateColumnFamilyWithImport(options_, "fourth", ImportColumnFamilyOptions(),
                                              *exported, &imported));
  EXPECT_EQ(Scan({}, imported), Scan({}, handles_[1]));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(imported));
}

// Remembers the priority of the last thread that has linked a file.
class PriorityOfLinks final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "PriorityOfLinks"; }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* dbg) override {
    priority = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
    return FileSystemWrapper::LinkFile(from, to, options, dbg);
  }
  std::atomic<int> priority{0};
};

TEST_F(CheckpointEngineTest, ExportsAtThePriorityOfTheCall) {
  const auto files = std::make_shared<PriorityOfLinks>(sim_);
  UseFiles(files);
  Fill();
  CreateCheckpointOptions call;
  call.decrease_background_thread_cpu_priority = true;
  call.background_thread_cpu_priority = CpuPriority::kIdle;
  ExportImportFilesMetaData* metadata = nullptr;
  ASSERT_OK(Engine()->ExportColumnFamily(db_.get(), handles_[1], "/export", &metadata, call));
  const std::unique_ptr<ExportImportFilesMetaData> exported(metadata);
  EXPECT_EQ(files->priority, 19);
  EXPECT_FALSE(exported->files.empty());
}

TEST_F(CheckpointEngineTest, ReportsToTheLogOfTheDatabaseUnlessItHasOne) {
  const auto log = std::make_shared<LogLines>();
  options_.info_log = log;
  Fill();
  ASSERT_OK(Engine()->CreateCheckpoint(db_.get(), "/first"));
  EXPECT_NE(log->LineWith({"Checkpoint /first: OK"}), "");
  LogLines own;
  CheckpointEngineOptions options;
  options.info_log = &own;
  ASSERT_OK(Engine(options)->CreateCheckpoint(db_.get(), "/second"));
  EXPECT_NE(own.LineWith({"Checkpoint /second: OK"}), "");
  EXPECT_EQ(log->LineWith({"Checkpoint /second"}), "");
}

TEST_F(CheckpointEngineTest, ReportsToTheLogThatTheDatabaseHasOpened) {
  Fill();
  ASSERT_OK(Engine()->CreateCheckpoint(db_.get(), "/copy"));
  std::string log;
  ASSERT_OK(ReadFileToString(env_.get(), "/db/LOG", &log));
  EXPECT_NE(log.find("Checkpoint /copy: OK"), std::string::npos);
}

// A crash leaves no copy or a whole one.
TEST_F(CheckpointEngineTest, ACrashLeavesAllOrNothing) {
  Fill();
  sim_->SyncEverything();
  const uint64_t begin = sim_->CallCount();
  ASSERT_OK(NewCheckpoint()->CreateCheckpoint("/copy", {handles_[1]}, UINT64_MAX));
  const uint64_t end = sim_->CallCount();
  int whole = 0;
  for (uint64_t call = begin; call <= end; call++) {
    for (const CrashPolicy policy : kAllCrashPolicies) {
      const std::string when = "crash before call " + std::to_string(call) + ", " + NameOf(policy);
      TestDb copy(sim_->CrashImage(call, policy, 0), options_);
      copy.dir() = "/copy";
      const bool is_there = copy.env()->FileExists("/copy").ok();
      EXPECT_TRUE(is_there || call < end) << when;
      if (!is_there) continue;
      whole++;
      copy.OpenAll();
      ASSERT_NE(copy.db(), nullptr) << when;
      const Contents contents = copy.ReadAll();
      ASSERT_EQ(contents.size(), 2u) << when;
      EXPECT_EQ(contents.at("second").size(), 3u) << when;
    }
  }
  EXPECT_GT(whole, 0);
}

}  // namespace
}  // namespace ashlar
