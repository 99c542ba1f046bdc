// SPDX-License-Identifier: Apache-2.0
//
// ashlar/utilities/ldb_cmd_execute_result.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include "ashlar/dropin_begin.h"
#include "ashlar/utilities/ldb_cmd_execute_result.h"
#include "ashlar/dropin_end.h"
