// SPDX-License-Identifier: Apache-2.0
//
// Explanations as text. There is one line for the read as a whole, and one for each place, block
// and tombstone. The text is for people; programs use the fields.
#include <cstdio>
#include <string>

#include "ashlar/explain.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Place = ExplainedPlace;

// The bytes in quotes; unprintable bytes are written as \x41.
std::string Quoted(const std::string& bytes) {
  std::string text = "'";
  for (const char c : bytes) {
    if (c >= ' ' && c <= '~' && c != '\\' && c != '\'') {
      text += c;
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof(escaped), "\\x%02x", static_cast<unsigned char>(c));
    text += escaped;
  }
  return text + "'";
}

std::string Micros(double micros) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f us", micros);
  return text;
}

// "1 byte", "2 bytes".
std::string Counted(uint64_t count, const char* what) {
  return StrCat(count, " ", what, count == 1 ? "" : "s");
}

// ", 3 operands", or an empty string for 0.
std::string IfAny(uint64_t count, const char* what) {
  return count == 0 ? std::string() : StrCat(", ", Counted(count, what));
}

const char* NameOf(Place::Found found) {
  switch (found) {
    case Place::Found::kNothing: return "nothing";
    case Place::Found::kValue: return "value";
    case Place::Found::kTombstone: return "tombstone";
    case Place::Found::kRangeTombstone: return "range tombstone";
    case Place::Found::kMergeOperands: return "merge operands";
    case Place::Found::kFailure: return "failure";
  }
  return "?";
}

const char* NameOf(ExplainedBlock::Kind kind) {
  switch (kind) {
    case ExplainedBlock::Kind::kData: return "data block";
    case ExplainedBlock::Kind::kIndex: return "index partition";
    case ExplainedBlock::Kind::kFilter: return "filter partition";
  }
  return "?";
}

const char* NameOf(ExplainedBlock::Origin origin) {
  switch (origin) {
    case ExplainedBlock::Origin::kSlot: return "slot";
    case ExplainedBlock::Origin::kCache: return "cache";
    case ExplainedBlock::Origin::kFile: return "file";
  }
  return "?";
}

// "memtable 7", or the level, number, size and key range of a table.
std::string NameOf(const Place& place) {
  if (place.kind == Place::Kind::kMemTable) return StrCat("memtable ", place.number);
  if (place.kind == Place::Kind::kImmutableMemTable)
    return StrCat("immutable memtable ", place.number);
  return StrCat("level ", place.level, ", table ", place.number, " (", place.file_bytes, " bytes, ",
                Quoted(place.smallest_key), " to ", Quoted(place.largest_key), ")");
}

const char* NameOf(ExplainedRead read) {
  switch (read) {
    case ExplainedRead::kGet: return "Get of ";
    case ExplainedRead::kSeek: return "Seek to ";
    case ExplainedRead::kSeekForPrev: return "Seek backwards to ";
  }
  return "?";
}

// The line about the read as a whole: the call, the sequence number and the result.
std::string Head(const ReadExplanation& explanation) {
  const bool is_seek = explanation.read != ExplainedRead::kGet;
  std::string text = StrCat(NameOf(explanation.read), Quoted(explanation.key),
                            " at sequence number ", explanation.seqno, ": ");
  if (!explanation.status.ok()) return text + explanation.status.ToString();
  if (is_seek && !explanation.is_valid) return text + "no entry";
  if (is_seek) text += StrCat(Quoted(explanation.found_key), " with ");
  return text + Counted(explanation.value_bytes, "byte");
}

}  // namespace

std::string ExplainedBlock::ToString() const {
  return StrCat(NameOf(kind), " at ", offset, ", ", Counted(bytes, "byte"), ", from ",
                NameOf(origin), ", ", Micros(micros));
}

std::string ExplainedTombstone::ToString() const {
  if (begin.empty() && end.empty()) return StrCat("range tombstone at sequence number ", seqno);
  return StrCat("range tombstone from ", Quoted(begin), " to ", Quoted(end), " at sequence number ",
                seqno);
}

std::string ExplainedPlace::ToString() const {
  std::string text = NameOf(*this);
  if (was_in_row_cache) text += ": row cache";
  if (was_opened && !was_in_row_cache) text += ": opened";
  const char* const asked = is_prefix_filter ? "the prefix" : "the key";
  if (filter == Filter::kRejected) text += StrCat(": filter rejected ", asked);
  if (filter == Filter::kLetThrough) text += StrCat(": filter let ", asked, " through");
  text += StrCat(": ", NameOf(found), IfAny(merge_operands, "operand"));
  if (found != Found::kNothing) text += StrCat(", sequence number ", seqno);
  if (entries_skipped != 0) {
    text += StrCat(", ", entries_skipped, entries_skipped == 1 ? " entry" : " entries", " skipped");
  }
  if (bytes_read != 0) text += StrCat(", ", Counted(bytes_read, "byte"), " read");
  return StrCat(text, ", ", Micros(micros));
}

std::string ReadExplanation::ToString() const {
  uint64_t tables = 0;
  for (const ExplainedPlace& place : places) {
    tables += place.kind == ExplainedPlace::Kind::kTable ? 1 : 0;
  }
  std::string text = StrCat(Head(*this), ", ", Micros(micros), ", ", tables, " of ",
                            Counted(table_count, "table"));
  if (merge_operands != 0) {
    text += StrCat(", ", Counted(merge_operands, "operand"), " merged in ", Micros(merge_micros));
  }
  if (runs_hidden != 0) text += StrCat(", ", Counted(runs_hidden, "run"), " hidden");
  text += "\n";
  for (size_t i = 0; i < places.size(); i++) {
    text += StrCat("  ", i + 1, ". ", places[i].ToString(), "\n");
    for (const auto& tombstone : places[i].tombstones) {
      text += StrCat("       ", tombstone.ToString(), "\n");
    }
    for (const auto& block : places[i].blocks) text += StrCat("       ", block.ToString(), "\n");
  }
  return text;
}

}  // namespace ashlar
