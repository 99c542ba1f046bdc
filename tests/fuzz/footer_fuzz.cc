// SPDX-License-Identifier: Apache-2.0
//
// Footers: decoding any bytes ends with a Status; a decoded footer is the same after encoding it
// again.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ashlar/table.h"
#include "table/format/footer.h"
#include "util/keys/coding.h"

namespace ashlar {
namespace {

void DecodeTwice(const std::string& tail, uint64_t offset) {
  const Result<Footer> footer = DecodeFooter(tail, offset + tail.size(), "fuzz.sst");
  if (!footer.ok()) return;
  if (!footer.value().metaindex.FitsBefore(offset)) std::abort();
  std::string again;
  AppendFooter(footer.value(), offset, &again);
  const Result<Footer> second = DecodeFooter(again, offset + again.size(), "fuzz.sst");
  if (!second.ok() || second.value().DebugString() != footer.value().DebugString()) std::abort();
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  // The last byte chooses the position of the footer. The magic number is repaired half of the
  // time, because a mutator seldom finds it.
  const uint8_t control = data[size - 1];
  std::string tail(reinterpret_cast<const char*>(data), size - 1);
  if (tail.size() >= 8 && control % 2 == 0) {
    ashlar::EncodeFixed64(tail.data() + tail.size() - 8, ashlar::kBlockBasedTableMagic);
  }
  if (tail.size() > ashlar::kFooterBytes) tail.erase(0, tail.size() - ashlar::kFooterBytes);
  ashlar::DecodeTwice(tail, uint64_t{control} << (control % 40));
  return 0;
}
