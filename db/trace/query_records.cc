// SPDX-License-Identifier: Apache-2.0
//
// Payloads are written field by field. When they are read, each field goes into an array, at the
// number of its bit.
#include "db/trace/query_records.h"

#include <cassert>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "ashlar/version.h"
#include "util/keys/coding.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// Bits of the map, which are also the order of the fields.
enum Field : int {
  kWriteBatch = 1,
  kGetFamily = 2,
  kGetKey = 3,
  kSeekFamily = 4,
  kSeekKey = 5,
  kSeekLower = 6,
  kSeekUpper = 7,
  kMultiGetCount = 8,
  kMultiGetFamilies = 9,
  kMultiGetKeys = 10,
};
constexpr int kFieldCount = 11;

// The bit map of these fields.
template <typename... Fields>
constexpr uint64_t MapOf(Fields... fields) {
  return (uint64_t{0} | ... | (uint64_t{1} << fields));
}

// The fields of a payload; they point into it.
struct Fields {
  uint64_t present = 0;
  uint32_t numbers[kFieldCount] = {};
  Slice texts[kFieldCount];

  bool Has(uint64_t map) const { return (present & map) == map; }
};

// Whether the field is a number; all others are texts with a length.
bool IsNumber(int field) {
  return field == kGetFamily || field == kSeekFamily || field == kMultiGetCount;
}

Status Damaged(std::string_view what) { return Status::Corruption(StrCat("trace record: ", what)); }

// Reads one field and notes its presence.
Status TakeField(int field, Slice* payload, Fields* fields) {
  assert(field > 0);
  assert(field < kFieldCount);
  const bool is_taken = IsNumber(field) ? GetFixed32(payload, &fields->numbers[field])
                                        : GetLengthPrefixedSlice(payload, &fields->texts[field]);
  if (!is_taken) return Damaged(StrCat("field ", field, " of the payload is cut"));
  fields->present |= MapOf(field);
  return Status::OK();
}

// Parses a payload of version 0.2: a map of the fields that follow, and then the fields in the
// order of their bits. All bytes must be used.
Status ParseFields(Slice payload, Fields* fields) {
  uint64_t map;
  if (!GetFixed64(&payload, &map)) return Damaged("the map of fields is cut");
  // Bit 0 is not used.
  if ((map & ~(MapOf(kFieldCount) - 2)) != 0) {
    return Damaged(StrCat("the map of fields has unknown bits: ", Hex(map)));
  }
  for (int field = kWriteBatch; field < kFieldCount; field++) {
    if ((map >> field & 1) != 0) RETURN_IF_ERROR(TakeField(field, &payload, fields));
  }
  if (payload.empty()) return Status::OK();
  return Damaged(StrCat(payload.size(), " bytes behind the last field"));
}

// Parses the fields of versions 0.0 and 0.1. Each type has its fields in a fixed order, without a
// map. A write has only its batch.
Status ParseOldFields(const TraceFrame& frame, Fields* fields) {
  Slice payload = frame.payload;
  if (frame.type == kTraceWrite) {
    fields->texts[kWriteBatch] = payload;
    fields->present = MapOf(kWriteBatch);
    return Status::OK();
  }
  // The key follows the family in both cases.
  const int family = frame.type == kTraceGet ? kGetFamily : kSeekFamily;
  RETURN_IF_ERROR(TakeField(family, &payload, fields));
  RETURN_IF_ERROR(TakeField(family + 1, &payload, fields));
  if (payload.empty()) return Status::OK();
  return Damaged(StrCat(payload.size(), " bytes behind the last field"));
}

Status MakeMultiGet(const TraceFrame& frame, const Fields& fields,
                    std::unique_ptr<TraceRecord>* record) {
  assert(frame.type == kTraceMultiGet);
  if (!fields.Has(MapOf(kMultiGetCount, kMultiGetFamilies, kMultiGetKeys))) {
    return Damaged("a MultiGet without families or keys");
  }
  const uint64_t count = fields.numbers[kMultiGetCount];
  Slice families_left = fields.texts[kMultiGetFamilies];
  Slice keys_left = fields.texts[kMultiGetKeys];
  // This check also limits the memory that a damaged count can request.
  if (families_left.size() != count * sizeof(uint32_t) || keys_left.size() < count) {
    return Damaged(StrCat("a MultiGet of ", count, " keys has ", families_left.size(),
                          " bytes of families and ", keys_left.size(), " of keys"));
  }
  std::vector<uint32_t> families(count);
  std::vector<std::string> keys(count);
  for (uint64_t i = 0; i < count; i++) {
    Slice key;
    if (!GetFixed32(&families_left, &families[i]) || !GetLengthPrefixedSlice(&keys_left, &key)) {
      return Damaged(StrCat("key ", i, " of a MultiGet is cut"));
    }
    keys[i] = key.ToString();
  }
  if (!keys_left.empty()) return Damaged("bytes behind the last key of a MultiGet");
  *record = std::make_unique<MultiGetQueryTraceRecord>(std::move(families), keys, frame.time);
  return Status::OK();
}

