// SPDX-License-Identifier: Apache-2.0
//
// Wide columns: a value made of named parts (DB::PutEntity, DB::GetEntity). A plain value reads as
// one column with the empty name, the default column; DB::Get of columns gives the default one, or
// an empty value if there is none.
//
// Threads: const members may be called from many threads; anything else needs outside locking.
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

// Name and value of a column. Does not own the bytes.
class WideColumn {
 public:
  WideColumn() = default;

  // From anything that converts to a Slice.
  template <typename N, typename V>
  WideColumn(N&& name, V&& value) : name_(std::forward<N>(name)), value_(std::forward<V>(value)) {}

  // From tuples of arguments to Slice constructors.
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

// Prints name:value, in hexadecimal if the stream's base is.
inline std::ostream& operator<<(std::ostream& os, const WideColumn& column) {
  const bool hex = (os.flags() & std::ios_base::basefield) == std::ios_base::hex;
  return os << column.name().ToString(hex) << ':' << column.value().ToString(hex);
}

// As results: sorted by name. As arguments: in any order, without duplicates.
using WideColumns = std::vector<WideColumn>;

ASHLAR_EXPORT extern const Slice kDefaultWideColumnName;  // the empty name
ASHLAR_EXPORT extern const WideColumns kNoWideColumns;

// Columns together with the memory they refer to: the result of GetEntity. Movable, not copyable.
class ASHLAR_EXPORT PinnableWideColumns {
 public:
  PinnableWideColumns() = default;
  PinnableWideColumns(PinnableWideColumns&& other) { *this = std::move(other); }
  PinnableWideColumns& operator=(PinnableWideColumns&& other);

  // Sorted by name; valid until this object changes.
  const WideColumns& columns() const { return columns_; }
  // Bytes of all names and values.
  size_t payload_size() const;
  // Bytes of the stored form.
  size_t serialized_size() const { return value_.size(); }

  // Become one default column with that value: a copy of it, or pinned by the cleanups of
  // *cleanable, or by moving it in.
  void SetPlainValue(const Slice& value);
  void SetPlainValue(const Slice& value, Cleanable* cleanable);
  void SetPlainValue(PinnableSlice&& value);
  void SetPlainValue(std::string&& value);

  // Become the columns of a stored entity; Corruption, with no columns left, if it is malformed.
  Status SetWideColumnValue(const Slice& value);
  Status SetWideColumnValue(const Slice& value, Cleanable* cleanable);
  Status SetWideColumnValue(PinnableSlice&& value);
  Status SetWideColumnValue(std::string&& value);

  // No columns; lets go of all memory that was pinned.
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
