// SPDX-License-Identifier: Apache-2.0
//
// ashlar/file_checksum.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <atomic>
#include <map>

#include "ashlar/dropin_begin.h"
#include "ashlar/file_checksum.h"
#include "ashlar/dropin_end.h"
