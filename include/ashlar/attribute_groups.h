// SPDX-License-Identifier: Apache-2.0
//
// Attribute groups: the wide columns of one key, spread over several column families.
//
// Threads: const members may be called from many threads; anything else needs outside locking.
// Column family handles are borrowed and must outlive the objects here.
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

// The columns of one family, as argument of PutEntity.
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

// The columns of one family with their memory and the status of reading them: result of GetEntity.
class PinnableAttributeGroup {
 public:
  explicit PinnableAttributeGroup(ColumnFamilyHandle* column_family)
      : column_family_(column_family) {}

  ColumnFamilyHandle* column_family() const { return column_family_; }
  const Status& status() const { return status_; }
  const WideColumns& columns() const { return columns_.columns(); }

  void SetStatus(const Status& status) { status_ = status; }
  void SetColumns(PinnableWideColumns&& columns) { columns_ = std::move(columns); }

  // Back to OK without columns.
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

// The columns of one family at the position of an iterator. Valid until the iterator moves.
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

// Walks several families in one key order; see DB::NewAttributeGroupIterator.
class ASHLAR_EXPORT AttributeGroupIterator : public IteratorBase {
 public:
  // One group per family that holds the present key. Only while Valid().
  virtual const IteratorAttributeGroups& attribute_groups() const = 0;
};

// Never valid, with the given status.
ASHLAR_EXPORT std::unique_ptr<AttributeGroupIterator> NewAttributeGroupErrorIterator(
    const Status& status);

}  // namespace ashlar
