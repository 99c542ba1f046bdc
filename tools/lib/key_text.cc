// SPDX-License-Identifier: Apache-2.0
//
// Scripts for RocksDB's tools parse these forms: hexadecimal digits in upper case, types as
// numbers.
#include "tools/lib/key_text.h"

#include "tools/lib/blob_dump.h"
#include "util/text/str_cat.h"

namespace ashlar {

std::string HexText(const Slice& bytes) { return "0x" + bytes.ToString(/*hex=*/true); }

Result<std::string> ParseHexText(const std::string& text) {
  Slice digits(text);
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  std::string bytes;
  if (digits.DecodeHex(&bytes)) return bytes;
  return Status::InvalidArgument(
      StrCat("expected pairs of hexadecimal digits such as 0x6B6579, found \"", text, "\""));
}

std::string EntryText(const Slice& internal_key, const Slice& value, bool hex,
                      bool decodes_blob_references) {
  const bool is_reference = TrailerType(ExtractTrailer(internal_key)) == kTypeBlobIndex;
  return StrCat(
      DescribeInternalKey(internal_key, hex), " => ",
      is_reference && decodes_blob_references ? BlobReferenceText(value) : value.ToString(hex));
}

}  // namespace ashlar
