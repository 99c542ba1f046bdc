// SPDX-License-Identifier: Apache-2.0
//
// The two public classes over CheckpointMaker.
#include "ashlar/utilities/checkpoint.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/rate_limiter.h"
#include "db/db_impl.h"
#include "db/utilities/checkpoint_maker.h"
#include "db/utilities/copy/copy_pool.h"
#include "env/info_log.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// A checkpoint or an export of one database.
class CheckpointOfDb final : public Checkpoint {
 public:
  // The pointer is borrowed; the object must be deleted before the database is closed.
  explicit CheckpointOfDb(DB* db) : maker_(db, CheckpointSettings()) {}

  Status CreateCheckpoint(const std::string& checkpoint_dir, uint64_t log_size_for_flush,
                          uint64_t* sequence_number_ptr) override {
    return CreateCheckpoint(checkpoint_dir, {}, log_size_for_flush, sequence_number_ptr);
  }
  Status CreateCheckpoint(const std::string& checkpoint_dir,
                          const std::vector<ColumnFamilyHandle*>& column_families,
                          uint64_t log_size_for_flush, uint64_t* sequence_number_ptr) override {
    return maker_.MakeCheckpoint({.dir = checkpoint_dir,
                                  .log_size_for_flush = log_size_for_flush,
                                  .families = column_families},
                                 sequence_number_ptr);
  }
  Status ExportColumnFamily(ColumnFamilyHandle* handle, const std::string& export_dir,
                            ExportImportFilesMetaData** metadata) override {
    return maker_.ExportFamily(handle, export_dir, metadata);
  }

 private:
  CheckpointMaker maker_;
};

// A limiter of the program comes first; a rate alone makes a limiter of this engine. Null: no
// limit.
std::shared_ptr<RateLimiter> LimiterOf(const CheckpointEngineOptions& options) {
  if (options.backup_rate_limiter != nullptr || options.backup_rate_limit == 0) {
    return options.backup_rate_limiter;
  }
  assert(options.backup_rate_limit > 0);
  const auto rate = static_cast<int64_t>(std::min<uint64_t>(options.backup_rate_limit, INT64_MAX));
  return std::shared_ptr<RateLimiter>(NewGenericRateLimiter(rate));
}

// Checkpoints of any number of databases, by callers in any number of threads, which share its
// threads and its limit.
class CheckpointEngineOfPool final : public CheckpointEngine {
 public:
  explicit CheckpointEngineOfPool(const CheckpointEngineOptions& options)
      : options_(options), limiter_(LimiterOf(options)), pool_(options.max_background_operations) {}

  IOStatus CreateCheckpoint(DB* source_db, const std::string& destination_dir,
                            uint64_t* sequence_number_ptr,
                            const CreateCheckpointOptions& options) override {
    // The call runs in a thread of the caller; only the copies run in threads of the pool.
    if (source_db == nullptr) return NoDatabase();
    Status status = CheckpointMaker(source_db, SettingsFor(options))
                        .MakeCheckpoint({.dir = destination_dir,
                                         .log_size_for_flush = options.log_size_for_flush,
                                         .families = options.column_families},
                                        sequence_number_ptr);
    Tell(source_db, "Checkpoint", destination_dir, status);
    return status_to_io_status(std::move(status));
  }
  IOStatus ExportColumnFamily(DB* source_db, ColumnFamilyHandle* handle,
                              const std::string& destination_dir,
                              ExportImportFilesMetaData** out_metadata,
                              const CreateCheckpointOptions& options) override {
    if (source_db == nullptr) return NoDatabase();
    Status status = CheckpointMaker(source_db, SettingsFor(options))
                        .ExportFamily(handle, destination_dir, out_metadata);
    Tell(source_db, "Export", destination_dir, status);
    return status_to_io_status(std::move(status));
  }

 private:
  static IOStatus NoDatabase() {
    return IOStatus::InvalidArgument("checkpoint engine: the database is null");
  }
  // The settings for one call: those of the engine, and the priority that the call asks for.
  CheckpointSettings SettingsFor(const CreateCheckpointOptions& options) {
    CheckpointSettings settings;
    settings.copy.buffer_bytes = options_.io_buffer_size;
    // The limiter is shared, so the rate is that of all checkpoints of this engine together.
    settings.copy.limiter = limiter_.get();
    settings.may_link = options_.use_link_file_when_available;
    settings.pool = &pool_;
    settings.cpu_priority = PriorityOf(options);
    return settings;
  }
  // Without a log of its own the engine reports to the log of the database.
  void Tell(DB* db, const char* what, const std::string& dir, const Status& status) const {
    Logger* const log = options_.info_log != nullptr
                            ? options_.info_log
                            : static_cast<DBImpl*>(db->GetRootDB())->info_log();
    Info(log, "%s %s: %s", what, dir.c_str(), status.ToString().c_str());
  }

  // As the program gave them; not changed afterwards, so any thread may read them.
  const CheckpointEngineOptions options_;
  const std::shared_ptr<RateLimiter> limiter_;  // null: no limit
  // Shared by all calls; limits how many files are copied at once.
  CopyPool pool_;
};

}  // namespace

// The database must outlive the object.
Status Checkpoint::Create(DB* db, Checkpoint** checkpoint_ptr) {
  assert(db != nullptr && checkpoint_ptr != nullptr);
  *checkpoint_ptr = new CheckpointOfDb(db);
  return Status::OK();
}

Status CheckpointEngine::Open(const CheckpointEngineOptions& options,
                              std::unique_ptr<CheckpointEngine>* out_checkpoint_engine) {
  if (out_checkpoint_engine == nullptr) {
    return Status::InvalidArgument("CheckpointEngine::Open: the result pointer is null");
  }
  *out_checkpoint_engine = std::make_unique<CheckpointEngineOfPool>(options);
  return Status::OK();
}

// Users derive wrappers from the base class, so its functions have a default.

Status Checkpoint::CreateCheckpoint(const std::string&, uint64_t, uint64_t*) {
  return Status::NotSupported("Checkpoint::CreateCheckpoint");
}

Status Checkpoint::CreateCheckpoint(const std::string& checkpoint_dir,
                                    const std::vector<ColumnFamilyHandle*>& column_families,
                                    uint64_t log_size_for_flush, uint64_t* sequence_number_ptr) {
  if (column_families.empty()) {
    // An empty list means all families, for which a wrapper has the older form.
    return CreateCheckpoint(checkpoint_dir, log_size_for_flush, sequence_number_ptr);
  }
  return Status::NotSupported("Checkpoint::CreateCheckpoint: with some column families only");
}

Status Checkpoint::ExportColumnFamily(ColumnFamilyHandle*, const std::string&,
                                      ExportImportFilesMetaData**) {
  return Status::NotSupported("Checkpoint::ExportColumnFamily");
}

}  // namespace ashlar
