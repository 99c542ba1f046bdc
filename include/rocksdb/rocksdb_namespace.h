// SPDX-License-Identifier: Apache-2.0
//
// The name of the namespace. Made by tools/make_dropin_headers.py.
#pragma once

#ifndef ROCKSDB_NAMESPACE
#define ROCKSDB_NAMESPACE rocksdb
#endif
