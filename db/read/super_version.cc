// SPDX-License-Identifier: Apache-2.0
//
// A super version holds references on its parts: the constructor takes them, the destructor
// releases them.
#include "db/read/super_version.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/options.h"
#include "db/version/version_set.h"
#include "memtable/memtable.h"
#include "util/text/str_cat.h"

namespace ashlar {

SuperVersion::SuperVersion(Parts parts, VersionSet* versions)
    : parts_(std::move(parts)), versions_(versions) {
  assert(parts_.mem != nullptr);
  assert(parts_.version != nullptr);
  assert(parts_.options != nullptr);
  // Readers use the first memtable that knows a key, so the newest one must be first.
  assert(std::is_sorted(parts_.immutables.begin(), parts_.immutables.end(),
                        [](const MemTable* a, const MemTable* b) { return a->id() > b->id(); }));
  assert(parts_.immutables.empty() || parts_.immutables.front()->id() < parts_.mem->id());
  parts_.mem->Ref();
  for (MemTable* memtable : parts_.immutables) memtable->Ref();
  parts_.version->Ref();
}

SuperVersion::~SuperVersion() {
  assert(refs_.load(std::memory_order_relaxed) == 0);
  parts_.mem->Unref();
  for (MemTable* memtable : parts_.immutables) memtable->Unref();
  if (parts_.version->Unref()) versions_->Release(parts_.version);
}

bool SuperVersion::MayIgnoreRangeTombstones() const {
  return parts_.options->min_tombstones_for_range_conversion == 0;
}

std::string SuperVersion::DebugString() const {
  std::string text = StrCat("super version ", parts_.number, ": memtables ", parts_.mem->id());
  for (const MemTable* memtable : parts_.immutables) StrAppend(&text, " ", memtable->id());
  StrAppend(&text, ", version ", parts_.version->number(), " with ", parts_.version->file_count(),
            " tables\n");
  return text;
}

// Readers that found the pointer inside an epoch may still use the object, so the reference of the
// database is released only after their epochs.
void SuperVersion::Retire(SuperVersion* super_version) {
  assert(super_version != nullptr);
  EpochRetire(super_version,
              [](EpochRetired* object) { static_cast<SuperVersion*>(object)->Unref(); });
}

}  // namespace ashlar
