// SPDX-License-Identifier: Apache-2.0
//
// How the tools print and read keys and values: as plain bytes or hexadecimal, and internal keys in
// the form of RocksDB's tools. Pure functions.
#pragma once

#include <string>

#include "ashlar/slice.h"
#include "util/keys/internal_key.h"
#include "util/result.h"

namespace ashlar {

// "0x6B6579"
std::string HexText(const Slice& bytes);
// The bytes of such a text, with or without "0x". InvalidArgument quotes a text that is not
// hexadecimal.
Result<std::string> ParseHexText(const std::string& text);

// "'key' seq:17, type:1 => value". With `hex` key and value are hexadecimal digits; with
// `decodes_blob_references` a reference to a blob file is printed decoded.
std::string EntryText(const Slice& internal_key, const Slice& value, bool hex,
                      bool decodes_blob_references);

}  // namespace ashlar
