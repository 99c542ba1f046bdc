// SPDX-License-Identifier: Apache-2.0
//
// Version 1 is a list of names and value sizes followed by the values; version 2 keeps every field
// in a section of its own, so that a reader can skip:
//
//   1: version count {name size}* values      2: version count sizes types {nsize}* {vsize}* names
//   values
#include "util/wide_column_encoding.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>

#include "util/coding.h"
#include "util/str_cat.h"

namespace ashlar {

namespace {

constexpr uint32_t kVersionPlain = 1;
constexpr uint32_t kVersionSectioned = 2;
constexpr uint8_t kInlineValue = 0x01;
constexpr uint8_t kBlobIndexValue = 0x11;

Status Malformed(const char* what) {
  return Status::Corruption(StrCat("wide-column entity: cannot read ", what));
}

// Checks the order of names as they arrive: strictly ascending.
Status AppendColumn(const Slice& name, WideColumns* columns) {
  if (!columns->empty() && columns->back().name().compare(name) >= 0) {
    return Status::Corruption("wide-column entity: column names are not in ascending order");
  }
  columns->emplace_back(name, Slice());
  return Status::OK();
}

// Cuts the values off `input`, whose rest must be exactly them.
Status TakeValues(Slice input, const std::vector<uint32_t>& sizes, WideColumns* columns) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!GetBytes(&input, sizes[i], &(*columns)[i].value())) return Malformed("a column value");
  }
  if (!input.empty()) return Malformed("it: bytes behind the last value");
  return Status::OK();
}

// The list may not be longer than the bytes that describe it.
bool ReserveColumns(uint32_t count, const Slice& input, std::vector<uint32_t>* sizes,
                    WideColumns* columns) {
  if (count > input.size()) return false;
  columns->reserve(count);
  sizes->reserve(count);
  return true;
}

Status DecodePlain(Slice input, WideColumns* columns) {
  uint32_t count = 0;
  std::vector<uint32_t> value_sizes;
  if (!GetVarint32(&input, &count) || !ReserveColumns(count, input, &value_sizes, columns)) {
    return Malformed("the number of columns");
  }
  for (uint32_t i = 0; i < count; ++i) {
    Slice name;
    uint32_t value_bytes = 0;
    if (!GetLengthPrefixedSlice(&input, &name)) return Malformed("a column name");
    if (!GetVarint32(&input, &value_bytes)) return Malformed("the size of a column value");
    if (Status status = AppendColumn(name, columns); !status.ok()) return status;
    value_sizes.push_back(value_bytes);
  }
  return TakeValues(input, value_sizes, columns);
}

Status CheckColumnTypes(const Slice& types) {
  for (const char type : types.ToStringView()) {
    if (static_cast<uint8_t>(type) == kInlineValue) continue;
    if (static_cast<uint8_t>(type) != kBlobIndexValue) return Malformed("the type of a column");
    return Status::NotSupported("wide-column entity: columns in blob files cannot be read yet");
  }
  return Status::OK();
}

Status TakeSizes(Slice section, uint32_t count, std::vector<uint32_t>* sizes) {
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t size = 0;
    if (!GetVarint32(&section, &size)) return Malformed("a column size");
    sizes->push_back(size);
  }
  return section.empty() ? Status::OK() : Malformed("it: bytes behind the column sizes");
}

Status DecodeSectioned(Slice input, WideColumns* columns) {
  uint32_t count = 0, name_sizes_bytes = 0, value_sizes_bytes = 0, names_bytes = 0;
  if (!GetVarint32(&input, &count) || !GetVarint32(&input, &name_sizes_bytes) ||
      !GetVarint32(&input, &value_sizes_bytes) || !GetVarint32(&input, &names_bytes)) {
    return Malformed("the section sizes");
  }
  Slice types, name_size_section, value_size_section, names;
  std::vector<uint32_t> name_sizes, value_sizes;
  if (!ReserveColumns(count, input, &value_sizes, columns) || !GetBytes(&input, count, &types) ||
      !GetBytes(&input, name_sizes_bytes, &name_size_section) ||
      !GetBytes(&input, value_sizes_bytes, &value_size_section) ||
      !GetBytes(&input, names_bytes, &names)) {
    return Malformed("a section");
  }
  Status status = CheckColumnTypes(types);
  if (status.ok()) status = TakeSizes(name_size_section, count, &name_sizes);
  if (status.ok()) status = TakeSizes(value_size_section, count, &value_sizes);
  for (uint32_t i = 0; status.ok() && i < count; ++i) {
    Slice name;
    if (!GetBytes(&names, name_sizes[i], &name)) return Malformed("a column name");
    status = AppendColumn(name, columns);
  }
  if (!status.ok()) return status;
  if (!names.empty()) return Malformed("it: bytes behind the column names");
  return TakeValues(input, value_sizes, columns);
}

}  // namespace

Status AppendEncodedColumns(const WideColumns& columns, std::string* dst) {
  WideColumns sorted(columns);
  std::sort(sorted.begin(), sorted.end(), [](const WideColumn& a, const WideColumn& b) {
    return a.name().compare(b.name()) < 0;
  });
  constexpr size_t kMaxBytes = std::numeric_limits<uint32_t>::max();
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 && sorted[i].name() == sorted[i - 1].name()) {
      return Status::InvalidArgument("wide columns: two columns of one name", sorted[i].name());
    }
    if (sorted[i].name().size() > kMaxBytes || sorted[i].value().size() > kMaxBytes) {
      return Status::InvalidArgument("wide columns: a name or value of 4 GiB or more");
    }
  }
  PutVarint32Varint32(dst, kVersionPlain, static_cast<uint32_t>(sorted.size()));
  for (const WideColumn& column : sorted) {
    PutLengthPrefixedSlice(dst, column.name());
    PutVarint32(dst, static_cast<uint32_t>(column.value().size()));
  }
  for (const WideColumn& column : sorted) dst->append(column.value().data(), column.value().size());
  return Status::OK();
}

Status DecodeColumns(const Slice& entity, WideColumns* columns) {
  columns->clear();
  Slice input = entity;
  uint32_t version = 0;
  if (!GetVarint32(&input, &version)) return Malformed("the version");
  Status status = version == kVersionPlain ? DecodePlain(input, columns)
                  : version == kVersionSectioned
                      ? DecodeSectioned(input, columns)
                      : Status::NotSupported(StrCat("wide-column entity: version ", version,
                                                    ", this build reads 1 and 2"));
  if (!status.ok()) columns->clear();
  return status;
}

Status DecodeDefaultColumn(const Slice& entity, Slice* value) {
  WideColumns columns;
  Status status = DecodeColumns(entity, &columns);
  if (!status.ok()) return status;
  const bool has_default = !columns.empty() && columns.front().name().empty();
  *value = has_default ? columns.front().value() : Slice();
  return Status::OK();
}

}  // namespace ashlar
