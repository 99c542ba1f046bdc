// SPDX-License-Identifier: Apache-2.0
//
// Traces as text, one operation per line.
#include "tests/support/trace.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace ashlar {
namespace {

// clang-format off
constexpr const char* kNames[] = {
    "put", "delete", "single-delete", "merge", "delete-range", "batch", "get", "multiget", "iter", "iter-close",
    "seek",
    "seek-for-prev", "first", "last", "next", "prev", "refresh", "snapshot", "release", "flush",
    "compact", "create-family", "drop-family", "set-options", "sync-wal", "reopen", "verify",
    "key-may-exist", "approximate-size", "set-db-options", "checkpoint", "read-only-open", "pause",
    "continue", "wait-idle", "clock-jump", "crash", "multiget-families", "prefix-scan",
    "failing-merge"};
// clang-format on
static_assert(std::size(kNames) == static_cast<size_t>(OpKind::kCount));

std::string Escape(const std::string& bytes) {
  if (bytes.empty()) return "%";
  static constexpr char kHex[] = "0123456789abcdef";
  std::string result;
  for (unsigned char c : bytes) {
    if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_') {
      result += static_cast<char>(c);
    } else {
      result += {'%', kHex[c >> 4], kHex[c & 15]};
    }
  }
  return result;
}

std::string Unescape(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
    } else if (text.size() - i >= 3) {
      result += static_cast<char>(std::strtoul(text.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    }
  }
  return result;
}

std::string ValueText(const ValueSpec& value) {
  return std::to_string(value.tag) + "x" + std::to_string(value.size);
}

ValueSpec ParseValue(const std::string& text) {
  const size_t x = text.find('x');
  if (x == std::string::npos) return {};
  return {static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10)),
          static_cast<uint32_t>(std::strtoul(text.c_str() + x + 1, nullptr, 10)),
          {}};
}

std::optional<OpKind> KindOf(const std::string& name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<OpKind>(i);
  }
  return std::nullopt;
}

// "put:0:key:1x5", "delete:0:key" or "delete-range:0:begin:end".
bool ParsePart(const std::string& text, BatchPart* part) {
  std::istringstream in(text);
  std::string kind, family, key, value;
  std::getline(in, kind, ':');
  std::getline(in, family, ':');
  std::getline(in, key, ':');
  std::getline(in, value, ':');
  const std::optional<OpKind> found = KindOf(kind);
  const bool is_part =
      found.has_value() &&
      (*found <= OpKind::kDeleteRange || *found == OpKind::kGet || *found == OpKind::kFailingMerge);
  if (!is_part || family.empty()) return false;
  *part = {*found, std::atoi(family.c_str()), Unescape(key), {}, {}};
  if (*found == OpKind::kDeleteRange) {
    part->end = Unescape(value);
  } else {
    part->value = ParseValue(value);
  }
  return true;
}

bool ParseField(const std::string& field, TraceOp* op) {
  const size_t equals = field.find('=');
  const std::string name = field.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : field.substr(equals + 1);
  if (name == "cf")
    op->family = std::atoi(value.c_str());
  else if (name == "obj")
    op->object = std::atoi(value.c_str());
  else if (name == "snap")
    op->snapshot = std::atoi(value.c_str());
  else if (name == "key")
    op->keys.push_back(Unescape(value));
  else if (name == "val")
    op->value = ParseValue(value);
  else if (name == "lower")
    op->lower = Unescape(value);
  else if (name == "upper")
    op->upper = Unescape(value);
  else if (name == "text")
    op->text = value;
  else if (name == "sync")
    op->sync = true;
  else if (name == "nowal")
    op->disable_wal = true;
  else if (name == "tailing")
    op->is_tailing = true;
  else if (name == "part")
    return ParsePart(value, &op->parts.emplace_back());
  else
    return false;
  return true;
}

}  // namespace

const char* NameOf(OpKind kind) { return kNames[static_cast<size_t>(kind)]; }

// Begins with the tag, for messages. Half of the bytes repeat, so that compression has an effect.
std::string ValueSpec::Expand() const {
  std::string result(size, '-');
  uint64_t state = tag * 0x9e3779b97f4a7c15ull + 1;
  for (size_t at = 0; at < size; at += 2 * sizeof(state)) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    std::memcpy(result.data() + at, &state, std::min(sizeof(state), size - at));
  }
  const std::string head = std::to_string(tag) + ".";
  std::memcpy(result.data(), head.data(), std::min(head.size(), result.size()));
  for (const ValueSpec& operand : operands) result += "," + operand.Expand();
  return result;
}

bool ValueSpec::EqualsColumns(const WideColumns& columns) const {
  const std::string bytes = Expand(), number = std::to_string(tag);
  WideColumns expected{{"", bytes}};
  if (is_entity) expected.emplace_back("tag", number);
  return columns == expected;
}

std::string TraceOp::ToString() const {
  std::string line = NameOf(kind);
  line += " cf=" + std::to_string(family);
  if (object != 0) line += " obj=" + std::to_string(object);
  if (snapshot >= 0) line += " snap=" + std::to_string(snapshot);
  for (const std::string& key : keys) line += " key=" + Escape(key);
  if (kind == OpKind::kPut || kind == OpKind::kMerge) line += " val=" + ValueText(value);
  for (const BatchPart& part : parts) {
    line += std::string(" part=") + NameOf(part.kind) + ":" + std::to_string(part.family) + ":" +
            Escape(part.key) + ":" +
            (part.kind == OpKind::kDeleteRange ? Escape(part.end) : ValueText(part.value));
  }
  if (lower.has_value()) line += " lower=" + Escape(*lower);
  if (upper.has_value()) line += " upper=" + Escape(*upper);
  if (!text.empty()) line += " text=" + text;
  if (sync) line += " sync";
  if (disable_wal) line += " nowal";
  if (is_tailing) line += " tailing";
  return line;
}

std::optional<TraceOp> TraceOp::Parse(const std::string& line) {
  std::istringstream in(line);
  std::string word;
  in >> word;
  const std::optional<OpKind> kind = KindOf(word);
  if (!kind.has_value()) return std::nullopt;
  TraceOp op;
  op.kind = *kind;
  while (in >> word) {
    if (!ParseField(word, &op)) return std::nullopt;
  }
  return op;
}

std::string TraceText(const std::vector<TraceOp>& ops) {
  std::string text;
  for (const TraceOp& op : ops) text += op.ToString() + "\n";
  return text;
}

std::vector<TraceOp> ParseTrace(const std::string& text, std::string* error) {
  std::istringstream in(text);
  std::vector<TraceOp> ops;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::optional<TraceOp> op = TraceOp::Parse(line);
    if (!op.has_value()) {
      *error = "not an operation: " + line;
      return {};
    }
    ops.push_back(std::move(*op));
  }
  return ops;
}

}  // namespace ashlar
