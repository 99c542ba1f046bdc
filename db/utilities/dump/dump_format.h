// SPDX-License-Identifier: Apache-2.0
//
// The format of a dump, which docs/formats/dump.md describes: "ROCKDUMP", a version, a text of JSON
// about the origin, then rows. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

// Sizes are in bytes. A part is a fixed32 length, in little-endian order, and that many bytes.
inline constexpr char kDumpMagic[] = "ROCKDUMP";
inline constexpr size_t kDumpMagicBytes = 8;
inline constexpr char kDumpVersion[] = "\0\0\0\0\0\0\0\1";
inline constexpr size_t kDumpVersionBytes = 8;
inline constexpr size_t kDumpLengthBytes = 4;

// The JSON text: the path of the database, the host, and seconds since 1970.
std::string DumpOrigin(const std::string& path, const std::string& host, int64_t seconds);
// Magic, version and the text. An anonymous dump has the text "{}".
std::string DumpHead(const std::string& origin);
// Appends a length and the bytes. InvalidArgument if they are too many for the length.
Status AppendDumpPart(const Slice& bytes, std::string* to);

}  // namespace ashlar
