// SPDX-License-Identifier: Apache-2.0
//
// Begins a drop-in header: until dropin_end.h the namespace `ashlar` is called `rocksdb`, and
// ignoring a Status gives no warning, because existing programs were not written for such warnings.
// This file has no include guard, because every drop-in header includes it. A program must use
// either the headers in rocksdb/ or those in ashlar/, never both.
#ifndef ROCKSDB_NAMESPACE
#define ROCKSDB_NAMESPACE rocksdb
#endif

#ifndef ASHLAR_NODISCARD_CLASS
#define ASHLAR_NODISCARD_CLASS
#endif

#pragma push_macro("ashlar")
#undef ashlar
#define ashlar ROCKSDB_NAMESPACE
