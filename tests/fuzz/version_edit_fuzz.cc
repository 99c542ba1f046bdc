// SPDX-License-Identifier: Apache-2.0
//
// Version edits: any bytes are decoded or refused, and a decoded edit is a fixed point of encoding
// and decoding.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ashlar/slice.h"
#include "db/manifest/version_edit.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ashlar::VersionEdit edit;
  const ashlar::Status status =
      edit.DecodeFrom(ashlar::Slice(reinterpret_cast<const char*>(data), size));
  if (!status.ok()) {
    if (!status.IsCorruption() && !status.IsNotSupported()) std::abort();
    return 0;
  }
  if (edit.DebugString(/*hex=*/true).empty()) std::abort();
  std::string once, twice;
  edit.EncodeTo(&once);
  ashlar::VersionEdit again;
  if (!again.DecodeFrom(once).ok()) std::abort();
  again.EncodeTo(&twice);
  if (once != twice) std::abort();
  return 0;
}
