// SPDX-License-Identifier: Apache-2.0
//
// Numbers as the statistics texts write them: programs parse those texts, so the forms are fixed.
#pragma once

#include <cstdint>
#include <string>

namespace ashlar {

inline constexpr double kMebibyte = 1048576.0;
inline constexpr double kGibibyte = 1073741824.0;

// 9999, 10K, 9999K, 10M, 10G.
std::string HumanCount(uint64_t count);
// 0.09 KB, 7.97 MB, 3.00 GB.
std::string HumanBytes(uint64_t bytes);
// Hours, minutes, seconds: 00:01:2.345.
std::string HumanMicros(uint64_t micros);
// 0 for no time at all.
double PerSecond(double amount, uint64_t micros);
// std::printf's, into a string.
std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace ashlar
