// SPDX-License-Identifier: Apache-2.0
//
// A blob file as text, in the form that scripts for RocksDB's tools parse: header, footer, records,
// sums; and the references to blobs that tables hold.
#pragma once

#include <string>

#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

struct BlobDump {
  bool hex_keys = false;
  bool hex_values = false;
  bool uncompresses = false;  // values as they were written, instead of as they are stored
};

// On stdout. Each record is checked; a damaged one ends the dump with Corruption, after what comes
// before it. A file without a footer, which was not finished, is shown as far as it goes.
Status DumpBlobFile(FileSystem* fs, const std::string& path, const BlobDump& dump);

// "[blob ref] file:9 offset:66 size:26 compression: NoCompression", or what is wrong with it.
std::string BlobReferenceText(const Slice& encoded);

}  // namespace ashlar
