// SPDX-License-Identifier: Apache-2.0
//
// ashlar/stats_history.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include "ashlar/dropin_begin.h"
#include "ashlar/stats_history.h"
#include "ashlar/dropin_end.h"

#include "rocksdb/statistics.h"
