// SPDX-License-Identifier: Apache-2.0
//
// What the functions that open databases share.
#pragma once

#include <cassert>
#include <functional>
#include <string>
#include <vector>

#include "capi/handles.h"

namespace ashlar::capi {

// The families that a program names, with their options.
std::vector<ColumnFamilyDescriptor> Descriptors(int count, const char* const* names,
                                                const ashlar_options_t* const* options);

// Wraps a database that was opened with these families. The handles go to `results`, which has room
// for as many. The new handle owns the database.
template <typename Handle, typename Database>
Handle* Wrap(Database* db, const std::vector<ColumnFamilyHandle*>& families = {},
             ashlar_column_family_handle_t** results = nullptr) {
  assert(db != nullptr);
  assert(families.empty() || results != nullptr);
  auto* handle = new Handle{db, std::make_shared<FamilyHandles>()};
  for (size_t i = 0; i < families.size(); ++i) results[i] = handle->families->Add(families[i]);
  return handle;
}

// Closes a database: first the engine's family handles are destroyed, then the database. The
// program must have destroyed iterators, snapshots and transactions before.
template <typename Handle>
void Close(Handle* db) {
  if (db == nullptr) return;
  assert(db->families != nullptr);
  db->families->DestroyAll();
  delete db->rep;
  delete db;
}

}  // namespace ashlar::capi
