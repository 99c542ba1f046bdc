// SPDX-License-Identifier: Apache-2.0
//
// Logger's defaults and the printf-style helpers of ashlar/env.h. The level is checked before
// anything is formatted.
#include <array>
#include <cstdarg>
#include <string>

#include "ashlar/env.h"

namespace ashlar {

#ifdef NDEBUG
const InfoLogLevel Logger::kDefaultLogLevel = INFO_LEVEL;
#else
const InfoLogLevel Logger::kDefaultLogLevel = DEBUG_LEVEL;
#endif

Logger::~Logger() = default;

// Idempotent. Not synchronized: its owner closes it once.
Status Logger::Close() {
  if (closed_) return Status::OK();
  closed_ = true;
  return CloseImpl();
}

Status Logger::CloseImpl() { return Status::NotSupported("Logger::CloseImpl"); }

void Logger::LogHeader(const char* format, va_list ap) { Logv(format, ap); }

void Logger::Logv(const char* /*format*/, va_list /*ap*/) {}

void Logger::Logv(const InfoLogLevel log_level, const char* format, va_list ap) {
  static constexpr std::array<const char*, NUM_INFO_LOG_LEVELS> kNames = {
      "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "HEADER"};
  // Nothing is formatted for a level that is not logged.
  if (log_level < GetInfoLogLevel()) return;
  if (log_level == INFO_LEVEL) {
    Logv(format, ap);  // the common level goes unmarked
  } else if (log_level >= HEADER_LEVEL) {
    LogHeader(format, ap);
  } else {
    // The level becomes a part of the format, so that the message is formatted only once.
    const std::string marked = "[" + std::string(kNames[log_level]) + "] " + format;
    Logv(marked.c_str(), ap);
  }
}

namespace {

// Headers are written at each level of logging.
void LogAt(InfoLogLevel level, Logger* logger, const char* format, va_list ap) {
  if (logger == nullptr) return;
  if (level == HEADER_LEVEL) {
    logger->LogHeader(format, ap);
  } else if (level >= logger->GetInfoLogLevel()) {
    logger->Logv(level, format, ap);
  }
}

}  // namespace

// A va_list can only be started in the variadic function itself, therefore the bodies are a macro.
#define ASHLAR_LOG_BODY(level, logger) \
  va_list ap;                          \
  va_start(ap, format);                \
  LogAt(level, logger, format, ap);    \
  va_end(ap)

void Log(const InfoLogLevel log_level, const std::shared_ptr<Logger>& info_log, const char* format,
         ...) {
  ASHLAR_LOG_BODY(log_level, info_log.get());
}
void Log(const std::shared_ptr<Logger>& info_log, const char* format, ...) {
  ASHLAR_LOG_BODY(INFO_LEVEL, info_log.get());
}
void Header(const std::shared_ptr<Logger>& info_log, const char* format, ...) {
  ASHLAR_LOG_BODY(HEADER_LEVEL, info_log.get());
}
void Debug(const std::shared_ptr<Logger>& info_log, const char* format, ...) {
  ASHLAR_LOG_BODY(DEBUG_LEVEL, info_log.get());
}
void Info(const std::shared_ptr<Logger>& info_log, const char* format, ...) {
  ASHLAR_LOG_BODY(INFO_LEVEL, info_log.get());
}
void Warn(const std::shared_ptr<Logger>& info_log, const char* format, ...) {
  ASHLAR_LOG_BODY(WARN_LEVEL, info_log.get());
}
void Error(const std::shared_ptr<Logger>& info_log, const char* format, ...) {
  ASHLAR_LOG_BODY(ERROR_LEVEL, info_log.get());
}
void Fatal(const std::shared_ptr<Logger>& info_log, const char* format, ...) {
  ASHLAR_LOG_BODY(FATAL_LEVEL, info_log.get());
}

void Log(const InfoLogLevel log_level, Logger* info_log, const char* format, ...) {
  ASHLAR_LOG_BODY(log_level, info_log);
}
void Log(Logger* info_log, const char* format, ...) { ASHLAR_LOG_BODY(INFO_LEVEL, info_log); }
void Header(Logger* info_log, const char* format, ...) { ASHLAR_LOG_BODY(HEADER_LEVEL, info_log); }
void Debug(Logger* info_log, const char* format, ...) { ASHLAR_LOG_BODY(DEBUG_LEVEL, info_log); }
void Info(Logger* info_log, const char* format, ...) { ASHLAR_LOG_BODY(INFO_LEVEL, info_log); }
void Warn(Logger* info_log, const char* format, ...) { ASHLAR_LOG_BODY(WARN_LEVEL, info_log); }
void Error(Logger* info_log, const char* format, ...) { ASHLAR_LOG_BODY(ERROR_LEVEL, info_log); }
void Fatal(Logger* info_log, const char* format, ...) { ASHLAR_LOG_BODY(FATAL_LEVEL, info_log); }

#undef ASHLAR_LOG_BODY

void LogFlush(Logger* info_log) {
  if (info_log != nullptr) info_log->Flush();
}
void LogFlush(const std::shared_ptr<Logger>& info_log) { LogFlush(info_log.get()); }

}  // namespace ashlar
