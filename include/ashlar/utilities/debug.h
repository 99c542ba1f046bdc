// SPDX-License-Identifier: Apache-2.0
//
// Returns all stored versions of keys. For tests and investigations.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/types.h"

namespace ashlar {

// One entry as stored in a memtable or table.
struct ASHLAR_EXPORT KeyVersion {
  KeyVersion() : user_key(""), value(""), sequence(0), type(0) {}
  KeyVersion(const std::string& _user_key, const std::string& _value, SequenceNumber _sequence,
             int _type)
      : user_key(_user_key), value(_value), sequence(_sequence), type(_type) {}

  std::string user_key;
  std::string value;
  SequenceNumber sequence;
  int type;  // the number that the files store
  std::string GetTypeName() const;
};

// Returns the entries of all keys in [begin_key, end_key], at most max_num_ikeys of them; of each
// key, the newest version comes first. Entries that a range tombstone hides are left out. Without a
// handle: entries of the default family. The result is the state at the time of the call; writers
// are not blocked. In a family with timestamps the bounds have none, and each user_key of the
// result ends in one.
ASHLAR_EXPORT Status GetAllKeyVersions(DB* db, OptSlice begin_key, OptSlice end_key,
                                       size_t max_num_ikeys, std::vector<KeyVersion>* key_versions);
ASHLAR_EXPORT Status GetAllKeyVersions(DB* db, ColumnFamilyHandle* cfh, OptSlice begin_key,
                                       OptSlice end_key, size_t max_num_ikeys,
                                       std::vector<KeyVersion>* key_versions);

}  // namespace ashlar
