// SPDX-License-Identifier: Apache-2.0
//
// Layouts of a footer, in bytes of the file:
//   versions 2-5:  type | handles, padded to 40 bytes           | version | magic
//   versions 6-7:  type | 3e007a00 | sum | base | size | 24 x 0 | version | magic
//
// From version 6 on the metaindex ends where the footer starts. The checksum covers the footer,
// with the bytes of the checksum itself set to zero, in the context of the footer's offset.
#include "table/format/footer.h"

#include <cassert>
#include <cstring>

#include "ashlar/table.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr size_t kHandlesOffset = 1, kHandlesBytes = 40;
constexpr size_t kExtendedMagicOffset = 1, kSumOffset = 5, kBaseOffset = 9, kSizeOffset = 13;
constexpr size_t kReservedOffset = 33;  // eight bytes that only a future feature may set
constexpr size_t kVersionOffset = 41, kMagicOffset = 45;
constexpr uint32_t kExtendedMagic = 0x007a003e;
static_assert(kHandlesOffset + kHandlesBytes == kVersionOffset);
static_assert(kHandlesBytes == 2 * kMaxBlockHandleBytes);
static_assert(kMagicOffset + sizeof(uint64_t) == kFooterBytes);

// Other magic numbers, for helpful error messages.
constexpr uint64_t kVersion0Magic = 0xdb4775248b80fb57ull;
constexpr uint64_t kPlainTableMagic = 0x8242229663bf9564ull;
constexpr uint64_t kOldPlainTableMagic = 0x4f3418eb7a8f13b8ull;
constexpr uint64_t kCuckooTableMagic = 0x926789d0c5f17873ull;

// Where the bytes come from, for error messages.
struct Source {
  std::string_view path;
  uint64_t offset;
};

// Damage, which a repair may undo; a refused footer belongs to a table of another kind or format.
Status Damaged(const Source& source, std::string_view what) {
  return Status::Corruption(StrCat("table footer: ", source.path, ", offset ", source.offset, ": ",
                                   what, "; restore the file or repair the database"));
}
Status Refused(const Source& source, std::string_view what) {
  return Status::NotSupported(
      StrCat("table footer: ", source.path, ", offset ", source.offset, ": ", what));
}

Status CheckMagic(uint64_t magic, const Source& source) {
  // Messages name the kind of table, so that a user knows which tool can read it.
  switch (magic) {
    case kBlockBasedTableMagic: return Status::OK();
    case kVersion0Magic:
      return Refused(source,
                     "format_version 0; versions 2 to 7 are read, rewrite the file with an "
                     "older RocksDB");
    case kPlainTableMagic:
    case kOldPlainTableMagic:
      return Refused(source, "a plain table; only block-based tables are read");
    case kCuckooTableMagic:
      return Refused(source, "a cuckoo table; only block-based tables are read");
    default:
      return Damaged(source,
                     StrCat("magic number expected ", kBlockBasedTableMagic, ", found ", magic));
  }
}

// The checksum of a footer of version 6 or later at `offset`. The base and the offset bind the
// footer to this file and to this length of the file.
uint32_t FooterSum(const ChecksumContext& context, const char* footer, uint64_t offset) {
  char copy[kFooterBytes];
  std::memcpy(copy, footer, kFooterBytes);
  EncodeFixed32(copy + kSumOffset, 0);
  return ComputeChecksum(context.type, copy, kFooterBytes) + ChecksumModifier(context.base, offset);
}

// Decodes the rest of a footer of versions 2 to 5, which has no checksum.
Result<Footer> DecodeHandles(const char* p, Footer footer, const Source& source) {
  const char* limit = p + kVersionOffset;
  const char* next = ParseBlockHandle(p + kHandlesOffset, limit, &footer.metaindex);
  if (next != nullptr) next = ParseBlockHandle(next, limit, &footer.index);
  if (next == nullptr) return Damaged(source, "its two block handles are malformed");
  // The handle of the index may be null, so its user checks it.
  if (!footer.metaindex.FitsBefore(source.offset)) {
    return Damaged(source,
                   StrCat("a block handle points outside the file: ", footer.DebugString()));
  }
  return footer;
}

