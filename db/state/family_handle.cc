// SPDX-License-Identifier: Apache-2.0
#include "db/state/family_handle.h"

#include "db/state/notify_errors.h"

namespace ashlar {

FamilyHandle::FamilyHandle(ColumnFamilyData* family, DbCore* core) : family_(family), core_(core) {}

// The last handle of a dropped family takes its files with it.
FamilyHandle::~FamilyHandle() {
  ForEachListener(core_->services, [this](EventListener* listener) {
    listener->OnColumnFamilyHandleDeletionStarted(this);
  });
  family_ = FamilyRef();
  if (!core_->shutdown.is_closing()) core_->services.cleaner->DeleteObsoleteFiles();
}

Status FamilyHandle::GetDescriptor(ColumnFamilyDescriptor* desc) {
  MutexLock lock(&core_->mutex);
  desc->name = family_->name();
  desc->options = family_->options();
  return Status::OK();
}

}  // namespace ashlar
