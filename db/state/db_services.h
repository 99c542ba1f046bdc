// SPDX-License-Identifier: Apache-2.0
//
// DbServices: whom an open database tells what happens (statistics, listeners, info log, events),
// and what its lower rooms ask of higher ones through narrow interfaces.
//
// Opening writes the members; from then on until closing has stopped all work they are only read,
// so any thread may, without a lock.
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

struct DbServices {
  explicit DbServices(const DBOptions& options)
      : statistics(options.statistics), listeners(options.listeners) {}

  const std::shared_ptr<Statistics> statistics;  // null: off
  const std::vector<std::shared_ptr<EventListener>> listeners;
  std::shared_ptr<Logger> info_log;     // null until the opener has made the log
  std::unique_ptr<EventLogger> events;  // likewise
  DB* db = nullptr;                     // the facade, for listeners
  FileCleaner* cleaner = nullptr;
  SpaceShortage* shortage = nullptr;     // null without a manager of space
  AutomaticRecovery* retries = nullptr;  // null: nobody tries again
};

}  // namespace ashlar
