// SPDX-License-Identifier: Apache-2.0
//
// ashlar/advanced_options.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <atomic>
#include <climits>
#include <map>
#include <stdexcept>
#include <vector>

#include "ashlar/dropin_begin.h"
#include "ashlar/advanced_options.h"
#include "ashlar/dropin_end.h"

#include "rocksdb/statistics.h"
