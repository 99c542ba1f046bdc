// SPDX-License-Identifier: Apache-2.0
//
// Keys and values as the tools print and read them: plain bytes or hexadecimal, and internal keys
// in the form that RocksDB's tools use. Pure functions.
#pragma once

#include <string>

#include "ashlar/slice.h"
#include "util/keys/internal_key.h"
#include "util/result.h"

namespace ashlar {

// "0x6B6579"
std::string HexText(const Slice& bytes);
// The reverse, with or without "0x". InvalidArgument quotes what cannot be read.
Result<std::string> ParseHexText(const std::string& text);

// "'key' seq:17, type:1 => value"; with `hex` both in hexadecimal digits, and with
// `decodes_blob_references` what a reference to a blob file says.
std::string EntryText(const Slice& internal_key, const Slice& value, bool hex,
                      bool decodes_blob_references);

}  // namespace ashlar
