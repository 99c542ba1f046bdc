// SPDX-License-Identifier: Apache-2.0
//
// ashlar/utilities/types_util.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <atomic>

#include "ashlar/dropin_begin.h"
#include "ashlar/utilities/types_util.h"
#include "ashlar/dropin_end.h"
