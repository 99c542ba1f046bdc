// SPDX-License-Identifier: Apache-2.0
//
// FamilyHandle is the ColumnFamilyHandle users hold: a reference on a column family.
#pragma once

#include <string>

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

// The family of a handle that a DB of ours gave out.
inline ColumnFamilyData* FamilyOf(ColumnFamilyHandle* handle) {
  return static_cast<FamilyHandle*>(handle)->family();
}

}  // namespace ashlar
