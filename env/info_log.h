// SPDX-License-Identifier: Apache-2.0
//
// The text log of a database: LOG; old ones are kept as LOG.old.<micros>.
//
// OpenInfoLog() renames an existing LOG, starts a new one, and deletes the oldest logs beyond
// keep_log_file_num. The logger starts a new file when the current one is too large or too old, and
// repeats the header messages (Header()) at the start of each file. If no limits are set, a file
// system or Env with a NewLogger() of its own makes the logger. Any thread may log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/system_clock.h"
#include "util/result.h"

namespace ashlar {

// From DBOptions; see there.
struct InfoLogOptions {
  std::string db_path;
  // Directory of the log if it is not that of the database.
  std::string log_dir;
  InfoLogLevel level = InfoLogLevel::INFO_LEVEL;
  size_t max_file_bytes = 0;        // 0: no limit
  uint64_t roll_after_seconds = 0;  // 0: never
  size_t keep_file_count = 1000;    // including old logs
};

// An error means that no log can be made; databases open without one then. The logger shares `fs`
// and `clock`.
Result<std::shared_ptr<Logger>> OpenInfoLog(const std::shared_ptr<FileSystem>& fs,
                                            const std::shared_ptr<SystemClock>& clock,
                                            const InfoLogOptions& options);

// Opens one plain log file without rotation, for Env::NewLogger().
Result<std::shared_ptr<Logger>> OpenLogFile(const std::shared_ptr<FileSystem>& fs,
                                            const std::shared_ptr<SystemClock>& clock,
                                            const std::string& path, InfoLogLevel level);

// A logger that drops everything.
std::shared_ptr<Logger> NewNullLogger();

}  // namespace ashlar
