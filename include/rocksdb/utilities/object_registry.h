// SPDX-License-Identifier: Apache-2.0
//
// ashlar/utilities/object_registry.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "ashlar/dropin_begin.h"
#include "ashlar/utilities/object_registry.h"
#include "ashlar/dropin_end.h"
