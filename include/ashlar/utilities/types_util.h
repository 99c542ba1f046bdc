// SPDX-License-Identifier: Apache-2.0
//
// Internal keys, by which tables store entries: a user key, its timestamp if the comparator has
// one, a sequence number and the kind of entry. For programs that read tables entry by entry:
//
//   std::string target;
//   Status s = GetInternalKeyForSeek("key", comparator, &target);
//   if (s.ok()) iterator->Seek(target);  // of SstFileReader::NewTableIterator()
//
// The comparator is that of the table. Threads: any.
#pragma once

#include <string>

#include "ashlar/comparator.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"

namespace ashlar {

// Sets *internal_key to the first possible internal key of the user key, which has no timestamp:
// Seek() finds its newest entry, or the next key. InvalidArgument if a pointer is null.
ASHLAR_EXPORT Status GetInternalKeyForSeek(const Slice& user_key, const Comparator* comparator,
                                           std::string* internal_key);
// The last possible one: SeekForPrev() finds its oldest entry, or the previous key.
ASHLAR_EXPORT Status GetInternalKeyForSeekForPrev(const Slice& user_key,
                                                  const Comparator* comparator,
                                                  std::string* internal_key);

// Splits an internal key. The slices of *parsed_entry point into it. InvalidArgument if it is none,
// or if a pointer is null.
ASHLAR_EXPORT Status ParseEntry(const Slice& internal_key, const Comparator* comparator,
                                ParsedEntryInfo* parsed_entry);

}  // namespace ashlar
