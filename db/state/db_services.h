// SPDX-License-Identifier: Apache-2.0
//
// DbServices holds the receivers of events of an open database (statistics, listeners, info log,
// event log), and narrow interfaces through which lower rooms call higher ones.
//
// Opening writes the members. Afterwards, until closing has stopped all work, they are only read,
// so any thread may read them without a lock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ashlar/listener.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "env/event_log.h"

namespace ashlar {

class DB;

// Deletes files that have become obsolete. Called without the DB mutex.
class FileCleaner {
 public:
  virtual ~FileCleaner() = default;
  virtual void DeleteObsoleteFiles() = 0;
};

// Is notified of a lack of space, and continues the stopped work when there is space again.
class SpaceShortage {
 public:
  virtual ~SpaceShortage() = default;
  // The disk is full, and writes are refused.
  virtual void OnDiskFull() = 0;
  // A compaction whose input has this size would not fit below the limit.
  virtual void OnNoRoomForCompaction(uint64_t bytes) = 0;
  // Returns when no attempt runs and none will begin. Called when no thread can run out of space
  // any more.
  virtual void StopTrying() = 0;
};

// Tries automatically to recover from errors that may go away.
class AutomaticRecovery {
 public:
  virtual ~AutomaticRecovery() = default;
  // Whether Begin() would start attempts because of this error, which has been raised and stops
  // writes or flushes.
  enum class Answer : uint8_t { kNo, kYes, kTriesAlready };
  virtual Answer Wants(const Status& error) = 0;
  virtual void Begin() = 0;
  // Returns when no attempt runs and none will begin.
  virtual void StopTrying() = 0;
};

struct DbServices {
  explicit DbServices(const DBOptions& options)
      : statistics(options.statistics), listeners(options.listeners) {}

  const std::shared_ptr<Statistics> statistics;  // null: off
  const std::vector<std::shared_ptr<EventListener>> listeners;
  std::shared_ptr<Logger> info_log;     // null until the opener has created the log
  std::unique_ptr<EventLogger> events;  // null until the opener has created the log
  DB* db = nullptr;                     // the facade, as an argument for listeners
  FileCleaner* cleaner = nullptr;
  SpaceShortage* shortage = nullptr;     // null without an SstFileManager
  AutomaticRecovery* retries = nullptr;  // null: no automatic attempts
};

}  // namespace ashlar
