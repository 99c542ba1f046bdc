// SPDX-License-Identifier: Apache-2.0
//
// Version 1 is a list of names and sizes of values, followed by the values. In version 2 each field
// has a section of its own, so that a reader can skip sections:
//
//   1: version count {name size}* values
//   2: version count sizes types {nsize}* {vsize}* names values
#include "util/keys/wide_column_encoding.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>

#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr uint32_t kVersionPlain = 1;
constexpr uint32_t kVersionSectioned = 2;
// The types of columns in version 2: the value is in the entity itself, or it is in a blob file.
// This build does not write the second.
constexpr uint8_t kInlineValue = 0x01;
constexpr uint8_t kBlobIndexValue = 0x11;

// `what` completes the text "cannot read ...".
Status Malformed(const char* what) {
  return Status::Corruption(StrCat("wide-column entity: cannot read ", what));
}

Status NotAscending() {
  return Status::Corruption("wide-column entity: column names are not in ascending order");
}

// Appends a column and checks that the names are strictly ascending.
Status AppendColumn(const Slice& name, WideColumns* columns) {
  assert(columns != nullptr);
  if (!columns->empty() && columns->back().name().compare(name) >= 0) return NotAscending();
  columns->emplace_back(name, Slice());
  return Status::OK();
}

Status ValuesDoNotFit() {
  return Status::Corruption("wide-column entity: the column values are not as long as it says");
}

// Each column takes at least one byte, so a count above the number of bytes is wrong. This limits
// the memory that a damaged entity can request.
bool ReserveColumns(uint32_t count, const Slice& input, WideColumns* columns) {
  if (count > input.size()) return false;
  columns->reserve(count);
  return true;
}

// Iterates over the names and sizes of version 1, without allocations. The bytes come from a file,
// so every length is checked before it is used.
class PlainIndex {
 public:
  explicit PlainIndex(const Slice& behind_version) : input_(behind_version) {
    if (!GetVarint32(&input_, &count_)) status_ = Malformed("the number of columns");
  }

  // Returns false at the end and after an error; see status().
  bool Next() {
    if (!status_.ok() || index_ == count_) return false;
    const Slice before = name_;
    if (!GetLengthPrefixedSlice(&input_, &name_)) {
      status_ = Malformed("a column name");
    } else if (!GetVarint32(&input_, &value_bytes_)) {
      status_ = Malformed("the size of a column value");
    } else if (index_ > 0 && before.compare(name_) >= 0) {
      status_ = NotAscending();
    }
    // The sum of 32-bit sizes cannot overflow: the number of columns is limited by the length of
    // the input.
    ++index_;
    all_value_bytes_ += value_bytes_;
    return status_.ok();
  }
  const Slice& name() const { return name_; }
  uint32_t value_bytes() const { return value_bytes_; }

  // After the last column, OK means also that the length of the values is the sum of the sizes.
  Status status() const {
    if (!status_.ok()) return status_;
    return index_ == count_ && all_value_bytes_ != input_.size() ? ValuesDoNotFit() : status_;
  }
  // After the last column, this is the begin of the values.
  const Slice& rest() const { return input_; }
  uint32_t count() const { return count_; }

 private:
  Slice input_;
  uint32_t count_ = 0;
  uint32_t index_ = 0;
  Slice name_;
  uint32_t value_bytes_ = 0;
  uint64_t all_value_bytes_ = 0;
  Status status_;
};

Status DecodePlain(const Slice& input, WideColumns* columns) {
  PlainIndex index(input);
  if (!ReserveColumns(index.count(), input, columns)) return Malformed("the number of columns");
  // The place of the values is not known before the end of the list. Until then each value only has
  // the right length.
  while (index.Next())
    columns->emplace_back(index.name(), Slice(input.data(), index.value_bytes()));
  if (Status status = index.status(); !status.ok()) return status;
  const char* next = index.rest().data();
  for (WideColumn& column : *columns) {
    column.value() = Slice(next, column.value().size());
    next += column.value().size();
  }
  assert(next == input.data() + input.size());
  return Status::OK();
}

