// SPDX-License-Identifier: Apache-2.0
//
// Old name of wal_iterator.h.
#pragma once

#include "ashlar/wal_iterator.h"
