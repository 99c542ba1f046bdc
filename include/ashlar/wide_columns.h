// SPDX-License-Identifier: Apache-2.0
//
// Wide columns: a value that consists of named columns, called an entity (DB::PutEntity(),
// DB::GetEntity()). A plain value is read as one column with an empty name, the default column.
// DB::Get() of an entity returns its default column, or an empty value if it has none.
//
// Threads: const members may be called from many threads; other calls need external locking.
#pragma once

#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

// The name and the value of a column. Does not own the bytes.
class WideColumn {
 public:
  WideColumn() = default;

  // Constructs both slices from objects that convert to Slice.
  template <typename N, typename V>
  WideColumn(N&& name, V&& value) : name_(std::forward<N>(name)), value_(std::forward<V>(value)) {}

  // Constructs both slices from tuples of constructor arguments.
  template <typename NTuple, typename VTuple>
  WideColumn(std::piecewise_construct_t, NTuple&& name_tuple, VTuple&& value_tuple)
      : name_(std::make_from_tuple<Slice>(std::forward<NTuple>(name_tuple))),
        value_(std::make_from_tuple<Slice>(std::forward<VTuple>(value_tuple))) {}

  const Slice& name() const { return name_; }
  const Slice& value() const { return value_; }
  Slice& name() { return name_; }
  Slice& value() { return value_; }

 private:
  Slice name_;
  Slice value_;
};

inline bool operator==(const WideColumn& lhs, const WideColumn& rhs) {
  return lhs.name() == rhs.name() && lhs.value() == rhs.value();
}
inline bool operator!=(const WideColumn& lhs, const WideColumn& rhs) { return !(lhs == rhs); }

// Prints name:value, in hexadecimal if that is the base of the stream.
inline std::ostream& operator<<(std::ostream& os, const WideColumn& column) {
  const bool hex = (os.flags() & std::ios_base::basefield) == std::ios_base::hex;
  return os << column.name().ToString(hex) << ':' << column.value().ToString(hex);
}

// As a result: sorted by name. As an argument: in any order, without duplicate names.
using WideColumns = std::vector<WideColumn>;

ASHLAR_EXPORT extern const Slice kDefaultWideColumnName;  // the empty name
ASHLAR_EXPORT extern const WideColumns kNoWideColumns;

// Columns together with the memory that they refer to: the result of DB::GetEntity(). Can be moved
// but not copied.
class ASHLAR_EXPORT PinnableWideColumns {
 public:
  PinnableWideColumns() = default;
  PinnableWideColumns(PinnableWideColumns&& other) { *this = std::move(other); }
  PinnableWideColumns& operator=(PinnableWideColumns&& other);

  // The columns, sorted by name. Valid until this object changes.
  const WideColumns& columns() const { return columns_; }
  // Total bytes of all names and values.
  size_t payload_size() const;
  // Bytes of the stored form.
  size_t serialized_size() const { return value_.size(); }

  // Replace the contents with one default column. The value is copied, or kept alive by the
  // cleanups of *cleanable, or moved.
  void SetPlainValue(const Slice& value);
  void SetPlainValue(const Slice& value, Cleanable* cleanable);
  void SetPlainValue(PinnableSlice&& value);
  void SetPlainValue(std::string&& value);

  // Replace the contents with the columns of a stored entity. If it is malformed: Corruption, and
  // there are no columns.
  Status SetWideColumnValue(const Slice& value);
  Status SetWideColumnValue(const Slice& value, Cleanable* cleanable);
  Status SetWideColumnValue(PinnableSlice&& value);
  Status SetWideColumnValue(std::string&& value);

  // Removes all columns and releases their memory.
  void Reset();

 private:
  void CopyValue(const Slice& value);
  void PinValue(const Slice& value, Cleanable* cleanable);
  void MoveValue(PinnableSlice&& value);
  void MoveValue(std::string&& value);
  void CreateIndexForPlainValue();
  Status CreateIndexForWideColumns();

  PinnableSlice value_;  // the stored form; columns_ refers to it
  WideColumns columns_;
};

inline bool operator==(const PinnableWideColumns& lhs, const PinnableWideColumns& rhs) {
  return lhs.columns() == rhs.columns();
}
inline bool operator!=(const PinnableWideColumns& lhs, const PinnableWideColumns& rhs) {
  return !(lhs == rhs);
}

}  // namespace ashlar
