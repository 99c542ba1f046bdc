// SPDX-License-Identifier: Apache-2.0
//
// What is fixed about an open database, by subject: where its files are (DbPaths), through what it
// reaches files and time (DbEnvironment), what it shares with others or may use so much of
// (DbResources), who it is (DbIdentity), what it may not do (DbMode).
//
// Opening writes these values, in one thread; from then on until closing has stopped all work they
// are only read, so any thread may, without a lock.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "ashlar/system_clock.h"
#include "db/output/table_output.h"
#include "db/table_cache/table_cache.h"
#include "env/space/sst_file_manager_impl.h"

namespace ashlar {

struct DbServices;

// Twenty characters that no other call has given. Any thread.
std::string NewSessionId(Env* env);
// What tables say of the machine that wrote them: as the option says, or the host's name.
std::string HostIdFor(const DBOptions& options);

struct DbPaths {
  DbPaths(const DBOptions& options, const std::string& db_dir);
  // Directories of a family's tables, by path id; never empty.
  std::vector<std::string> TableDirsFor(const ColumnFamilyOptions& options) const;

  const std::string dir;
  const std::string wal_dir;
  // Directories of tables, by path id, of families that have none of their own; never empty.
  std::vector<std::string> table_paths;
  std::set<std::string> table_dirs;  // these and those of families that the opener was told of
};

struct DbEnvironment {
  // `services` need not be constructed yet: the environment keeps the address of its info log, to
  // which exceptions of file listeners are logged later.
  DbEnvironment(const DBOptions& options, const DbServices& services);
  uint64_t NowSeconds() const;  // since 1970; 0: unknown
  // For intervals: goes on when the time of day is set.
  uint64_t NowMicros() const { return clock->NowNanos() / 1000; }

  Env* const env;
  // That of `env`; or one over it that tells those listeners who ask of every operation.
  const std::shared_ptr<FileSystem> fs;
  const std::shared_ptr<SystemClock> clock;
  // Where background threads say what they do; null: nowhere.
  ThreadStatusUpdater* const thread_list;
  const FileOptions file_options;
  TableOutputContext outputs;  // what all new tables have in common; the opener adds identities
};

struct DbResources {
  explicit DbResources(const DBOptions& options);

  // Of memtables, perhaps those of other databases too; null: no limit, and no cache is charged.
  const std::shared_ptr<WriteBufferManager> memory_manager;
  // Blocks that memtables pass on to later ones; null: a memory manager wants them back at once.
  const std::shared_ptr<SpareBlocks> spare_memory;
  OpenTableBudget open_tables;  // counts for itself; any thread
  // Shared with other databases, perhaps; any thread. Both null: nobody counts space.
  const std::shared_ptr<SstFileManager> space_owner;
  SstFileManagerImpl* const space;
};

struct DbIdentity {
  std::string db_id;             // settled by the opener
  const std::string session_id;  // different at every open
};

struct DbMode {
  bool is_read_only = false;  // set first of all by the opener
  // A flush that no call has limited to some families is of all families together.
  const bool atomic_flush;
};

// The lock on the directory, given back at the latest by the destructor. A read-only database has
// none.
class DirectoryLock {
 public:
  explicit DirectoryLock(FileSystem* fs) : fs_(fs) {}  // which outlives it
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  bool is_held() const { return lock_ != nullptr; }
  Status Take(const std::string& dir);
  Status Release();  // OK without a lock

 private:
  FileSystem* const fs_;
  FileLock* lock_ = nullptr;
};

}  // namespace ashlar
