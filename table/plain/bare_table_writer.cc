// SPDX-License-Identifier: Apache-2.0
//
// What a table without blocks can hold, which both formats' writers and a database ask.
#include "table/plain/bare_table_writer.h"

#include <cassert>

#include "table/plain/cuckoo_writer.h"
#include "table/plain/plain_writer.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// A smaller ratio would fill the file with empty buckets.
constexpr double kLeastRatio = 0.01;

Status BadOption(const BareTableFormat& format, std::string_view option, std::string_view what) {
  return Status::InvalidArgument(StrCat(format.name(), ": option ", option, ": ", what));
}

Status CheckPlain(const BareTableFormat& format) {
  assert(format.kind == BareTableKind::kPlain);
  const PlainTableOptions& options = format.plain;
  if (options.encoding_type != kPlain && options.encoding_type != kPrefix) {
    return BadOption(format, "encoding_type", "it must be kPlain or kPrefix");
  }
  // Written so that NaN is refused.
  const double ratio = options.hash_table_ratio;
  if (!(ratio <= 0 || ratio >= kLeastRatio)) {
    return BadOption(format, "hash_table_ratio", StrCat("it must be 0 or at least ", kLeastRatio));
  }
  if (format.prefix_extractor != nullptr) return Status::OK();
  if (options.encoding_type == kPrefix) {
    return BadOption(format, "encoding_type", "kPrefix needs a prefix_extractor");
  }
  // RocksDB reads no such tables.
  if (options.hash_table_ratio > 0 && !options.full_scan_mode) {
    return Status::NotSupported(
        "PlainTable requires a prefix extractor; without one, hash_table_ratio must be 0");
  }
  return Status::OK();
}

Status CheckCuckoo(const BareTableFormat& format) {
  assert(format.kind == BareTableKind::kCuckoo);
  const CuckooTableOptions& options = format.cuckoo;
  if (!(options.hash_table_ratio >= kLeastRatio && options.hash_table_ratio <= 1)) {
    return BadOption(format, "hash_table_ratio", StrCat("it must be from ", kLeastRatio, " to 1"));
  }
  constexpr uint32_t kMostInBlock = 1 << 16;
  if (options.cuckoo_block_size == 0 || options.cuckoo_block_size > kMostInBlock) {
    return BadOption(format, "cuckoo_block_size", StrCat("it must be from 1 to ", kMostInBlock));
  }
  return Status::OK();
}

}  // namespace

const char* BareTableFormat::name() const {
  switch (kind) {
    case BareTableKind::kPlain: return TableFactory::kPlainTableName();
    case BareTableKind::kCuckoo: return TableFactory::kCuckooTableName();
    case BareTableKind::kNone: break;
  }
  return TableFactory::kBlockBasedTableName();
}

Status CheckBareFormat(const BareTableFormat& format) {
  switch (format.kind) {
    case BareTableKind::kPlain: return CheckPlain(format);
    case BareTableKind::kCuckoo: return CheckCuckoo(format);
    case BareTableKind::kNone: break;
  }
  return Status::OK();
}

Status CheckBareEntry(const BareTableFormat& format, ValueType type, size_t user_key_bytes) {
  if (type == kTypeRangeDeletion) {
    return Status::NotSupported(StrCat(format.name(), " has no range tombstones (DeleteRange)"));
  }
  if (format.kind == BareTableKind::kPlain) {
    const uint32_t expected = format.plain.user_key_len;
    if (expected == kPlainTableVariableLength || user_key_bytes == expected) return Status::OK();
    return Status::InvalidArgument(StrCat(format.name(), ": user_key_len is ", expected,
                                          ", but a key has ", user_key_bytes, " bytes"));
  }
  if (format.kind != BareTableKind::kCuckoo) return Status::OK();
  if (type != kTypeValue && type != kTypeDeletion) {
    return Status::NotSupported(StrCat(format.name(), " has only values and deletions (Put and ",
                                       "Delete), but an entry has type ", static_cast<int>(type)));
  }
  if (format.cuckoo.identity_as_first_hash && user_key_bytes < sizeof(uint64_t)) {
    return Status::InvalidArgument(StrCat(format.name(), ": identity_as_first_hash needs keys of ",
                                          "8 bytes or more, but a key has ", user_key_bytes));
  }
  return Status::OK();
}

std::unique_ptr<BareTableWriter> BareTableWriter::Make(const BareTableFormat& format) {
  assert(format.is_bare());
  assert(CheckBareFormat(format).ok());
  if (format.kind == BareTableKind::kCuckoo) return std::make_unique<CuckooTableWriter>(format);
  return std::make_unique<PlainTableWriter>(format);
}

}  // namespace ashlar
