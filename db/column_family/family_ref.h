// SPDX-License-Identifier: Apache-2.0
//
// FamilyRef is a counted reference on a column family. The family, even if it is dropped, lives
// until the last reference is released. Release references without the DB mutex: the last one frees
// memtables and tables.
#pragma once

#include <cassert>
#include <utility>

#include "db/column_family/column_family_data.h"

namespace ashlar {

class FamilyRef {
 public:
  FamilyRef() = default;
  explicit FamilyRef(ColumnFamilyData* family) : family_(family) {
    assert(family != nullptr);
    family_->Ref();
  }
  // Takes over a reference, such as the one that a new family begins with.
  static FamilyRef Adopt(ColumnFamilyData* family) {
    FamilyRef ref;
    ref.family_ = family;
    return ref;
  }
  FamilyRef(FamilyRef&& other) noexcept : family_(std::exchange(other.family_, nullptr)) {}
  FamilyRef& operator=(FamilyRef&& other) noexcept {
    std::swap(family_, other.family_);
    return *this;
  }
  ~FamilyRef() { Reset(); }

  void Reset() {
    if (family_ != nullptr) std::exchange(family_, nullptr)->Unref();
  }

  ColumnFamilyData* get() const { return family_; }
  ColumnFamilyData* operator->() const { return family_; }
  ColumnFamilyData& operator*() const { return *family_; }
  explicit operator bool() const { return family_ != nullptr; }
  // Hands the reference to the caller, who must release it.
  ColumnFamilyData* Release() { return std::exchange(family_, nullptr); }

 private:
  ColumnFamilyData* family_ = nullptr;
};

}  // namespace ashlar
