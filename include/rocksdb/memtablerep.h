// SPDX-License-Identifier: Apache-2.0
//
// ashlar/memtablerep.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <atomic>
#include <stdexcept>

#include "ashlar/dropin_begin.h"
#include "ashlar/memtablerep.h"
#include "ashlar/dropin_end.h"
