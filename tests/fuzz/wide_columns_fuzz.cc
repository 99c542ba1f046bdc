// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary bytes as the stored form of an entity: all ways of decoding must agree, refer only to
// these bytes, and decoded columns must be the same after encoding them again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "util/keys/wide_column_encoding.h"

namespace ashlar {
namespace {

bool IsWithin(const Slice& part, const std::string& whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void CheckEntity(const std::string& bytes) {
  WideColumns columns;
  const Status status = DecodeColumns(bytes, &columns);
  Slice value;
  const Status of_default = DecodeDefaultColumn(bytes, &value);
  if (status.code() != of_default.code()) std::abort();
  if (!status.ok()) {
    if (!columns.empty() || (!status.IsCorruption() && !status.IsNotSupported())) std::abort();
    return;
  }
  if (DefaultColumnOf(columns) != value || !IsWithin(value, bytes)) std::abort();
  for (const WideColumn& column : columns) {
    if (!IsWithin(column.name(), bytes) || !IsWithin(column.value(), bytes)) std::abort();
  }
  std::string again;
  if (!AppendEncodedColumns(columns, &again).ok()) std::abort();
  WideColumns second;
  if (!DecodeColumns(again, &second).ok() || second != columns) std::abort();
  PinnableWideColumns pinned;
  if (!pinned.SetWideColumnValue(Slice(bytes)).ok() || pinned.columns() != columns) std::abort();
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ashlar::CheckEntity(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
