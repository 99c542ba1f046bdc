// SPDX-License-Identifier: Apache-2.0
//
// ashlar/thread_status.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <cstddef>
#include <vector>

#include "ashlar/dropin_begin.h"
#include "ashlar/thread_status.h"
#include "ashlar/dropin_end.h"
