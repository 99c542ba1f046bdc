// SPDX-License-Identifier: Apache-2.0
//
// ashlar/utilities/env_mirror.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <atomic>
#include <cstddef>
#include <iostream>
#include <memory>
#include <vector>

#include "ashlar/dropin_begin.h"
#include "ashlar/utilities/env_mirror.h"
#include "ashlar/dropin_end.h"
