// SPDX-License-Identifier: Apache-2.0
//
// Rows of PlainTables: any bytes end with a Status, and no row reaches outside of them.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "table/plain/plain_rows.h"
#include "util/keys/internal_key.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const uint8_t control = data[0];
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  ashlar::PlainRows rows(bytes, {.shares_prefixes = (control & 1) != 0,
                                 .fixed_key_bytes = static_cast<uint32_t>(control >> 4)});
  size_t count = 0;
  while (rows.Next()) {
    if (++count > size || rows.key().size() < 8) std::abort();
    const char* const begin = rows.value().data();
    if (begin < bytes.data() || begin + rows.value().size() > bytes.data() + bytes.size()) {
      std::abort();
    }
  }
  if (!rows.status().ok() && !rows.status().IsCorruption()) std::abort();
  return 0;
}
