// SPDX-License-Identifier: Apache-2.0
//
// A CompactionService does compactions whose tables go to two levels or to another tier of storage.
// The worker divides entries as the database would, although its own clock says something else.
#include <functional>
#include <memory>
#include <string>

#include "ashlar/listener.h"
#include "db/jobs/remote/remote_forms.h"
#include "tests/db/tiers/tiers_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Runs the worker in Wait().
class WorkingService final : public CompactionService {
 public:
  const char* Name() const override { return "WorkingService"; }
  CompactionServiceScheduleResponse Schedule(const CompactionServiceJobInfo&,
                                             const std::string& input) override {
    input_ = input;
    return {StrCat(++jobs), CompactionServiceJobStatus::kSuccess};
  }
  CompactionServiceJobStatus Wait(const std::string& id, std::string* result) override {
    EXPECT_OK(DB::OpenAndCompact("/db", "/out/" + id, input_, result, options));
    if (tamper) tamper(result);
    return CompactionServiceJobStatus::kSuccess;
  }
  void OnInstallation(const std::string&, CompactionServiceJobStatus status) override {
    last_end = status;
  }

  CompactionServiceOptionsOverride options;
  std::function<void(std::string* result)> tamper;
  int jobs = 0;
  CompactionServiceJobStatus last_end = CompactionServiceJobStatus::kFailure;

 private:
  std::string input_;
};

class RemoteTiersTest : public TiersTest {
 protected:
  RemoteTiersTest() {
    options_.compaction_style = kCompactionStyleUniversal;
    options_.num_levels = 4;
    options_.disable_auto_compactions = true;
    options_.preclude_last_level_data_seconds = kPeriod;
    options_.last_level_temperature = Temperature::kCold;
    options_.compaction_service = service_;
    worker_env_ = NewCompositeEnv(env_->GetFileSystem());  // with the clock of the system
    service_->options.env = worker_env_.get();
  }
  // Old entries on the last level, and young ones above it.
  void WriteBoth() {
    Put("a", "1");
    Put("b", "1");
    Put("c", "1");
    Flush();
    Pass(kPeriod + 10);
    Put("b", "2");
    Put("d", "2");
    Flush();
  }

  const std::shared_ptr<WorkingService> service_ = std::make_shared<WorkingService>();
  std::unique_ptr<Env> worker_env_;
};

TEST_F(RemoteTiersTest, AWorkerDividesOldAndYoungEntries) {
  Open();
  WriteBoth();
  Compact();
  EXPECT_EQ(service_->jobs, 1);
  EXPECT_EQ(service_->last_end, CompactionServiceJobStatus::kSuccess);
  EXPECT_EQ(NumbersByLevel(), "L2 4-5 L3 0-0");
  EXPECT_EQ(Scan(), "a=1 b=2 c=1 d=2");
  for (const LiveFileMetaData& table : Tables()) {
    EXPECT_EQ(table.temperature, table.level == 3 ? Temperature::kCold : Temperature::kUnknown);
  }
  Reopen();
  EXPECT_EQ(Scan(), "a=1 b=2 c=1 d=2");
  EXPECT_OK(db_->VerifyChecksum());
}

TEST_F(RemoteTiersTest, AWorkerDividesRangeTombstonesToo) {
  Open();
  Put("a", "1");
  Put("b", "1");
  Flush();
  Pass(kPeriod + 10);
  const Snapshot* const snapshot = db_->GetSnapshot();
  DeleteRange("a", "b");
  Flush();
  Compact();
  EXPECT_EQ(service_->last_end, CompactionServiceJobStatus::kSuccess);
  EXPECT_EQ(NumbersByLevel(), "L2 3-3 L3 0-0");
  EXPECT_EQ(Scan(), "b=1");
  EXPECT_EQ(Scan(AsOf(snapshot)), "a=1 b=1");
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(RemoteTiersTest, AWorkerWritesToTheTierThatTheCallNames) {
  options_.compaction_style = kCompactionStyleLevel;
  options_.preclude_last_level_data_seconds = 0;
  Open();
  Put("a", "1");
  Flush();
  Put("b", "1");
  Flush();
  CompactionOptions compact;
  compact.output_temperature_override = Temperature::kIce;
  ASSERT_OK(db_->CompactFiles(compact, TableNames(0), 1));
  EXPECT_EQ(service_->last_end, CompactionServiceJobStatus::kSuccess);
  ASSERT_EQ(Tables().size(), 1u);
  EXPECT_EQ(Tables().front().temperature, Temperature::kIce);
  EXPECT_EQ(Scan(), "a=1 b=1");
}

// The plan has claimed only the range of its upper tables on the level above.
TEST_F(RemoteTiersTest, AYoungTableOutsideOfTheClaimedRangeIsRefused) {
  Open();
  for (const char* key : {"a", "b", "c"}) Put(key, "1");
  Flush();
  Pass(kPeriod + 10);
  Compact();
  service_->tamper = [](std::string* answer) {
    Result<RemoteResult> result = RemoteResult::Decode(*answer);
    ASSERT_OK(result.status());
    for (RemoteResult::Table& table : result->tables) table.is_young = !table.is_young;
    *answer = result->Encode();
  };
  Put("b", "2");
  Put("d", "2");
  Flush();
  CompactAndRewrite();
  EXPECT_EQ(service_->last_end, CompactionServiceJobStatus::kUseLocal);
  EXPECT_EQ(NumbersByLevel(), "L2 4-5 L3 0-0");
  EXPECT_EQ(Scan(), "a=1 b=2 c=1 d=2");
}

TEST_F(RemoteTiersTest, AYoungTableIsRefusedIfTheJobHasOneLevel) {
  service_->tamper = [](std::string* answer) {
    Result<RemoteResult> result = RemoteResult::Decode(*answer);
    ASSERT_OK(result.status());
    for (RemoteResult::Table& table : result->tables) table.is_young = true;
    *answer = result->Encode();
  };
  options_.preclude_last_level_data_seconds = 0;
  Open();
  WriteBoth();
  Compact();
  EXPECT_EQ(service_->last_end, CompactionServiceJobStatus::kUseLocal);
  EXPECT_EQ(Levels(), "0,0,0,1");
}

}  // namespace
}  // namespace ashlar
