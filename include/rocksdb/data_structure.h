// SPDX-License-Identifier: Apache-2.0
//
// ashlar/data_structure.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <vector>

#include "ashlar/dropin_begin.h"
#include "ashlar/data_structure.h"
#include "ashlar/dropin_end.h"
