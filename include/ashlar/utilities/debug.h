// SPDX-License-Identifier: Apache-2.0
//
// Looking at every version of every key. For tests and investigations.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/types.h"

namespace ashlar {

// One stored entry.
struct ASHLAR_EXPORT KeyVersion {
  KeyVersion() : user_key(""), value(""), sequence(0), type(0) {}
  KeyVersion(const std::string& _user_key, const std::string& _value, SequenceNumber _sequence,
             int _type)
      : user_key(_user_key), value(_value), sequence(_sequence), type(_type) {}

  std::string user_key;
  std::string value;
  SequenceNumber sequence;
  int type;  // as in the files
  std::string GetTypeName() const;
};

// The entries of all keys in [begin_key, end_key], newest version of a key first, at most
// max_num_ikeys. Without a handle: of the default family. Blocks and memtables are read as they are
// at the call; writers go on meanwhile.
ASHLAR_EXPORT Status GetAllKeyVersions(DB* db, OptSlice begin_key, OptSlice end_key,
                                       size_t max_num_ikeys, std::vector<KeyVersion>* key_versions);
ASHLAR_EXPORT Status GetAllKeyVersions(DB* db, ColumnFamilyHandle* cfh, OptSlice begin_key,
                                       OptSlice end_key, size_t max_num_ikeys,
                                       std::vector<KeyVersion>* key_versions);

}  // namespace ashlar
