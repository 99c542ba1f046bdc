// SPDX-License-Identifier: Apache-2.0
//
// ashlar/persistent_cache.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "ashlar/dropin_begin.h"
#include "ashlar/persistent_cache.h"
#include "ashlar/dropin_end.h"

#include "rocksdb/statistics.h"
