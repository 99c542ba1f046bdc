// SPDX-License-Identifier: Apache-2.0
//
// Runs an Opener with a DbCore, as DB::Open() does, but without the object that serves programs.
#include "db/repair/log_replay.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include "db/opening/open.h"
#include "db/options/options_check.h"
#include "db/state/write_control.h"
#include "util/result.h"

namespace ashlar {
namespace {

// The host of families that have no readers: notifications are ignored.
class QuietHost final : public FamilyHost {
 public:
  explicit QuietHost(DbCore* core) : core_(core) { assert(core != nullptr); }
  SequenceNumber VisibleSeqno() const override { return core_->pipeline->visible_seqno(); }
  SuperVersion* HeldBy(const Snapshot*, const ReadViewSource&) override { return nullptr; }
  void OnViewReleased(Purge) override {}
  void OnFamilyGone(Purge) override {}
  std::shared_ptr<WriteBufferManager> MemoryManager() override {
    return core_->resources.memory_manager;
  }
  const std::shared_ptr<SpareBlocks>& SpareMemory() override {
    return core_->resources.spare_memory;
  }
  SystemClock* Clock() override { return core_->environment.clock.get(); }

 private:
  DbCore* const core_;
};

// The options of the request as an opening needs them, without listeners and space manager.
OpenRequest OpenRequestFor(const LogReplayRequest& request) {
  OpenRequest open{
      .db_options = request.db_options, .dir = request.dir, .families = request.families};
  open.is_repair = true;
  open.db_options.listeners.clear();
  open.db_options.sst_file_manager.reset();
  open.db_options = SanitizeDbOptions(open.db_options);
  for (ColumnFamilyDescriptor& family : open.families) {
    ColumnFamilyOptions& settled = open.settled_options[family.name];
    settled = SettleColumnFamilyOptions(open.db_options, family.options);
    family.options = SanitizeSettledOptions(open.db_options, settled);
  }
  return open;
}

// Splits a text into its lines.
void AddLines(const std::string& text, std::vector<std::string>* lines) {
  assert(lines != nullptr);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines->push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

Status ReplayLogsIntoTables(const LogReplayRequest& request, std::vector<std::string>* report) {
  const OpenRequest open = OpenRequestFor(request);
  DbCore core(open.db_options, open.dir);
  QuietHost host(&core);
  WriteControl writes(&core);
  core.wals = std::make_unique<WalSet>();
  core.pipeline = std::make_unique<CommitPipeline>(&writes, core.wals.get());
  DirectoryNames names(core.environment.fs.get());
  RETURN_IF_ERROR(Opener(open, &core, &host, &names).Run());
  AddLines(core.findings.recovery_report, report);
  // The WAL that the opening began stays empty, or has the prepared transactions.
  writes.StopMakingLogs();
  RETURN_IF_ERROR(core.wals->Close());
  return core.directory_lock.Release();
}

}  // namespace ashlar
