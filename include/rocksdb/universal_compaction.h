// SPDX-License-Identifier: Apache-2.0
//
// ashlar/universal_compaction.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <climits>
#include <vector>

#include "ashlar/dropin_begin.h"
#include "ashlar/universal_compaction.h"
#include "ashlar/dropin_end.h"
