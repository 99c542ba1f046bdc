// SPDX-License-Identifier: Apache-2.0
//
// Attribute groups: the columns of one entity (see wide_columns.h) that are stored in several
// column families.
//
// Threads: const members may be called from many threads; other calls need external locking. Column
// family handles are not owned and must outlive these objects.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/iterator_base.h"
#include "ashlar/status.h"
#include "ashlar/wide_columns.h"

namespace ashlar {

class ColumnFamilyHandle;

// The columns of one family, as an argument of DB::PutEntity().
class AttributeGroup {
 public:
  explicit AttributeGroup(ColumnFamilyHandle* column_family, const WideColumns& columns)
      : column_family_(column_family), columns_(columns) {}

  ColumnFamilyHandle* column_family() const { return column_family_; }
  const WideColumns& columns() const { return columns_; }
  WideColumns& columns() { return columns_; }

 private:
  ColumnFamilyHandle* column_family_;
  WideColumns columns_;
};

inline bool operator==(const AttributeGroup& lhs, const AttributeGroup& rhs) {
  return lhs.column_family() == rhs.column_family() && lhs.columns() == rhs.columns();
}
inline bool operator!=(const AttributeGroup& lhs, const AttributeGroup& rhs) {
  return !(lhs == rhs);
}

using AttributeGroups = std::vector<AttributeGroup>;
ASHLAR_EXPORT extern const AttributeGroups kNoAttributeGroups;

// The columns of one family as a result of DB::GetEntity(), with their memory and the status of
// reading them.
class PinnableAttributeGroup {
 public:
  explicit PinnableAttributeGroup(ColumnFamilyHandle* column_family)
      : column_family_(column_family) {}

  ColumnFamilyHandle* column_family() const { return column_family_; }
  const Status& status() const { return status_; }
  const WideColumns& columns() const { return columns_.columns(); }

  void SetStatus(const Status& status) { status_ = status; }
  void SetColumns(PinnableWideColumns&& columns) { columns_ = std::move(columns); }

  // Sets the status to OK and removes the columns.
  void Reset() {
    status_ = Status::OK();
    columns_.Reset();
  }

 private:
  ColumnFamilyHandle* column_family_;
  Status status_;
  PinnableWideColumns columns_;
};

using PinnableAttributeGroups = std::vector<PinnableAttributeGroup>;

// The columns of one family at the current position of an iterator. Valid until the iterator moves.
class IteratorAttributeGroup {
 public:
  explicit IteratorAttributeGroup(ColumnFamilyHandle* column_family, const WideColumns* columns)
      : column_family_(column_family), columns_(columns) {}

  ColumnFamilyHandle* column_family() const { return column_family_; }
  const WideColumns& columns() const { return *columns_; }

 private:
  ColumnFamilyHandle* column_family_;
  const WideColumns* columns_;
};

using IteratorAttributeGroups = std::vector<IteratorAttributeGroup>;
ASHLAR_EXPORT extern const IteratorAttributeGroups kNoIteratorAttributeGroups;

// Iterates over several families in one order of keys; see DB::NewAttributeGroupIterator().
class ASHLAR_EXPORT AttributeGroupIterator : public IteratorBase {
 public:
  // One group for each family that contains the current key. Only allowed while Valid().
  virtual const IteratorAttributeGroups& attribute_groups() const = 0;
};

// Returns an iterator that is never valid and has the given status.
ASHLAR_EXPORT std::unique_ptr<AttributeGroupIterator> NewAttributeGroupErrorIterator(
    const Status& status);

}  // namespace ashlar
