// SPDX-License-Identifier: Apache-2.0
//
// ashlar/flush_block_policy.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <atomic>

#include "ashlar/dropin_begin.h"
#include "ashlar/flush_block_policy.h"
#include "ashlar/dropin_end.h"

#include "rocksdb/table.h"
