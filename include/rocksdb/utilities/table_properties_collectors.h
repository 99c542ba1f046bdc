// SPDX-License-Identifier: Apache-2.0
//
// ashlar/utilities/table_properties_collectors.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <atomic>

#include "ashlar/dropin_begin.h"
#include "ashlar/utilities/table_properties_collectors.h"
#include "ashlar/dropin_end.h"
