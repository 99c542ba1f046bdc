// SPDX-License-Identifier: Apache-2.0
//
// JSON for the event log: "key": value, separated by ", ", on one line.
#include "env/event_log.h"

#include <cassert>
#include <cmath>
#include <cstdio>
#include <new>

#include "ashlar/env.h"
#include "ashlar/system_clock.h"

namespace ashlar {

JsonWriter::JsonWriter() : text_("{") {}

// Every value begins here, so that the separator and the key have one place.
void JsonWriter::StartValue(std::string_view key) {
  assert(!is_finished_);
  if (!is_first_) text_ += ", ";
  is_first_ = false;
  AppendText(key);
  text_ += ": ";
}

const std::string& JsonWriter::Finish() {
  if (!is_finished_) text_ += '}';
  is_finished_ = true;
  return text_;
}

// Escapes quotes, backslashes and control characters. Other bytes are copied, also if they are no
// valid UTF-8.
void JsonWriter::AppendText(std::string_view text) {
  text_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
      text_ += escaped;
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

void JsonWriter::AppendNumbers(const std::vector<uint64_t>& numbers) {
  text_ += '[';
  for (size_t i = 0; i < numbers.size(); i++) {
    if (i > 0) text_ += ", ";
    text_ += std::to_string(numbers[i]);
  }
  text_ += ']';
}

// JSON has no infinities; they are written as 0, because a number is required.
void JsonWriter::AppendDouble(double value) {
  char text[32];
  snprintf(text, sizeof(text), "%.6g", std::isfinite(value) ? value : 0.0);
  text_ += text;
}

EventLine::EventLine(Logger* logger, SystemClock* clock, std::string_view event) : logger_(logger) {
  assert(clock != nullptr);
  Add("time_micros", clock->NowMicros());
  Add("event", event);
}

// A destructor must not throw, and a lost line must not stop a job.
EventLine::~EventLine() {
  if (logger_ == nullptr) return;
  try {
    Log(logger_, "EVENT_LOG_v1 %s", Finish().c_str());
  } catch (const std::bad_alloc&) {
    // The line is lost.
  }
}

}  // namespace ashlar
