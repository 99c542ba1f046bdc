// SPDX-License-Identifier: Apache-2.0
//
// ashlar/functor_wrapper.h in namespace rocksdb. Made by tools/make_dropin_headers.py.
#pragma once

#include <memory>

#include "ashlar/dropin_begin.h"
#include "ashlar/functor_wrapper.h"
#include "ashlar/dropin_end.h"
