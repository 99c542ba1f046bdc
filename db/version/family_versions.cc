// SPDX-License-Identifier: Apache-2.0
//
// Closes tables: when the family is destroyed, or when no version holds the table any more.
#include "db/version/family_versions.h"

#include <cassert>

namespace ashlar {

FamilyVersions::~FamilyVersions() {
  live.TakeAll([this](TableFile* file) {
    tables->Close(file);
    delete file;
  });
}

void ObsoleteTable::Close() {
  if (file == nullptr) return;
  assert(family != nullptr);
  family->tables->Close(file.get());
  file.reset();
}

}  // namespace ashlar
