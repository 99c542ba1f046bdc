// SPDX-License-Identifier: Apache-2.0
//
// The former place of ashlar/convenience.h; programs written for older releases of RocksDB include
// it.
#pragma once

#include "ashlar/convenience.h"