// Decodes the rest of a footer of versions 6 and 7, which has a checksum.
Result<Footer> DecodeChecked(const char* p, Footer footer, const Source& source) {
  if (DecodeFixed32(p + kExtendedMagicOffset) != kExtendedMagic) {
    return Damaged(source, StrCat("extended magic number expected ", kExtendedMagic, ", found ",
                                  DecodeFixed32(p + kExtendedMagicOffset)));
  }
  footer.checksum.base = DecodeFixed32(p + kBaseOffset);
  if (footer.checksum.base == 0) return Damaged(source, "the base of its checksums is 0");
  const uint32_t expected = FooterSum(footer.checksum, p, source.offset);
  const uint32_t found = DecodeFixed32(p + kSumOffset);
  if (expected != found) {
    return Damaged(source, StrCat("checksum expected ", expected, ", found ", found));
  }
  // A future version may use these bytes for a feature that we must not ignore.
  if (DecodeFixed64(p + kReservedOffset) != 0) {
    return Refused(source, "uses a feature of a later format; open it with a newer version");
  }
  footer.metaindex.size = DecodeFixed32(p + kSizeOffset);
  const uint64_t stored_bytes = footer.metaindex.size + kBlockTrailerBytes;
  if (stored_bytes > source.offset) {
    return Damaged(source, StrCat("a metaindex of ", footer.metaindex.size, " bytes does not fit"));
  }
  footer.metaindex.offset = source.offset - stored_bytes;
  assert(footer.metaindex.end() == source.offset);
  return footer;
}

}  // namespace

std::string Footer::DebugString() const {
  return StrCat("format_version ", format_version, ", ", ChecksumTypeName(checksum.type), ", base ",
                checksum.base, ", metaindex ", metaindex.offset, "+", metaindex.size, ", index ",
                index.offset, "+", index.size);
}

// `offset` is where the footer begins in the file. With checksums that depend on the context, the
// metaindex must end there: the footer stores only its size.
void AppendFooter(const Footer& footer, uint64_t offset, std::string* dst) {
  assert(footer.format_version >= kOldestFormatVersion);
  assert(footer.format_version <= kNewestFormatVersion);
  assert(dst != nullptr);
  char p[kFooterBytes] = {};
  p[0] = static_cast<char>(footer.checksum.type);
  EncodeFixed32(p + kVersionOffset, footer.format_version);
  EncodeFixed64(p + kMagicOffset, kBlockBasedTableMagic);
  if (UsesContextChecksums(footer.format_version)) {
    assert(footer.checksum.base != 0);
    assert(footer.metaindex.end() == offset);
    assert(footer.metaindex.size <= UINT32_MAX);
    EncodeFixed32(p + kExtendedMagicOffset, kExtendedMagic);
    EncodeFixed32(p + kBaseOffset, footer.checksum.base);
    EncodeFixed32(p + kSizeOffset, static_cast<uint32_t>(footer.metaindex.size));
    EncodeFixed32(p + kSumOffset, FooterSum(footer.checksum, p, offset));
  } else {
    footer.index.EncodeTo(footer.metaindex.EncodeTo(p + kHandlesOffset));
  }
  dst->append(p, kFooterBytes);
}

Result<Footer> DecodeFooter(const Slice& tail, uint64_t file_size, std::string_view path) {
  // The offset at which the footer begins, for messages and checksums.
  const Source source{path, file_size < kFooterBytes ? 0 : file_size - kFooterBytes};
  if (tail.size() < sizeof(uint64_t)) {
    return Damaged(source, StrCat(tail.size(), " bytes, but a footer has ", kFooterBytes));
  }
  const char* end = tail.data() + tail.size();
  // The magic number is checked first, because other tables have footers of other lengths.
  RETURN_IF_ERROR(CheckMagic(DecodeFixed64(end - sizeof(uint64_t)), source));
  if (tail.size() < kFooterBytes) {
    return Damaged(source, StrCat(tail.size(), " bytes, but a footer has ", kFooterBytes));
  }
  const char* p = end - kFooterBytes;
  Footer footer;
  footer.format_version = DecodeFixed32(p + kVersionOffset);
  if (footer.format_version < kOldestFormatVersion ||
      footer.format_version > kNewestFormatVersion) {
    return Refused(source,
                   StrCat("format_version ", footer.format_version, "; versions 2 to 7 are read"));
  }
  const auto type = static_cast<uint8_t>(p[0]);
  if (!IsKnownChecksumType(type)) {
    return Damaged(source, StrCat("checksum type expected 0 to 4, found ", uint32_t{type}));
  }
  footer.checksum.type = static_cast<ChecksumType>(type);
  return UsesContextChecksums(footer.format_version) ? DecodeChecked(p, footer, source)
                                                     : DecodeHandles(p, footer, source);
}

}  // namespace ashlar
