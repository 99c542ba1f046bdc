// SPDX-License-Identifier: Apache-2.0
//
// FileWriters that write to a string of the test, with a capacity beyond which writing fails.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "env/file_writer.h"

namespace ashlar {

// Every append goes directly to `contents`, which outlives the writer. An append that would exceed
// `capacity` fails with IOError and changes nothing.
std::unique_ptr<FileWriter> WriterIntoString(std::string* contents, uint64_t capacity = UINT64_MAX);

}  // namespace ashlar
