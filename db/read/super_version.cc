// SPDX-License-Identifier: Apache-2.0
//
// References on the parts are taken in the constructor and given back in the destructor.
#include "db/read/super_version.h"

#include <cassert>
#include <utility>

#include "db/version/version_set.h"
#include "memtable/memtable.h"

namespace ashlar {

SuperVersion::SuperVersion(Parts parts, VersionSet* versions)
    : parts_(std::move(parts)), versions_(versions) {
  assert(parts_.mem != nullptr);
  assert(parts_.version != nullptr);
  assert(parts_.options != nullptr);
  parts_.mem->Ref();
  for (MemTable* memtable : parts_.immutables) memtable->Ref();
  parts_.version->Ref();
}

SuperVersion::~SuperVersion() {
  parts_.mem->Unref();
  for (MemTable* memtable : parts_.immutables) memtable->Unref();
  if (parts_.version->Unref()) versions_->Release(parts_.version);
}

void SuperVersion::Retire(SuperVersion* super_version) {
  EpochRetire(super_version,
              [](EpochRetired* object) { static_cast<SuperVersion*>(object)->Unref(); });
}

}  // namespace ashlar
