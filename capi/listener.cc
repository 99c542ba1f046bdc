// SPDX-License-Identifier: Apache-2.0
//
// The C API: event listeners and info logs.
//
// The functions of a listener are called by the engine's threads, several at once. What they get is
// valid during the call only.
#include "ashlar/c/listener.h"

#include <cassert>
#include <cstdarg>
#include <cstdio>

#include "capi/callbacks.h"
#include "capi/job_info.h"
#include "capi/listener_handle.h"
#include "capi/option_handles.h"

using ashlar::Status;
using ashlar::capi::Failed;

ashlar_eventlistener_t* ashlar_eventlistener_create(
    void* state, void (*destructor)(void*), ashlar_on_flush_begin_cb on_flush_begin,
    ashlar_on_flush_completed_cb on_flush_completed,
    ashlar_on_compaction_begin_cb on_compaction_begin,
    ashlar_on_compaction_completed_cb on_compaction_completed,
    ashlar_on_subcompaction_begin_cb on_subcompaction_begin,
    ashlar_on_subcompaction_completed_cb on_subcompaction_completed,
    ashlar_on_external_file_ingested_cb on_external_file_ingested,
    ashlar_on_background_error_cb on_background_error,
    ashlar_on_stall_conditions_changed_cb on_stall_conditions_changed,
    ashlar_on_memtable_sealed_cb on_memtable_sealed) {
  // Functions that are null are not called.
  auto listener = std::make_shared<ashlar::capi::ProgramListener>(state, destructor);
  listener->on_flush_begin = on_flush_begin;
  listener->on_flush_completed = on_flush_completed;
  listener->on_compaction_begin = on_compaction_begin;
  listener->on_compaction_completed = on_compaction_completed;
  listener->on_subcompaction_begin = on_subcompaction_begin;
  listener->on_subcompaction_completed = on_subcompaction_completed;
  listener->on_external_file_ingested = on_external_file_ingested;
  listener->on_background_error = on_background_error;
  listener->on_stall_conditions_changed = on_stall_conditions_changed;
  listener->on_memtable_sealed = on_memtable_sealed;
  return new ashlar_eventlistener_t(std::move(listener));
}

void ashlar_eventlistener_destroy(ashlar_eventlistener_t* listener) {
  ashlar_eventlistener_t::Destroy(listener);
}

void ashlar_options_add_eventlistener(ashlar_options_t* options, ashlar_eventlistener_t* listener) {
  assert(options != nullptr && listener != nullptr);
  options->rep.listeners.push_back(ashlar::capi::TakenObjectOf(listener));
}

// The status is the engine's. A listener may reset it to OK, and so take the error back.
void ashlar_status_ptr_get_error(ashlar_status_ptr_t* status, char** errptr) {
  assert(status != nullptr);
  Failed(errptr, *reinterpret_cast<Status*>(status));
}

void ashlar_reset_status(ashlar_status_ptr_t* status_ptr) {
  assert(status_ptr != nullptr);
  *reinterpret_cast<Status*>(status_ptr) = Status::OK();
}

namespace ashlar::capi {
namespace {

// Formats a message and gives it to `write`.
template <typename Write>
void Format(const char* format, va_list arguments, Write write) {
  // A list of arguments can be walked over once, and the message is formatted twice: for its
  // length, and for its bytes.
  assert(format != nullptr);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  // A message that cannot be formatted is lost, because a log has nobody to report it to.
  if (length < 0) return;
  // One byte more, because vsnprintf() ends the text with a zero byte.
  std::string message(static_cast<size_t>(length) + 1, '\0');
  std::vsnprintf(message.data(), message.size(), format, arguments);
  message.pop_back();
  write(message);
}

// Each message is one call of fprintf(), so messages of several threads do not mix.
class StderrLogger : public Logger {
 public:
  StderrLogger(InfoLogLevel level, const char* prefix)
      : Logger(level), prefix_(prefix == nullptr ? "" : prefix) {}

  using Logger::Logv;
  void LogHeader(const char* format, va_list arguments) override {
    if (GetInfoLogLevel() <= InfoLogLevel::HEADER_LEVEL) Logv(format, arguments);
  }
  void Logv(const char* format, va_list arguments) override {
    Format(format, arguments, [&](const std::string& message) {
      std::fprintf(stderr, "%s%s%s\n", prefix_.c_str(), prefix_.empty() ? "" : " ",
                   message.c_str());
    });
  }

 private:
  const std::string prefix_;
};

// The message is valid during the call, and ends with a zero byte that its length does not count.
class ProgramLogger : public Logger {
 public:
  using Function = void (*)(void* priv, unsigned lev, char* msg, size_t len);

  ProgramLogger(InfoLogLevel level, Function log, void* priv)
      : Logger(level), log_(log), priv_(priv) {
    assert(log_ != nullptr);
  }

  using Logger::Logv;
  void LogHeader(const char* format, va_list arguments) override {
    Logv(InfoLogLevel::HEADER_LEVEL, format, arguments);
  }
  void Logv(const char* format, va_list arguments) override {
    Logv(InfoLogLevel::INFO_LEVEL, format, arguments);
  }
  void Logv(const InfoLogLevel level, const char* format, va_list arguments) override {
    // A message below the level costs this comparison only, and is not formatted.
    if (level < GetInfoLogLevel()) return;
    Format(format, arguments, [&](std::string& message) {
      log_(priv_, static_cast<unsigned>(level), message.data(), message.size());
    });
  }

 private:
  const Function log_;
  void* const priv_;
};

}  // namespace
}  // namespace ashlar::capi

ashlar_logger_t* ashlar_logger_create_stderr_logger(int log_level, const char* prefix) {
  return new ashlar_logger_t{std::make_shared<ashlar::capi::StderrLogger>(
      static_cast<ashlar::InfoLogLevel>(log_level), prefix)};
}

ashlar_logger_t* ashlar_logger_create_callback_logger(
    int log_level, void (*log)(void* priv, unsigned lev, char* msg, size_t len), void* priv) {
  return new ashlar_logger_t{std::make_shared<ashlar::capi::ProgramLogger>(
      static_cast<ashlar::InfoLogLevel>(log_level), log, priv)};
}

void ashlar_logger_destroy(ashlar_logger_t* logger) { delete logger; }
