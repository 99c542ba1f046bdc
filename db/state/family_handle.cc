// SPDX-License-Identifier: Apache-2.0
//
// The life of a handle: listeners are notified before it is deleted.
#include "db/state/family_handle.h"

#include <cassert>

#include "db/state/notify_errors.h"

namespace ashlar {

FamilyHandle::FamilyHandle(ColumnFamilyData* family, DbCore* core, bool is_of_program)
    : family_(family), core_(core), is_of_program_(is_of_program) {
  assert(core_ != nullptr);
}

// Releasing the last handle of a dropped family makes its files obsolete.
FamilyHandle::~FamilyHandle() {
  if (is_of_program_) {
    ForEachListener(core_->services, [this](EventListener* listener) {
      listener->OnColumnFamilyHandleDeletionStarted(this);
    });
  }
  family_ = FamilyRef();
  if (!core_->shutdown.is_closing()) core_->services.cleaner->DeleteObsoleteFiles();
}

Status FamilyHandle::GetDescriptor(ColumnFamilyDescriptor* desc) {
  assert(desc != nullptr);
  MutexLock lock(&core_->mutex);
  desc->name = family_->name();
  desc->options = family_->options();
  return Status::OK();
}

}  // namespace ashlar