// Makes the record of a frame whose type was checked to be that of a query.
Status MakeRecord(const TraceFrame& frame, const Fields& fields,
                  std::unique_ptr<TraceRecord>* record) {
  switch (frame.type) {
    case kTraceWrite:
      if (!fields.Has(MapOf(kWriteBatch))) return Damaged("a write without a batch");
      *record =
          std::make_unique<WriteQueryTraceRecord>(fields.texts[kWriteBatch].ToString(), frame.time);
      return Status::OK();
    case kTraceGet:
      if (!fields.Has(MapOf(kGetFamily, kGetKey))) return Damaged("a Get without family or key");
      *record = std::make_unique<GetQueryTraceRecord>(fields.numbers[kGetFamily],
                                                      fields.texts[kGetKey].ToString(), frame.time);
      return Status::OK();
    case kTraceMultiGet: return MakeMultiGet(frame, fields, record);
    default: break;
  }
  assert(frame.type == kTraceIteratorSeek || frame.type == kTraceIteratorSeekForPrev);
  if (!fields.Has(MapOf(kSeekFamily, kSeekKey))) return Damaged("a seek without family or target");
  *record = std::make_unique<IteratorSeekQueryTraceRecord>(
      static_cast<IteratorSeekQueryTraceRecord::SeekType>(frame.type), fields.numbers[kSeekFamily],
      fields.texts[kSeekKey].ToString(), fields.texts[kSeekLower].ToString(),
      fields.texts[kSeekUpper].ToString(), frame.time);
  return Status::OK();
}

// Parses "<number>.<number>" behind `name`.
bool ParseVersion(std::string_view text, std::string_view name, int* version) {
  const size_t begin = text.find(name);
  if (begin == std::string_view::npos) return false;
  const char* const limit = text.data() + text.size();
  int major = 0;
  int minor = 0;
  const auto dot = std::from_chars(text.data() + begin + name.size(), limit, major);
  if (dot.ec != std::errc() || dot.ptr == limit || *dot.ptr != '.') return false;
  const auto end = std::from_chars(dot.ptr + 1, limit, minor);
  if (end.ec != std::errc() || major < 0 || major > 1000 || minor < 0 || minor > 99) return false;
  *version = major * 100 + minor;
  return true;
}

}  // namespace

std::string QueryTraceHeader() {
  return StrCat(kTraceMagic, "\tTrace Version: ", kQueryTraceVersion / 100, ".",
                kQueryTraceVersion % 100, "\tRocksDB Version: ", ROCKSDB_MAJOR, ".", ROCKSDB_MINOR,
                "\tFormat: Timestamp OpType Payload\n");
}

// A trace that a newer program wrote is NotSupported, because its records may have unknown fields.
Status ParseQueryTraceHeader(const Slice& payload, int* version) {
  assert(version != nullptr);
  const std::string_view text(payload.data(), payload.size());
  if (!text.starts_with(kTraceMagic)) {
    return Status::Corruption(StrCat("trace: the first record does not begin with ", kTraceMagic));
  }
  if (!ParseVersion(text, "\tTrace Version: ", version)) {
    return Status::Corruption("trace: the first record has no version of a query trace");
  }
  if (*version <= kQueryTraceVersion) return Status::OK();
  return Status::NotSupported(
      StrCat("trace: version ", *version / 100, ".", *version % 100, " is newer than this reader"));
}

void AppendWriteQuery(const Slice& batch, std::string* payload) {
  PutFixed64(payload, MapOf(kWriteBatch));
  PutLengthPrefixedSlice(payload, batch);
}

void AppendGetQuery(uint32_t family, const Slice& key, std::string* payload) {
  PutFixed64(payload, MapOf(kGetFamily, kGetKey));
  PutFixed32(payload, family);
  PutLengthPrefixedSlice(payload, key);
}

void AppendMultiGetQuery(std::span<const uint32_t> families, std::span<const Slice> keys,
                         std::string* payload) {
  assert(families.size() == keys.size());
  PutFixed64(payload, MapOf(kMultiGetCount, kMultiGetFamilies, kMultiGetKeys));
  PutFixed32(payload, static_cast<uint32_t>(keys.size()));
  // The families and the keys are one field each, with their length in bytes first.
  PutVarint32(payload, static_cast<uint32_t>(keys.size() * sizeof(uint32_t)));
  for (const uint32_t family : families) PutFixed32(payload, family);
  size_t key_bytes = 0;
  for (const Slice& key : keys) key_bytes += VarintLength(key.size()) + key.size();
  PutVarint32(payload, static_cast<uint32_t>(key_bytes));
  for (const Slice& key : keys) PutLengthPrefixedSlice(payload, key);
}

// The map has a bit for each field that follows. Fields that are empty are left out.
void AppendSeekQuery(const SeekQuery& seek, std::string* payload) {
  uint64_t map = MapOf(kSeekFamily, kSeekKey);
  if (!seek.lower.empty()) map |= MapOf(kSeekLower);
  if (!seek.upper.empty()) map |= MapOf(kSeekUpper);
  PutFixed64(payload, map);
  PutFixed32(payload, seek.family);
  PutLengthPrefixedSlice(payload, seek.target);
  if (!seek.lower.empty()) PutLengthPrefixedSlice(payload, seek.lower);
  if (!seek.upper.empty()) PutLengthPrefixedSlice(payload, seek.upper);
}

// NotSupported concerns only this record, whose frame was read completely; the reader can go on
// behind it.
Status ParseQueryRecord(const TraceFrame& frame, int version,
                        std::unique_ptr<TraceRecord>* record) {
  assert(record != nullptr);
  record->reset();
  const bool is_old = version < kQueryTraceVersion;
  const bool is_query =
      frame.type == kTraceWrite || frame.type == kTraceGet || frame.type == kTraceIteratorSeek ||
      frame.type == kTraceIteratorSeekForPrev || (frame.type == kTraceMultiGet && !is_old);
  if (!is_query) {
    return Status::NotSupported(
        StrCat("trace record: type ", static_cast<int>(frame.type), " is no query"));
  }
  Fields fields;
  RETURN_IF_ERROR(is_old ? ParseOldFields(frame, &fields) : ParseFields(frame.payload, &fields));
  return MakeRecord(frame, fields, record);
}

}  // namespace ashlar
