// SPDX-License-Identifier: Apache-2.0
//
// Entries as text: "a#9 PUT x", "a#9 DEL", "a#9 SINGLE_DEL", and the range tombstone "a#9 DEL_TO
// c"; the entries of a table are separated by commas.
#pragma once

#include <string>

#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "util/keys/internal_key.h"

namespace ashlar {

struct TextEntry {
  std::string user_key;
  SequenceNumber seqno = 0;
  ValueType type = kTypeValue;
  std::string value;
};

std::string EntryText(const Slice& internal_key, const Slice& value);
TextEntry ParseEntry(const std::string& text);
// The entries of a table file, or the error of reading it.
std::string TableText(FileSystem* fs, const std::string& path,
                      const InternalKeyComparator& comparator);

}  // namespace ashlar
