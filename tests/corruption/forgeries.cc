// SPDX-License-Identifier: Apache-2.0
//
// Changes bytes and updates the checksum above them, so that the parsers meet lengths, counts,
// offsets and orders that no writer writes.
#include <algorithm>

#include "tests/corruption/mutations.h"
#include "tests/corruption/records.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Values to write over a byte.
std::vector<std::string> ForgedBytesFor(char byte) {
  std::vector<std::string> values;
  for (const int value : {0x00, 0x7f, 0x80, 0xff, byte + 1, byte - 1}) {
    values.emplace_back(1, static_cast<char>(value));
  }
  return values;
}

// Extreme numbers: fixed-size ones, varints, and varints that are too long.
std::vector<std::string> Limits(size_t size) {
  std::vector<std::string> limits;
  const auto n = static_cast<uint32_t>(size);
  for (const uint32_t value : {0u, 1u, n - 4, n, n + 1, 0x0fffffffu, 0x10000001u, 0x20000001u,
                               0x40000001u, 0x7fffffffu, 0x80000001u, 0xffffffffu}) {
    limits.emplace_back();
    PutFixed32(&limits.back(), value);
  }
  limits.push_back(std::string(4, '\xff') + '\x0f');
  limits.push_back(std::string(4, '\x80') + '\x08');
  limits.push_back(std::string(9, '\xff') + '\x01');
  limits.push_back(std::string(9, '\x80') + '\x01');
  limits.push_back(std::string(12, '\xff'));
  limits.push_back(std::string(8, '\xff'));
  limits.push_back(std::string(8, '\0'));
  return limits;
}

std::string Overlaid(std::string bytes, size_t at, const std::string& value) {
  const size_t n = std::min(value.size(), bytes.size() - at);
  return bytes.replace(at, n, value, 0, n);
}

// All forgeries of `bytes`; calls add(what, changed bytes), of the same size.
template <typename Add>
void ForgeBytes(const std::string& bytes, const Effort& effort, uint64_t stride, const Add& add) {
  effort.Each(bytes.size(), stride, [&](uint64_t at) {
    for (const std::string& value : ForgedBytesFor(bytes[at])) {
      if (bytes[at] != value[0]) add(StrCat("byte ", at), Overlaid(bytes, at, value));
    }
  });
  effort.Each(bytes.size(), stride * 4, [&](uint64_t at) {
    for (const std::string& limit : Limits(bytes.size())) {
      const std::string changed = Overlaid(bytes, at, limit);
      if (changed != bytes) add(StrCat("number at ", at), changed);
    }
    std::string shifted = bytes;
    add(StrCat("byte ", at, " left out"), shifted.erase(at, 1).append(1, '\0'));
    shifted = bytes;
    shifted.insert(at, 1, '\1').pop_back();
    add(StrCat("byte inserted at ", at), shifted);
  });
}

Mutation Forgery(const Sample& sample, const std::string& path, const std::string& part,
                 const std::string& what) {
  return {.name = StrCat(path, " ", part, " ", what),
          .kind = "forgeries",
          .path = path,
          .part = part,
          .files = sample.files,
          .is_forged = true};
}

// From the end of a block: packed word, offset of values, hash index, restart points.
void ForgeTail(const Sample& sample, const std::string& path, const TableLayout& layout,
               const TableBlock& block, const Effort& effort, const CheckMutation& check) {
  constexpr size_t kTailBytes = 24;
  effort.Each(std::min(block.bytes, kTailBytes), sample.is_main ? 1 : 4, [&](uint64_t i) {
    const size_t back = i + 1;
    const size_t at = block.offset + block.bytes - back;
    for (const std::string& limit : Limits(block.bytes)) {
      if (limit.size() > back) continue;
      Mutation mutation =
          Forgery(sample, path, block.kind, StrCat("number ", back, " from its end"));
      std::string& table = mutation.files[path];
      table.replace(at, limit.size(), limit);
      FixBlock(layout, block, &table);
      check(mutation);
    }
  });
}

void ForgeTypes(const Sample& sample, const std::string& path, const TableLayout& layout,
                const TableBlock& block, const CheckMutation& check) {
  for (const int type : {0, 1, 2, 3, 4, 5, 6, 7, 8, 0x40, 0x80, 0xff}) {
    Mutation mutation = Forgery(sample, path, block.kind, StrCat("compression type ", type));
    std::string& table = mutation.files[path];
    table[block.offset + block.bytes] = static_cast<char>(type);
    FixBlock(layout, block, &table);
    check(mutation);
  }
}

uint64_t ForgeryStride(const Sample& sample, const std::string& kind) {
  const uint64_t factor = sample.is_main ? 1 : 4;
  if (kind == "index" || kind == "metaindex") return 4 * factor;
  return (kind == "properties" ? 32 : 16) * factor;
}

