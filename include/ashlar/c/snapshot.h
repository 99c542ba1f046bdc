// SPDX-License-Identifier: Apache-2.0
//
// The C API: snapshots.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// A snapshot of the present state. ashlar_release_snapshot() ends and frees it.
const ashlar_snapshot_t* ashlar_create_snapshot(ashlar_t* db);
void ashlar_release_snapshot(ashlar_t* db, const ashlar_snapshot_t* snapshot);
uint64_t ashlar_snapshot_get_sequence_number(const ashlar_snapshot_t* snapshot);

ASHLAR_C_END
