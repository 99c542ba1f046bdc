// SPDX-License-Identifier: Apache-2.0
//
// Properties blocks: parsing any bytes ends with a Status; parsed properties can be encoded, and
// the values derived from them (global sequence number, compression, identity) can be computed.
#include <cstdint>
#include <string>

#include "ashlar/table.h"
#include "ashlar/table_properties.h"
#include "table/format/properties.h"
#include "table/format/unique_id.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

void UseProperties(const TableProperties& p, uint32_t format_version) {
  const EncodedProperties encoded = EncodeProperties(p);
  IgnoreError(ParseCompressionProperty(p.compression_name, format_version, "fuzz.sst").status(),
              "any answer is fine");
  IgnoreError(MakeInternalUniqueId(p).status(), "any answer is fine");
}

// The view and the complete properties agree.
void UseView(const PropertiesView& view, const TableProperties& p) {
  IgnoreError(FindGlobalSeqno(view, kMaxSequenceNumber, "fuzz.sst").status(), "any answer is fine");
  IgnoreError(FindGlobalSeqno(view, 7, "fuzz.sst").status(), "any answer is fine");
  if (view.num_entries != p.num_entries || view.comparator_name != p.comparator_name) {
    __builtin_trap();
  }
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const ashlar::Slice block(reinterpret_cast<const char*>(data) + 1, size - 1);
  const ashlar::Result<ashlar::TableProperties> properties =
      ashlar::ParsePropertiesBlock(block, 100, "fuzz.sst");
  const ashlar::Result<ashlar::PropertiesView> view =
      ashlar::ViewProperties(block, 100, "fuzz.sst");
  if (view.ok() != properties.ok()) __builtin_trap();
  if (properties.ok()) {
    ashlar::UseProperties(properties.value(), 2 + data[0] % 6);
    ashlar::UseView(view.value(), properties.value());
  }
  if (size > 1 + ashlar::kBlockTrailerBytes) {
    const ashlar::BlockHandle handle{100, size - 1 - ashlar::kBlockTrailerBytes};
    ashlar::IgnoreError(
        ashlar::VerifyPropertiesBlock({ashlar::kXXH3, 5}, handle, block.data(), "fuzz.sst"),
        "any answer is fine");
  }
  return 0;
}