void ForgeTable(const Sample& sample, const std::string& path, const Effort& effort,
                const CheckMutation& check) {
  const std::string& bytes = sample.files.at(path);
  const TableLayout layout = FindBlocks(bytes);
  for (const TableBlock& block : layout.blocks) {
    const auto add = [&](const std::string& what, const std::string& changed) {
      Mutation mutation =
          Forgery(sample, path, block.kind, StrCat("at ", block.offset, ", ", what));
      std::string& table = mutation.files[path];
      table.replace(block.offset, block.bytes, changed);
      FixBlock(layout, block, &table);
      check(mutation);
    };
    ForgeBytes(bytes.substr(block.offset, block.bytes), effort, ForgeryStride(sample, block.kind),
               add);
    // One data block is enough.
    if (!effort.is_first() || (block.kind == "data" && block.offset != 0)) continue;
    ForgeTail(sample, path, layout, block, effort, check);
    ForgeTypes(sample, path, layout, block, check);
  }
  const auto add = [&](const std::string& what, const std::string& changed) {
    Mutation mutation = Forgery(sample, path, "footer", what);
    std::string& table = mutation.files[path];
    table.replace(layout.footer_offset, changed.size(), changed);
    FixFooter(layout, &table);
    check(mutation);
  };
  ForgeBytes(bytes.substr(layout.footer_offset), effort, sample.is_main ? 1 : 4, add);
}

// Records may change their length: no offset points into a log.
std::string WithRecord(const std::string& log, const LogRecord& record, const std::string& bytes) {
  return log.substr(0, record.offset) + bytes + log.substr(record.end());
}

void ForgeInRecord(const Sample& sample, const std::string& path, size_t index,
                   const LogRecord& record, const Effort& effort, const CheckMutation& check) {
  const std::string& log = sample.files.at(path);
  const std::string payload = log.substr(record.payload_offset, record.payload_bytes);
  const auto add = [&](const std::string& what, const std::string& changed) {
    Mutation mutation = Forgery(sample, path, "record", StrCat(index, ", ", what));
    mutation.files[path] = WithRecord(log, record, RecordWith(log, record, changed));
    check(mutation);
  };
  ForgeBytes(payload, effort, sample.is_main ? 2 : 8, add);
  effort.Each(payload.size(), 4,
              [&](uint64_t size) { add(StrCat("shortened to ", size), payload.substr(0, size)); });
  add("lengthened", payload + std::string(1, '\0'));
  add("doubled", payload + payload);
  if (!effort.is_first()) return;
  for (int type = 0; type < 256; type = type < 14 || type > 125 ? type + 1 : 126) {
    std::string typed = log;
    typed[record.offset + 6] = static_cast<char>(type);
    Mutation mutation = Forgery(sample, path, "record", StrCat(index, ", type ", type));
    mutation.files[path] = WithRecord(typed, record, RecordWith(typed, record, payload));
    check(mutation);
    if (index > 0 && type >= 14) break;  // one unknown type is enough
  }
}

void MoveRecords(const Sample& sample, const std::string& path,
                 const std::vector<LogRecord>& records, const CheckMutation& check) {
  const std::string& log = sample.files.at(path);
  for (size_t i = 0; i < records.size(); ++i) {
    const std::string bytes = log.substr(records[i].offset, records[i].end() - records[i].offset);
    Mutation dropped = Forgery(sample, path, "record", StrCat(i, " left out"));
    dropped.files[path] = WithRecord(log, records[i], "");
    check(dropped);
    Mutation doubled = Forgery(sample, path, "record", StrCat(i, " twice"));
    doubled.files[path] = WithRecord(log, records[i], bytes + bytes);
    check(doubled);
    for (size_t k = i + 1; k < records.size(); ++k) {
      const std::string other = log.substr(records[k].offset, records[k].end() - records[k].offset);
      Mutation swapped = Forgery(sample, path, "record", StrCat(i, " and ", k, " swapped"));
      swapped.files[path] = WithRecord(WithRecord(log, records[k], bytes), records[i], other);
      check(swapped);
    }
  }
}

}  // namespace

void ForgeChecksums(const Sample& sample, const Effort& effort, const CheckMutation& check) {
  for (const auto& [path, bytes] : sample.files) {
    if (KindOf(path) == "table") ForgeTable(sample, path, effort, check);
    if (KindOf(path) != "log" && KindOf(path) != "MANIFEST") continue;
    const std::vector<LogRecord> records = FindRecords(bytes);
    for (size_t i = 0; i < records.size(); ++i) {
      ForgeInRecord(sample, path, i, records[i], effort, check);
    }
    if (effort.is_first()) MoveRecords(sample, path, records, check);
  }
}

}  // namespace ashlar
