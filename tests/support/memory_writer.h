// SPDX-License-Identifier: Apache-2.0
//
// FileWriters whose file is a string of the test, with an end at which writing fails.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "env/file_writer.h"

namespace ashlar {

// Every append goes straight to `contents`, which outlives the writer. The append that would make
// it longer than `capacity` fails with IOError and leaves it as it was.
std::unique_ptr<FileWriter> WriterIntoString(std::string* contents, uint64_t capacity = UINT64_MAX);

}  // namespace ashlar
