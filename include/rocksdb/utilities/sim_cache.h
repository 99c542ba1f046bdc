// SPDX-License-Identifier: Apache-2.0
//
// ashlar/utilities/sim_cache.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <atomic>
#include <map>
#include <vector>

#include "ashlar/dropin_begin.h"
#include "ashlar/utilities/sim_cache.h"
#include "ashlar/dropin_end.h"

#include "rocksdb/env.h"
#include "rocksdb/statistics.h"
