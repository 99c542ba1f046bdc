// SPDX-License-Identifier: Apache-2.0
//
// ashlar/write_buffer_manager.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <vector>

#include "ashlar/dropin_begin.h"
#include "ashlar/write_buffer_manager.h"
#include "ashlar/dropin_end.h"

#include "rocksdb/statistics.h"
