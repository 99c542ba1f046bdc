// SPDX-License-Identifier: Apache-2.0
//
// The values that are fixed for an open database, by subject: where its files are (DbPaths), how it
// accesses files and time (DbEnvironment), what it shares with other databases or uses up to a
// limit (DbResources), its identity (DbIdentity), and its mode (DbMode).
//
// The thread that opens the database writes these values. Afterwards, until closing has stopped all
// work, they are only read, so any thread may read them without a lock.
#pragma once

#include <cassert>
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
#include "env/trace/io_trace.h"

namespace ashlar {

struct DbServices;

// Returns twenty characters that no other call has returned. Any thread.
std::string NewSessionId(Env* env);
// The host id that new tables store: the option's value, or the name of this machine.
std::string HostIdFor(const DBOptions& options);

struct DbPaths {
  DbPaths(const DBOptions& options, const std::string& db_dir);
  // The directories of a family's tables, by path id; never empty.
  std::vector<std::string> TableDirsFor(const ColumnFamilyOptions& options) const;

  const std::string dir;
  const std::string wal_dir;
  // The directories of tables, by path id, for families without cf_paths; never empty.
  std::vector<std::string> table_paths;
  std::set<std::string> table_dirs;  // all of these, and the cf_paths that the opener was given
};

struct DbEnvironment {
  // `services` need not be constructed yet: the constructor only stores the address of its info
  // log, to which exceptions of file listeners are logged later.
  DbEnvironment(const DBOptions& options, const DbServices& services);
  uint64_t NowSeconds() const;  // since 1970; 0: unknown
  // A monotonic clock for intervals: setting the time of day does not change it.
  uint64_t NowMicros() const { return clock->NowNanos() / 1000; }

  Env* const env;
  const std::shared_ptr<IoTrace> io_trace;  // never null
  // The file system of `env` with that trace, and a wrapper that notifies the listeners that ask
  // for file operations, if there are any.
  const std::shared_ptr<FileSystem> fs;
  const std::shared_ptr<SystemClock> clock;
  // Where background threads publish their current operation; null: tracking is off.
  ThreadStatusUpdater* const thread_list;
  const FileOptions file_options;
  TableOutputContext outputs;  // what all new tables have in common; the opener adds the identities
};

struct DbResources {
  explicit DbResources(const DBOptions& options);

  // Manages the memory of memtables, possibly also of other databases; null: there is no limit, and
  // no cache is charged.
  const std::shared_ptr<WriteBufferManager> memory_manager;
  // Blocks that freed memtables leave for new ones; null: a memory manager wants the memory back at
  // once.
  const std::shared_ptr<SpareBlocks> spare_memory;
  OpenTableBudget open_tables;  // has its own synchronization; any thread
  // May be shared with other databases; any thread. Both are null if the database has no
  // SstFileManager.
  const std::shared_ptr<SstFileManager> space_owner;
  SstFileManagerImpl* const space;
};

struct DbIdentity {
  std::string db_id;             // set by the opener
  const std::string session_id;  // new at every opening
};

// Whether this process writes the database. kSecondary: another process does, and this one follows
// it and reads its files in place. kFollower: the same, over hard links to that database's tables
// in a directory of its own.
enum class Access : uint8_t { kReadWrite, kReadOnly, kSecondary, kFollower };

struct DbMode {
  // Both are set first by the opener.
  bool is_read_only = false;  // any access but kReadWrite
  Access access = Access::kReadWrite;
  bool is_following() const { return access >= Access::kSecondary; }
  // A flush that no call has limited to some families flushes all families together.
  const bool atomic_flush;
};

// The lock on the database directory. The destructor releases it at the latest. A read-only
// database takes none.
class DirectoryLock {
 public:
  explicit DirectoryLock(FileSystem* fs) : fs_(fs) {
    assert(fs != nullptr);
  }  // `fs` outlives the object
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  bool is_held() const { return lock_ != nullptr; }
  Status Take(const std::string& dir);
  Status Release();  // OK if no lock is held

 private:
  FileSystem* const fs_;
  FileLock* lock_ = nullptr;
};

}  // namespace ashlar
