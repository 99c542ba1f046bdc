// SPDX-License-Identifier: Apache-2.0
//
// ashlar/cache.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <atomic>
#include <map>
#include <vector>

#include "ashlar/dropin_begin.h"
#include "ashlar/cache.h"
#include "ashlar/dropin_end.h"

#include "rocksdb/statistics.h"
