// SPDX-License-Identifier: Apache-2.0
//
// The event log: one JSON object per line in the text log, behind the mark "EVENT_LOG_v1". Tools
// that were written for RocksDB can parse it.
//
//   EventLine line(logger, clock, "flush_started");
//   line.Add("job", 3).Add("num_entries", 1200);
//   // logged at the end of the scope
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "util/keys/file_number.h"
#include "util/keys/level.h"

namespace ashlar {

class Logger;
class SystemClock;

// Writes one JSON object. Values are numbers, lists of numbers, booleans, texts and finished
// objects. Threads: one at a time.
class JsonWriter {
 public:
  JsonWriter();

  // Adds a member to the object.
  template <typename T>
  JsonWriter& Add(std::string_view key, const T& value) {
    StartValue(key);
    Append(value);
    return *this;
  }

  // Closes the object; nothing may be added afterwards. The reference is valid as long as this
  // object.
  const std::string& Finish();

 private:
  void StartValue(std::string_view key);
  void AppendText(std::string_view text);
  void AppendNumbers(const std::vector<uint64_t>& numbers);
  void AppendDouble(double value);

  // Writes a value as JSON: numbers and booleans bare, enumerators as numbers, nested objects and
  // lists as they are, everything else as a text in quotes.
  template <typename T>
  void Append(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_floating_point_v<T>) {
      AppendDouble(static_cast<double>(value));
    } else if constexpr (std::is_enum_v<T>) {
      text_ += std::to_string(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_same_v<T, JsonWriter>) {
      assert(value.is_finished_);
      text_ += value.text_;
    } else if constexpr (std::is_same_v<T, std::vector<uint64_t>>) {
      AppendNumbers(value);
    } else if constexpr (std::is_same_v<T, FileNumber>) {
      text_ += std::to_string(value.value());
    } else if constexpr (std::is_same_v<T, Level>) {
      text_ += std::to_string(value);
    } else if constexpr (std::is_integral_v<T>) {
      text_ += std::to_string(value);
    } else {
      AppendText(std::string_view(value));
    }
  }

  std::string text_;
  bool is_first_ = true;
  bool is_finished_ = false;
};

// One line of the event log; logged by the destructor. A null logger drops it. The time is that of
// the construction.
class EventLine : public JsonWriter {
 public:
  // `clock` gives the time of day for "time_micros".
  EventLine(Logger* logger, SystemClock* clock, std::string_view event);
  EventLine(const EventLine&) = delete;
  EventLine& operator=(const EventLine&) = delete;
  ~EventLine();

 private:
  Logger* const logger_;  // outlives the line; null: the line is dropped
};

// The log and the clock with which a database writes its events. Both outlive this object.
class EventLogger {
 public:
  EventLogger(Logger* logger, SystemClock* clock) : logger_(logger), clock_(clock) {}
  // Starts a line for an event; its destructor writes it.
  EventLine Event(std::string_view event) const { return EventLine(logger_, clock_, event); }

 private:
  Logger* const logger_;
  SystemClock* const clock_;
};

}  // namespace ashlar
