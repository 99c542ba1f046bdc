// SPDX-License-Identifier: Apache-2.0
//
// FamilyHandle is the ColumnFamilyHandle users hold: a reference on a column family.
#pragma once

#include <cassert>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "db/column_family/family_ref.h"
#include "db/state/db_core.h"

namespace ashlar {

class FamilyHandle final : public ColumnFamilyHandle {
 public:
  // Takes a reference. `core` outlives the handle.
  FamilyHandle(ColumnFamilyData* family, DbCore* core);
  ~FamilyHandle() override;

  const std::string& GetName() const override { return family_->name(); }
  uint32_t GetID() const override { return family_->id(); }
  Status GetDescriptor(ColumnFamilyDescriptor* desc) override;
  const Comparator* GetComparator() const override {
    return family_->comparator().user_comparator();
  }

  ColumnFamilyData* family() const { return family_.get(); }

 private:
  FamilyRef family_;  // never empty
  DbCore* const core_;
};

inline Status NullHandle() { return Status::InvalidArgument("the column family handle is null"); }

inline Status CheckHandle(const ColumnFamilyHandle* handle) {
  return handle == nullptr ? NullHandle() : Status::OK();
}

inline Status CheckHandles(const std::vector<ColumnFamilyHandle*>& handles) {
  for (const ColumnFamilyHandle* const handle : handles) {
    if (handle == nullptr) return NullHandle();
  }
  return Status::OK();
}

// The family of a handle that a DB of ours gave out, not null.
inline ColumnFamilyData* FamilyOf(ColumnFamilyHandle* handle) {
  assert(handle != nullptr);
  return static_cast<FamilyHandle*>(handle)->family();
}

}  // namespace ashlar