// Decodes only the default column of version 1, without making a list of the others.
Status DecodePlainDefault(const Slice& input, Slice* value) {
  PlainIndex index(input);
  size_t value_bytes = 0;
  for (bool is_first = true; index.Next(); is_first = false) {
    if (is_first && index.name().empty()) value_bytes = index.value_bytes();
  }
  if (Status status = index.status(); !status.ok()) return status;
  assert(value_bytes <= index.rest().size());
  *value = Slice(index.rest().data(), value_bytes);
  return Status::OK();
}

// Splits `input` into the values; no other bytes may be left. The slices point into the entity.
Status TakeValues(Slice input, const std::vector<uint32_t>& sizes, WideColumns* columns) {
  assert(columns != nullptr);
  assert(sizes.size() == columns->size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!GetBytes(&input, sizes[i], &(*columns)[i].value())) return ValuesDoNotFit();
  }
  return input.empty() ? Status::OK() : ValuesDoNotFit();
}

Status CheckColumnTypes(const Slice& types) {
  for (const char type : types.ToStringView()) {
    if (static_cast<uint8_t>(type) == kInlineValue) continue;
    if (static_cast<uint8_t>(type) != kBlobIndexValue) return Malformed("the type of a column");
    return Status::NotSupported("wide-column entity: columns in blob files cannot be read yet");
  }
  return Status::OK();
}

// Decodes `count` varints, which must fill the section exactly.
Status TakeSizes(Slice section, uint32_t count, std::vector<uint32_t>* sizes) {
  assert(sizes != nullptr);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t size = 0;
    if (!GetVarint32(&section, &size)) return Malformed("a column size");
    sizes->push_back(size);
  }
  return section.empty() ? Status::OK() : Malformed("it: bytes behind the column sizes");
}

// Version 2: the types, the sizes of names, the sizes of values, the names and the values each have
// a section of their own. The counts may be damaged, so memory is reserved only as far as the input
// can really have so many columns.
Status DecodeSectioned(Slice input, WideColumns* columns) {
  uint32_t count = 0, name_sizes_bytes = 0, value_sizes_bytes = 0, names_bytes = 0;
  if (!GetVarint32(&input, &count) || !GetVarint32(&input, &name_sizes_bytes) ||
      !GetVarint32(&input, &value_sizes_bytes) || !GetVarint32(&input, &names_bytes)) {
    return Malformed("the section sizes");
  }
  Slice types, name_size_section, value_size_section, names;
  std::vector<uint32_t> name_sizes, value_sizes;
  if (!ReserveColumns(count, input, columns) || !GetBytes(&input, count, &types) ||
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
  assert(dst != nullptr);
  // Sorts a copy of the list. The names and values themselves are not copied.
  WideColumns sorted(columns);
  std::sort(sorted.begin(), sorted.end(), [](const WideColumn& a, const WideColumn& b) {
    return a.name().compare(b.name()) < 0;
  });
  constexpr size_t kMaxBytes = std::numeric_limits<uint32_t>::max();
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 && sorted[i].name() == sorted[i - 1].name()) {
      return Status::Corruption("wide columns: two columns of one name", sorted[i].name());
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

// Names and values in the result point into `entity`. After an error the list is empty.
Status DecodeColumns(const Slice& entity, WideColumns* columns) {
  assert(columns != nullptr);
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

// The name of the default column is empty, so this column is sorted first.
Slice DefaultColumnOf(const WideColumns& columns) {
  const bool has_default = !columns.empty() && columns.front().name().empty();
  return has_default ? columns.front().value() : Slice();
}

Status DecodeDefaultColumn(const Slice& entity, Slice* value) {
  Slice input = entity;
  uint32_t version = 0;
  if (GetVarint32(&input, &version) && version == kVersionPlain) {
    return DecodePlainDefault(input, value);
  }
  WideColumns columns;
  Status status = DecodeColumns(entity, &columns);
  if (status.ok()) *value = DefaultColumnOf(columns);
  return status;
}

}  // namespace ashlar
