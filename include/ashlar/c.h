// SPDX-License-Identifier: Apache-2.0
//
// The C API: the engine behind opaque handles and functions of C11. rocksdb/c.h is the same with
// `rocksdb_` in the place of `ashlar_`; tools/make_dropin_headers.py makes it from these headers.
//
// Handles. A handle is destroyed with the `..._destroy` (or `..._close`) function of its type,
// once; destroying a null pointer does nothing. Options are copied when they are used: the handle
// of options may be changed or destroyed right after the call. Objects given to options (caches,
// rate limiters, loggers, ...) are shared, and their handles may be destroyed too. The exceptions
// are named at the functions: some take the handle over, others need it as long as the database is
// open. Null options mean the defaults, except for a backup engine and a hyper clock cache, which
// need a folder and a size.
//
// Strings. Keys and values are a pointer and a length, and may contain zero bytes; a null pointer
// is the empty string. Paths and names end with a zero byte. Returned buffers are allocated with
// malloc() and followed by a zero byte, which their length does not count; ashlar_free() (or
// free()) frees them.
//
// Errors. `errptr` points to a null pointer or to a string from malloc(). A call that fails frees
// this string and puts a new one in its place, which begins with the kind of error ("Corruption:
// ...", "Not implemented: ..."). A call that succeeds does not touch it, so it must be null before
// a call whose result it is to tell. A null `errptr` drops errors.
//
// Booleans are `unsigned char`, 0 or 1; other values than 0 mean 1.
//
// Threads. A database may be used by many threads at once; every other handle by one at a time,
// unless its calls only read it.
#pragma once

#include "ashlar/c/types.h"

#include "ashlar/c/backup.h"
#include "ashlar/c/batch.h"
#include "ashlar/c/cache.h"
#include "ashlar/c/call_options.h"
#include "ashlar/c/callbacks.h"
#include "ashlar/c/checkpoint.h"
#include "ashlar/c/column_family.h"
#include "ashlar/c/compaction_service.h"
#include "ashlar/c/db.h"
#include "ashlar/c/db_options.h"
#include "ashlar/c/enums.h"
#include "ashlar/c/env.h"
#include "ashlar/c/family_options.h"
#include "ashlar/c/iterator.h"
#include "ashlar/c/job_info.h"
#include "ashlar/c/listener.h"
#include "ashlar/c/maintenance.h"
#include "ashlar/c/metadata.h"
#include "ashlar/c/multi_get.h"
#include "ashlar/c/object_options.h"
#include "ashlar/c/optimistic.h"
#include "ashlar/c/option_values.h"
#include "ashlar/c/options.h"
#include "ashlar/c/properties.h"
#include "ashlar/c/read.h"
#include "ashlar/c/snapshot.h"
#include "ashlar/c/sst_file.h"
#include "ashlar/c/statistics.h"
#include "ashlar/c/table_options.h"
#include "ashlar/c/table_properties.h"
#include "ashlar/c/tables.h"
#include "ashlar/c/tracing.h"
#include "ashlar/c/transaction.h"
#include "ashlar/c/transactiondb.h"
#include "ashlar/c/ttl.h"
#include "ashlar/c/wal.h"
#include "ashlar/c/wbwi.h"
#include "ashlar/c/write.h"
