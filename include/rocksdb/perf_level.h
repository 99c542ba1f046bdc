// SPDX-License-Identifier: Apache-2.0
//
// ashlar/perf_level.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/dropin_begin.h"
#include "ashlar/perf_level.h"
#include "ashlar/dropin_end.h"
