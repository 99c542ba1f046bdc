// SPDX-License-Identifier: Apache-2.0
//
// OwnMoment is the snapshot of a read that makes several steps.
#pragma once

#include "db/db_impl.h"

namespace ashlar {

// A snapshot for the time of one call, unless the caller has one.
class OwnMoment {
 public:
  OwnMoment(DBImpl* db, const Snapshot* given)
      : db_(db), own_(given == nullptr ? db->TakeMoment() : nullptr), given_(given) {}
  ~OwnMoment() { db_->ReleaseSnapshot(own_); }
  OwnMoment(const OwnMoment&) = delete;
  OwnMoment& operator=(const OwnMoment&) = delete;

  const Snapshot* snapshot() const { return given_ != nullptr ? given_ : own_; }

 private:
  DBImpl* const db_;
  const Snapshot* const own_;
  const Snapshot* const given_;
};

}  // namespace ashlar
