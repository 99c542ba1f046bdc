// SPDX-License-Identifier: Apache-2.0
//
// Prints a blob file, in the form that scripts for RocksDB's tools parse: header, footer, records,
// totals. Also the text of the references to blobs that tables contain.
#pragma once

#include <string>

#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

struct BlobDump {
  bool hex_keys = false;
  bool hex_values = false;
  bool uncompresses = false;  // print values as they were written, not as they are stored
};

// Prints to stdout. Each record is verified; at a damaged one the dump ends with Corruption. A file
// without a footer, which was not finished, is printed up to its end.
Status DumpBlobFile(FileSystem* fs, const std::string& path, const BlobDump& dump);

// "[blob ref] file:9 offset:66 size:26 compression: NoCompression", or the error of decoding it.
std::string BlobReferenceText(const Slice& encoded);

}  // namespace ashlar
