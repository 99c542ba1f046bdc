// SPDX-License-Identifier: Apache-2.0
//
// Opens a drop-in header: until dropin_end.h the namespace `ashlar` is written `rocksdb`, and a
// dropped Status is no warning, since the programs that come this way were not written for that.
// Not guarded: every drop-in header includes it. A program uses either the headers in rocksdb/ or
// those in ashlar/, never both.
#ifndef ROCKSDB_NAMESPACE
#define ROCKSDB_NAMESPACE rocksdb
#endif

#ifndef ASHLAR_NODISCARD_CLASS
#define ASHLAR_NODISCARD_CLASS
#endif

#pragma push_macro("ashlar")
#undef ashlar
#define ashlar ROCKSDB_NAMESPACE
