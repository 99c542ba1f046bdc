// SPDX-License-Identifier: Apache-2.0
//
// ashlar/utilities/agg_merge.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <atomic>

#include "ashlar/dropin_begin.h"
#include "ashlar/utilities/agg_merge.h"
#include "ashlar/dropin_end.h"
