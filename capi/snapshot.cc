// SPDX-License-Identifier: Apache-2.0
//
// The C API: snapshots.
#include "ashlar/c/snapshot.h"

#include <cassert>

#include "ashlar/snapshot.h"
#include "capi/handles.h"

const ashlar_snapshot_t* ashlar_create_snapshot(ashlar_t* db) {
  assert(db != nullptr);
  // From malloc(), because a C program frees the handle of a transaction's snapshot with
  // ashlar_free().
  return ashlar::capi::Borrowed<ashlar_snapshot_t>(db->rep->GetSnapshot());
}

void ashlar_release_snapshot(ashlar_t* db, const ashlar_snapshot_t* snapshot) {
  if (snapshot == nullptr) return;
  db->rep->ReleaseSnapshot(snapshot->rep);
  std::free(const_cast<ashlar_snapshot_t*>(snapshot));
}

uint64_t ashlar_snapshot_get_sequence_number(const ashlar_snapshot_t* snapshot) {
  assert(snapshot != nullptr);
  return snapshot->rep->GetSequenceNumber();
}
