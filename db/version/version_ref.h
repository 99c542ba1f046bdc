// SPDX-License-Identifier: Apache-2.0
//
// VersionRef owns one reference to an installed version, which keeps the version's tables alive.
// The destructor releases the reference and may run with or without the DB mutex.
#pragma once

#include <cassert>
#include <utility>

#include "db/version/version.h"
#include "db/version/version_set.h"

namespace ashlar {

class VersionRef {
 public:
  VersionRef() = default;
  // Precondition: the caller keeps the version alive during this call. The set outlives the
  // VersionRef.
  VersionRef(Version* version, VersionSet* set) : version_(version), set_(set) {
    assert(version != nullptr);
    assert(set != nullptr);
    version->Ref();
  }
  VersionRef(VersionRef&& other) noexcept { swap(other); }
  VersionRef& operator=(VersionRef other) noexcept {
    swap(other);
    return *this;
  }
  ~VersionRef() {
    if (version_ != nullptr && version_->Unref()) set_->Release(version_);
  }

  Version* get() const { return version_; }
  Version* operator->() const {
    assert(version_ != nullptr);
    return version_;
  }
  Version& operator*() const {
    assert(version_ != nullptr);
    return *version_;
  }

 private:
  void swap(VersionRef& other) noexcept {
    std::swap(version_, other.version_);
    std::swap(set_, other.set_);
  }

  Version* version_ = nullptr;
  VersionSet* set_ = nullptr;
};

}  // namespace ashlar
