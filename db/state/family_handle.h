// SPDX-License-Identifier: Apache-2.0
//
// FamilyHandle is the ColumnFamilyHandle that users hold: a reference to a column family.
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
  // Takes a reference. `core` outlives the handle. Listeners hear of handles of the program only.
  FamilyHandle(ColumnFamilyData* family, DbCore* core, bool is_of_program = true);
  ~FamilyHandle() override;

  const std::string& GetName() const override { return family_->name(); }
  uint32_t GetID() const override { return family_->id(); }
  Status GetDescriptor(ColumnFamilyDescriptor* desc) override;
  const Comparator* GetComparator() const override {
    return family_->comparator().user_comparator();
  }

  ColumnFamilyData* family() const { return family_.get(); }
  bool IsOf(const DbCore* core) const { return core_ == core; }
  // Whether both are handles of one open database.
  bool SharesDbWith(const FamilyHandle& other) const { return core_ == other.core_; }
  // The tools for folding merge operands of the family.
  MergeTools merge_tools() const {
    MergeTools tools = MergeToolsOf(*core_);
    tools.merge_operator = family_->merge_operator();
    return tools;
  }

 private:
  FamilyRef family_;  // never empty
  DbCore* const core_;
  const bool is_of_program_;
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

// The family of a handle that is not null and was created by this library.
inline ColumnFamilyData* FamilyOf(ColumnFamilyHandle* handle) {
  assert(handle != nullptr);
  return static_cast<FamilyHandle*>(handle)->family();
}
inline MergeTools MergeToolsOf(ColumnFamilyHandle* handle) {
  assert(handle != nullptr);
  return static_cast<FamilyHandle*>(handle)->merge_tools();
}

}  // namespace ashlar
