// SPDX-License-Identifier: Apache-2.0
//
// A table is opened as a reader opens it and read from the first entry to the last.
#include "tests/scenarios/table_text.h"

#include <memory>
#include <utility>
#include <vector>

#include "ashlar/options.h"
#include "env/random_reader.h"
#include "table/sst/read/table_reader.h"
#include "tests/support/scenario.h"
#include "util/text/str_cat.h"

namespace ashlar {

std::string EntryText(const Slice& internal_key, const Slice& value) {
  const uint64_t trailer = ExtractTrailer(internal_key);
  const ValueType type = TrailerType(trailer);
  std::string text =
      StrCat(ExtractUserKey(internal_key).ToString(), "#", TrailerSeqno(trailer), " ");
  if (type == kTypeDeletion) return text + "DEL";
  if (type == kTypeSingleDeletion) return text + "SINGLE_DEL";
  return StrCat(text, "PUT ", value.ToString());
}

TextEntry ParseEntry(const std::string& text) {
  const std::vector<std::string> words = SplitWords(text);
  const size_t number = words.at(0).find('#');
  TextEntry entry;
  entry.user_key = words[0].substr(0, number);
  entry.seqno = std::stoull(words[0].substr(number + 1));
  const std::string& kind = words.at(1);
  entry.type = kind == "DEL"          ? kTypeDeletion
               : kind == "SINGLE_DEL" ? kTypeSingleDeletion
               : kind == "DEL_TO"     ? kTypeRangeDeletion
                                      : kTypeValue;
  if (words.size() > 2) entry.value = words[2];
  return entry;
}

std::string TableText(FileSystem* fs, const std::string& path,
                      const InternalKeyComparator& comparator) {
  auto file = RandomReader::Open(fs, path, FileOptions());
  if (!file.ok()) return file.status().ToString();
  TableReaderOptions options;
  options.icmp = &comparator;
  auto table = TableReader::Open(file.Take(), options);
  if (!table.ok()) return table.status().ToString();
  const ReadOptions read;
  const std::unique_ptr<InternalIterator> entries((*table)->NewIterator(read, nullptr));
  std::string text;
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    StrAppend(&text, text.empty() ? "" : ", ", EntryText(entries->key(), entries->value()));
  }
  if (!entries->status().ok()) return entries->status().ToString();
  std::vector<RangeTombstone> tombstones;
  if ((*table)->tombstones() != nullptr) (*table)->tombstones()->AppendTo(&tombstones);
  for (const RangeTombstone& tombstone : tombstones) {
    StrAppend(&text, text.empty() ? "" : ", ", tombstone.begin.ToString(), "#", tombstone.seqno,
              " DEL_TO ", tombstone.end.ToString());
  }
  return text;
}

}  // namespace ashlar
