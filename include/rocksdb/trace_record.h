// SPDX-License-Identifier: Apache-2.0
//
// ashlar/trace_record.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include "ashlar/dropin_begin.h"
#include "ashlar/trace_record.h"
#include "ashlar/dropin_end.h"
