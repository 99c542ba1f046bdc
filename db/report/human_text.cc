// SPDX-License-Identifier: Apache-2.0
//
// Units are powers of 1024 for bytes, and powers of 1000 for counts.
#include "db/report/human_text.h"

#include <cassert>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

namespace ashlar {

std::string Format(const char* format, ...) {
  char text[1024];
  va_list arguments;
  // In release builds a text that does not fit is cut.
  va_start(arguments, format);
  [[maybe_unused]] const int length = std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  assert(length >= 0);
  assert(static_cast<size_t>(length) < sizeof(text));
  return text;
}

std::string HumanCount(uint64_t count) {
  // Four digits before the unit changes, as in RocksDB.
  constexpr uint64_t kMostDigits = 10'000;
  if (count < kMostDigits) return Format("%" PRIu64, count);
  if (count < kMostDigits * 1000) return Format("%" PRIu64 "K", count / 1000);
  if (count < kMostDigits * 1'000'000) return Format("%" PRIu64 "M", count / 1'000'000);
  return Format("%" PRIu64 "G", count / 1'000'000'000);
}

std::string HumanBytes(uint64_t bytes) {
  const auto amount = static_cast<double>(bytes);
  if (amount < kMebibyte) return Format("%.2f KB", amount / 1024);
  if (amount < kGibibyte) return Format("%.2f MB", amount / kMebibyte);
  return Format("%.2f GB", amount / kGibibyte);
}

std::string HumanMicros(uint64_t micros) {
  const uint64_t seconds = micros / 1'000'000;
  return Format("%02" PRIu64 ":%02" PRIu64 ":%.3f", seconds / 3600, seconds / 60 % 60,
                static_cast<double>(micros % 60'000'000) / 1e6);
}

double PerSecond(double amount, uint64_t micros) {
  assert(amount >= 0);
  return micros == 0 ? 0 : amount * 1e6 / static_cast<double>(micros);
}

}  // namespace ashlar
