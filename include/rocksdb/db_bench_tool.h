// SPDX-License-Identifier: Apache-2.0
//
// ashlar/db_bench_tool.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include "ashlar/dropin_begin.h"
#include "ashlar/db_bench_tool.h"
#include "ashlar/dropin_end.h"
