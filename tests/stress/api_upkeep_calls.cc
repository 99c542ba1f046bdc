// SPDX-License-Identifier: Apache-2.0
//
// Calls that move data or change settings of the database. Each switches on again what it switched
// off.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "ashlar/convenience.h"
#include "ashlar/metadata.h"
#include "ashlar/utilities/checkpoint.h"
#include "tests/stress/api_calls.h"

namespace ashlar {
namespace {

// The statuses with which a manual compaction may fail: conflicts with others, missing files,
// disabled compactions.
constexpr auto kMet = {Status::kAborted, Status::kBusy, Status::kIncomplete,
                       Status::kInvalidArgument, Status::kNotSupported};

void CallFlush(ApiCaller* c) {
  FlushOptions options;
  options.wait = c->random.OneIn(2);
  options.allow_write_stall = true;
  ExpectDone(c->db->Flush(options, c->AnyFamily()), "Flush");
}
void CallFlushAll(ApiCaller* c) {
  FlushOptions options;
  options.allow_write_stall = true;
  ExpectDone(c->db->Flush(options, c->families), "Flush of families");
}
void CallCompactRange(ApiCaller* c) {
  CompactRangeOptions options;
  options.exclusive_manual_compaction = c->random.OneIn(3);
  options.change_level = c->random.OneIn(4);
  options.allow_write_stall = true;
  const std::string begin = c->AnyKey(), end = begin + "~";
  const Slice begin_key(begin), end_key(end);
  ExpectDone(c->db->CompactRange(options, c->AnyFamily(), &begin_key, &end_key), "CompactRange",
             kMet);
}
void CallCompactFiles(ApiCaller* c) {
  ColumnFamilyHandle* const family = c->AnyFamily();
  ColumnFamilyMetaData metadata;
  c->db->GetColumnFamilyMetaData(family, &metadata);
  for (const LevelMetaData& level : metadata.levels) {
    if (level.files.empty()) continue;
    const std::string& name = level.files[c->random.Uniform(level.files.size())].name;
    ExpectDone(c->db->CompactFiles(CompactionOptions(), family, {name}, std::max(1, level.level)),
               "CompactFiles", kMet);
    return;
  }
}
void CallSuggestCompactRange(ApiCaller* c) {
  ExpectDone(c->db->SuggestCompactRange(c->AnyFamily(), nullptr, nullptr), "SuggestCompactRange");
}
void CallPromoteL0(ApiCaller* c) {
  ExpectDone(c->db->PromoteL0(c->AnyFamily(), 1), "PromoteL0", kMet);
}
void CallPause(ApiCaller* c) {
  ExpectDone(c->db->PauseBackgroundWork(), "PauseBackgroundWork");
  ExpectDone(c->db->ContinueBackgroundWork(), "ContinueBackgroundWork");
}
void CallEnableAutoCompaction(ApiCaller* c) {
  ExpectDone(c->db->EnableAutoCompaction(c->families), "EnableAutoCompaction");
}
void CallDisableManualCompaction(ApiCaller* c) {
  c->db->DisableManualCompaction();
  c->db->EnableManualCompaction();
}
void CallAbortAll(ApiCaller* c) {
  c->db->AbortAllCompactions();
  c->db->ResumeAllCompactions();
}
void CallAbortOfFamily(ApiCaller* c) {
  ColumnFamilyHandle* const family = c->AnyFamily();
  c->db->AbortCompactions(family);
  c->db->ResumeCompactions(family);
}
void CallWaitForCompact(ApiCaller* c) {
  WaitForCompactOptions options;
  options.timeout = std::chrono::milliseconds(1);
  options.abort_on_pause = c->random.OneIn(2);
  ExpectDone(c->db->WaitForCompact(options), "WaitForCompact",
             {Status::kTimedOut, Status::kAborted});
}
void CallSetOptions(ApiCaller* c) {
  static const char* const kSizes[] = {"32768", "65536", "131072"};
  ExpectDone(
      c->db->SetOptions(c->AnyFamily(), {{"write_buffer_size", kSizes[c->random.Uniform(3)]},
                                         {"min_blob_size", c->random.OneIn(2) ? "50" : "150"}}),
      "SetOptions");
}
void CallSetDbOptions(ApiCaller* c) {
  ExpectDone(c->db->SetDBOptions({{"max_background_jobs", c->random.OneIn(2) ? "2" : "4"},
                                  {"max_open_files", c->random.OneIn(2) ? "-1" : "12"}}),
             "SetDBOptions");
}
void CallResume(ApiCaller* c) { ExpectDone(c->db->Resume(), "Resume", {Status::kBusy}); }
void CallDisableFileDeletions(ApiCaller* c) {
  ExpectDone(c->db->DisableFileDeletions(), "DisableFileDeletions");
  ExpectDone(c->db->EnableFileDeletions(), "EnableFileDeletions");
}
// For files without anchors; a file with anchors must stay.
void CallDeleteFilesInRange(ApiCaller* c) {
  const std::string begin = ComingKey(0), end = ComingKey(kComingKeys + 30);
  const Slice begin_key(begin), end_key(end);
  ExpectDone(DeleteFilesInRange(c->db, c->AnyFamily(), &begin_key, &end_key), "DeleteFilesInRange");
}
void CallFlushWal(ApiCaller* c) { ExpectDone(c->db->FlushWAL(c->random.OneIn(2)), "FlushWAL"); }
void CallSyncWal(ApiCaller* c) { ExpectDone(c->db->SyncWAL(), "SyncWAL"); }
void CallLockWal(ApiCaller* c) {
  ExpectDone(c->db->LockWAL(), "LockWAL");
  ExpectDone(c->db->UnlockWAL(), "UnlockWAL");
}
void Remove(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}
void CallCheckpoint(ApiCaller* c) {
  Checkpoint* made = nullptr;
  ExpectDone(Checkpoint::Create(c->db, &made), "Checkpoint::Create");
  const std::unique_ptr<Checkpoint> checkpoint(made);
  const std::string path = c->NewName("checkpoint");
  ExpectDone(checkpoint->CreateCheckpoint(path, c->random.OneIn(2) ? 0 : UINT64_MAX),
             "CreateCheckpoint");
  Remove(path);
}
// A family that is created, gets keys, and is dropped.
void CallCreateFamily(ApiCaller* c) {
  ColumnFamilyHandle* family = nullptr;
  const std::string name = std::filesystem::path(c->NewName("family")).filename();
  ExpectDone(c->db->CreateColumnFamily(ApiOptions(), name, &family), "CreateColumnFamily");
  if (family == nullptr) return;
  ExpectDone(c->db->Put(WriteOptions(), family, "key", "value"), "Put to a new family");
  std::string value;
  ExpectDone(c->db->Get(ReadOptions(), family, "key", &value), "Get of a new family");
  ExpectDone(c->db->DropColumnFamily(family), "DropColumnFamily");
  ExpectDone(c->db->Get(ReadOptions(), family, "key", &value), "Get of a dropped family");
  ExpectDone(c->db->DestroyColumnFamilyHandle(family), "DestroyColumnFamilyHandle");
}
void CallCreateFamilies(ApiCaller* c) {
  std::vector<ColumnFamilyHandle*> families;
  const std::vector<std::string> names{std::filesystem::path(c->NewName("one")).filename(),
                                       std::filesystem::path(c->NewName("other")).filename()};
  ExpectDone(c->db->CreateColumnFamilies(ApiOptions(), names, &families), "CreateColumnFamilies");
  ExpectDone(c->db->DropColumnFamilies(families), "DropColumnFamilies");
  for (ColumnFamilyHandle* family : families) {
    ExpectDone(c->db->DestroyColumnFamilyHandle(family), "DestroyColumnFamilyHandle");
  }
}
void CallImportFamily(ApiCaller* c) {
  Checkpoint* made = nullptr;
  ExpectDone(Checkpoint::Create(c->db, &made), "Checkpoint::Create");
  const std::unique_ptr<Checkpoint> checkpoint(made);
  const std::string path = c->NewName("export");
  ExportImportFilesMetaData* raw = nullptr;
  const Status exported = checkpoint->ExportColumnFamily(c->families[1], path, &raw);
  const std::unique_ptr<ExportImportFilesMetaData> metadata(raw);
  ExpectDone(exported, "ExportColumnFamily");
  if (exported.ok()) {
    ColumnFamilyHandle* family = nullptr;
    const std::string name = std::filesystem::path(path).filename();
    ExpectDone(c->db->CreateColumnFamilyWithImport(ApiOptions(), name, ImportColumnFamilyOptions(),
                                                   *metadata, &family),
               "CreateColumnFamilyWithImport");
    if (family != nullptr) {
      std::string value;
      const Status status = c->db->Get(ReadOptions(), family, AnchorKey(5), &value);
      ExpectAnchor(5, status, value, "Get of an imported family");
      ExpectDone(c->db->DropColumnFamily(family), "DropColumnFamily");
      ExpectDone(c->db->DestroyColumnFamilyHandle(family), "DestroyColumnFamilyHandle");
    }
  }
  Remove(path);
}

}  // namespace

std::span<const ApiCall> UpkeepCalls() {
  static constexpr ApiCall kCalls[] = {
      {"Flush", &CallFlush},
      {"Flush of families", &CallFlushAll},
      {"CompactRange", &CallCompactRange},
      {"CompactFiles", &CallCompactFiles},
      {"SuggestCompactRange", &CallSuggestCompactRange},
      {"PromoteL0", &CallPromoteL0},
      {"PauseBackgroundWork", &CallPause},
      {"EnableAutoCompaction", &CallEnableAutoCompaction},
      {"DisableManualCompaction", &CallDisableManualCompaction},
      {"AbortAllCompactions", &CallAbortAll},
      {"AbortCompactions", &CallAbortOfFamily},
      {"WaitForCompact", &CallWaitForCompact},
      {"SetOptions", &CallSetOptions},
      {"SetDBOptions", &CallSetDbOptions},
      {"Resume", &CallResume},
      {"DisableFileDeletions", &CallDisableFileDeletions},
      {"DeleteFilesInRange", &CallDeleteFilesInRange},
      {"FlushWAL", &CallFlushWal},
      {"SyncWAL", &CallSyncWal},
      {"LockWAL", &CallLockWal},
      {"CreateCheckpoint", &CallCheckpoint},
      {"CreateColumnFamily", &CallCreateFamily},
      {"CreateColumnFamilies", &CallCreateFamilies},
      {"CreateColumnFamilyWithImport", &CallImportFamily},
  };
  return kCalls;
}

}  // namespace ashlar
