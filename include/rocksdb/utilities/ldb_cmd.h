// SPDX-License-Identifier: Apache-2.0
//
// ashlar/utilities/ldb_cmd.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <atomic>
#include <climits>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "ashlar/dropin_begin.h"
#include "ashlar/utilities/ldb_cmd.h"
#include "ashlar/dropin_end.h"

#include "rocksdb/convenience.h"
#include "rocksdb/statistics.h"
#include "rocksdb/system_clock.h"
#include "rocksdb/transaction_log.h"
#include "rocksdb/utilities/db_ttl.h"
