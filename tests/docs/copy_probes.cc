// SPDX-License-Identifier: Apache-2.0
//
// Copies of a whole database: checkpoints, exports, backups.
#include <memory>

#include "ashlar/utilities/backup_engine.h"
#include "ashlar/utilities/checkpoint.h"
#include "tests/docs/call_probes.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

Status WithCheckpoint(Ground& g, Status (*run)(const Ground& g, Checkpoint* checkpoint)) {
  Checkpoint* made = nullptr;
  EXPECT_OK(Checkpoint::Create(g.db.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  return run(g, checkpoint.get());
}

Status ExportFamily(const Ground& g, Checkpoint* checkpoint) {
  ExportImportFilesMetaData* metadata = nullptr;
  const Status status = checkpoint->ExportColumnFamily(g.second, "/export", &metadata);
  delete metadata;
  return status;
}

// A directory with one backup, and what a call of its engine answers.
template <typename Call>
Status WithBackup(Ground& g, const Call& call) {
  BackupEngine* opened = nullptr;
  Status status = BackupEngine::Open(BackupEngineOptions("/backup"), g.env.get(), &opened);
  if (!status.ok()) return status;
  const std::unique_ptr<BackupEngine> engine(opened);
  status = engine->CreateNewBackup(CreateBackupOptions(), g.db.get());
  return status.ok() ? call(engine.get()) : status;
}

Status OpenBackupsToRead(Ground& g) {
  return WithBackup(g, [&g](BackupEngine*) {
    BackupEngineReadOnly* reader = nullptr;
    const IOStatus status =
        BackupEngineReadOnly::Open(BackupEngineOptions("/backup"), g.env.get(), &reader);
    delete reader;
    return status;
  });
}

const Probe kCopies[] = {
    {"BackupEngine::CreateNewBackup",
     [](Ground& g) { return WithBackup(g, [](BackupEngine*) { return Status::OK(); }); }},
    {"BackupEngine::RestoreDBFromLatestBackup",
     [](Ground& g) {
       return WithBackup(
           g, [](BackupEngine* e) { return e->RestoreDBFromLatestBackup("/new", "/new"); });
     }},
    {"BackupEngine::VerifyBackup",
     [](Ground& g) {
       return WithBackup(g, [](BackupEngine* e) { return e->VerifyBackup(1, true); });
     }},
    {"BackupEngine::DeleteBackup",
     [](Ground& g) { return WithBackup(g, [](BackupEngine* e) { return e->DeleteBackup(1); }); }},
    {"BackupEngine::PurgeOldBackups",
     [](Ground& g) {
       return WithBackup(g, [](BackupEngine* e) { return e->PurgeOldBackups(1); });
     }},
    {"BackupEngine::GarbageCollect",
     [](Ground& g) { return WithBackup(g, [](BackupEngine* e) { return e->GarbageCollect(); }); }},
    {"BackupEngineReadOnly::Open", &OpenBackupsToRead},
    {"Checkpoint::CreateCheckpoint",
     [](Ground& g) {
       return WithCheckpoint(
           g, [](const Ground&, Checkpoint* c) { return c->CreateCheckpoint("/checkpoint"); });
     }},
    {"Checkpoint::ExportColumnFamily", [](Ground& g) { return WithCheckpoint(g, &ExportFamily); }},
    {"CheckpointEngine::Open",
     [](Ground& g) -> Status {
       std::unique_ptr<CheckpointEngine> engine;
       const Status status = CheckpointEngine::Open(CheckpointEngineOptions(), &engine);
       if (!status.ok()) return status;
       if (engine == nullptr) return Status::Aborted("no engine");
       return engine->CreateCheckpoint(g.db.get(), "/engine");
     }},
};

}  // namespace

std::span<const Probe> CopyProbes() { return kCopies; }

}  // namespace ashlar
