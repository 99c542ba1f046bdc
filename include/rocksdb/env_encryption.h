// SPDX-License-Identifier: Apache-2.0
//
// ashlar/env_encryption.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <sstream>
#include <vector>

#include "ashlar/dropin_begin.h"
#include "ashlar/env_encryption.h"
#include "ashlar/dropin_end.h"

#include "rocksdb/options.h"
#include "rocksdb/table.h"
