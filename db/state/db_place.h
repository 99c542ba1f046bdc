// SPDX-License-Identifier: Apache-2.0
//
// DbPlace is what is fixed about an open database: where its files are, who it is, what the user
// handed in to work with.
//
// Opening writes it, in one thread; from then on until closing has stopped all work it only reads,
// so any thread may, without a lock.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "db/output/table_output.h"
#include "db/read/merge_resolution.h"
#include "db/table_cache/table_cache.h"
#include "db/wal/log_archive.h"
#include "env/event_log.h"
#include "env/space/sst_file_manager_impl.h"

namespace ashlar {

class DB;

// Deletes the files that have become obsolete. Called without the DB mutex.
class FileCleaner {
 public:
  virtual ~FileCleaner() = default;
  virtual void DeleteObsoleteFiles() = 0;
};

// Hears of a lack of space, and sees to it that work goes on when there is some.
class SpaceShortage {
 public:
  virtual ~SpaceShortage() = default;
  // The disk is full, and writes are refused.
  virtual void OnDiskFull() = 0;
  // A compaction of so much input would not fit below the limit.
  virtual void OnNoRoomForCompaction(uint64_t bytes) = 0;
  // Returns when nothing is being tried; nobody runs out of space any more.
  virtual void StopTrying() = 0;
};

// Tries again by itself after errors that may go away.
class AutomaticRecovery {
 public:
  virtual ~AutomaticRecovery() = default;
  // Whether it would begin to try because of this error, which stops writes or flushes, and is
  // raised.
  enum class Answer : uint8_t { kNo, kYes, kTriesAlready };
  virtual Answer Wants(const Status& error) = 0;
  virtual void Begin() = 0;
  // Returns when nothing is being tried, and nothing will be.
  virtual void StopTrying() = 0;
};

// Twenty characters that no other call has given. Any thread.
std::string NewSessionId(Env* env);
// What tables say of the machine that wrote them: as the option says, or the host's name.
std::string HostIdFor(const DBOptions& options);

struct DbPlace {
  // What the options alone say.
  DbPlace(const DBOptions& db_options, const std::string& db_dir);
  ~DbPlace();
  DbPlace(const DbPlace&) = delete;
  DbPlace& operator=(const DbPlace&) = delete;

  // Files.
  const std::string dir;
  const std::string wal_dir;
  // Directories of tables, by path id, of families that have none of their own; never empty.
  std::vector<std::string> table_paths;
  std::set<std::string> table_dirs;  // these and those of families that the opener was told of
  Env* const env;
  // That of `env`; or one over it that tells those listeners who ask of every operation.
  const std::shared_ptr<FileSystem> fs;
  const std::shared_ptr<SystemClock> clock;
  // Where background threads say what they do; null: nowhere.
  ThreadStatusUpdater* const thread_list;
  const FileOptions file_options;
  TableOutputContext outputs;  // what all new tables have in common
  // Of memtables, perhaps those of other databases too; null: no limit, and no cache is charged.
  const std::shared_ptr<WriteBufferManager> memory_manager;
  // What memtables leave to one another; null: whoever limits memory is to have it at once.
  const std::shared_ptr<SpareBlocks> spare_memory;
  OpenTableBudget open_tables;  // counts for itself; any thread
  const bool atomic_flush;      // what no call asks for flushes all families together
  // Shared with other databases, perhaps; any thread. Both null: nobody counts space.
  const std::shared_ptr<SstFileManager> space_owner;
  SstFileManagerImpl* const space;
  bool is_read_only = false;  // set first of all by the opener
  LogArchive archive;         // any thread
  FileLock* lock = nullptr;   // given back at closing; null in a read-only database

  // Identity.
  std::string db_id;             // settled by the opener
  const std::string session_id;  // different at every open
  std::string recovery_report;   // what opening dropped from the logs; empty: nothing
  bool has_whole_logs = true;    // no record of a log was left out by opening
  // Best-efforts recovery left out what is on disk: what nobody can explain is put aside.
  bool has_gone_back = false;

  // Who is told, and what helps.
  const std::shared_ptr<Statistics> statistics;  // null: off
  const std::vector<std::shared_ptr<EventListener>> listeners;
  std::shared_ptr<Logger> info_log;     // null until the opener has made the log
  std::unique_ptr<EventLogger> events;  // likewise
  DB* db = nullptr;                     // the façade, for listeners
  FileCleaner* cleaner = nullptr;
  SpaceShortage* shortage = nullptr;     // null without `space`
  AutomaticRecovery* retries = nullptr;  // null: nobody tries again

  // For folding merge operands, but for the operator, which is a family's.
  MergeTools merge_tools() const {
    return {.info_log = info_log.get(), .statistics = statistics.get(), .clock = clock.get()};
  }

  uint64_t NowSeconds() const;  // since 1970
  // For intervals: goes on when the time of day is set.
  uint64_t NowMicros() const { return clock->NowNanos() / 1000; }
};

// Directories of a family's tables, by path id; never empty.
std::vector<std::string> TableDirsFor(const DbPlace& place, const ColumnFamilyOptions& options);

}  // namespace ashlar
