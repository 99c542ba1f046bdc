// SPDX-License-Identifier: Apache-2.0
//
// A meta file consists of lines of words:
//
//   [schema_version 2.1]
//   timestamp
//   sequence number
//   [metadata HEX] and, in schema 2, other fields: a name and a value
//   number of files
//   name crc32 CRC [pairs of words in schema 2]      for each file
//   in schema 2, optional: "// FOOTER" and more fields
#include "db/utilities/backup/backup_meta.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <set>

#include "db/utilities/backup/backup_names.h"
#include "env/filename.h"
#include "util/hash/crc32c.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr std::string_view kSchemaField = "schema_version";
// The version that WriteMeta() writes. Other versions 2.x can be read, too.
constexpr std::string_view kSchemaText = "2.1";
constexpr std::string_view kMetadataField = "metadata";
constexpr std::string_view kCrcField = "crc32";
constexpr std::string_view kSizeField = "size";
constexpr std::string_view kTemperatureField = "temp";
constexpr std::string_view kExcludedField = "ni::excluded";
constexpr std::string_view kFooterLine = "// FOOTER";
// A field of the footer: the CRC-32C of the text before its line. RocksDB ignores it.
constexpr std::string_view kWholeCrcField = "crc32c_of_file";
// Unknown fields with this prefix must not be ignored.
constexpr std::string_view kNotIgnorable = "ni::";

struct TemperatureName {
  std::string_view name;
  Temperature temperature;
};
// The names in the files are those of the enumerators.
constexpr TemperatureName kTemperatures[] = {
    {"kHot", Temperature::kHot},   {"kWarm", Temperature::kWarm}, {"kCool", Temperature::kCool},
    {"kCold", Temperature::kCold}, {"kIce", Temperature::kIce},
};

// The text for a meta file; empty for unknown temperatures, whose field is left out.
std::string_view NameOf(Temperature temperature) {
  for (const TemperatureName& row : kTemperatures) {
    if (row.temperature == temperature) return row.name;
  }
  return {};
}

// A name that is not known becomes kUnknown: a temperature is only advice.
Temperature TemperatureOf(std::string_view name) {
  for (const TemperatureName& row : kTemperatures) {
    if (row.name == name) return row.temperature;
  }
  return Temperature::kUnknown;
}

// A decimal number as WriteMeta() prints it: without sign and leading zeros.
template <typename T>
std::optional<T> NumberIn(std::string_view text) {
  // For signed types from_chars() accepts a minus sign, which the format does not have.
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  if (text.front() == '0' && text.size() > 1) return std::nullopt;
  T number = 0;
  const char* const end = text.data() + text.size();
  // A number that does not fit into the type is refused, too.
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

// The words between single blanks. Two blanks in sequence make an empty word.
std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const size_t space = line.find(' ');
    words.push_back(line.substr(0, space));
    if (space == std::string_view::npos) return words;
    line.remove_prefix(space + 1);
  }
}

bool HasEmptyWord(const std::vector<std::string_view>& words) {
  return std::ranges::any_of(words, [](std::string_view word) { return word.empty(); });
}

// Whether the name is in a directory of this backup and has the form of a database file's name.
bool IsGoodName(std::string_view name, BackupID id) {
  const size_t slash = name.rfind('/');
  // A name without a directory would be a file beside the directories of the backups.
  if (slash == std::string_view::npos) return false;
  const bool is_shared = IsSharedName(name);
  const std::string_view dir = name.substr(0, slash);
  const bool is_in_place =
      is_shared ? dir == kSharedDir || dir == kSharedChecksumDir : dir == PrivateDirName(id);
  FileNumber number = 0;
  FileType type = kTempFile;
  if (!is_in_place || !ParseFileName(DatabaseNameOf(name), &number, &type)) return false;
  // Each kind of file has its place: only tables and blob files are shared.
  switch (type) {
    case kTableFile:
    case kBlobFile: return true;
    case kWalFile:
    case kDescriptorFile:
    case kCurrentFile:
    case kOptionsFile:
    case kIdentityFile: return !is_shared;
    default: return false;
  }
}

// Parses one meta file. Every status names the file. Used once.
class MetaParser {
 public:
  MetaParser(std::string_view text, BackupID id, const std::string& path,
             std::vector<std::string>* ignored)
      : text_(text), id_(id), path_(path), ignored_(ignored) {}

  // The lines in the order of the format: schema, time, sequence number, fields, number of files,
  // files.
  Status Parse(BackupMeta* meta) {
    assert(meta != nullptr);
    RETURN_IF_ERROR(NextLine());
    RETURN_IF_ERROR(ParseSchema());
    RETURN_IF_ERROR(ParseNumber("a timestamp", &meta->timestamp));
    RETURN_IF_ERROR(NextLine());
    RETURN_IF_ERROR(ParseNumber("a sequence number", &meta->sequence));
    RETURN_IF_ERROR(ParseFieldsBeforeCount(&meta->app_metadata));
    uint64_t count = 0;
    RETURN_IF_ERROR(ParseNumber("the number of files", &count));
    RETURN_IF_ERROR(ParseFiles(meta));
    // The count finds a file whose end is missing: RocksDB writes no checksum of the whole.
    if (meta->files.size() == count) return Status::OK();
    return Status::Corruption(
        StrCat(path_, ": ", count, " files announced, ", meta->files.size(), " found"));
  }

 private:
  bool IsAtEnd() const { return at_ == text_.size(); }

  // Each line must end with a line feed, so that a truncated file is detected.
  Status NextLine() {
    line_start_ = at_;
    ++line_number_;
    assert(at_ <= text_.size());
    const size_t end = text_.find('\n', at_);
    // The format has no binary data, so the first line feed ends the line.
    if (end == std::string_view::npos) {
      return Status::Corruption(StrCat(path_, ": ends within line ", line_number_));
    }
    line_ = text_.substr(at_, end - at_);
    at_ = end + 1;
    return Status::OK();
  }

  // Corruption; shows the beginning of the current line.
  Status Wrong(std::string_view expected) const {
    constexpr size_t kShown = 100;
    return Status::Corruption(StrCat(path_, ": line ", line_number_, ": expected ", expected,
                                     ", found \"", line_.substr(0, kShown), "\""));
  }

  // Without this line the file has schema 1.
  Status ParseSchema() {
    if (!line_.starts_with(kSchemaField)) return Status::OK();
    const std::vector<std::string_view> words = WordsOf(line_);
    if (words.size() != 2 || words[0] != kSchemaField) return Wrong("a schema version");
    // A greater minor version may have more fields, which say themselves whether they may be
    // ignored.
    if (words[1] != "2" && !words[1].starts_with("2.")) {
      return Status::NotSupported(
          StrCat(path_, ": schema version ", words[1], " is newer than this version knows"));
    }
    has_fields_ = true;
    return NextLine();
  }

  template <typename T>
  Status ParseNumber(std::string_view what, T* number) {
    assert(number != nullptr);
    const std::optional<T> found = NumberIn<T>(line_);
    if (!found) return Wrong(what);
    *number = *found;
    return Status::OK();
  }

  // Afterwards the current line is the first one without a blank.
  Status ParseFieldsBeforeCount(std::string* app_metadata) {
    assert(app_metadata != nullptr);
    for (;;) {
      RETURN_IF_ERROR(NextLine());
      // Fields have a blank; the number of files is the first line without one.
      const size_t blank = line_.find(' ');
      if (blank == std::string_view::npos) return Status::OK();
      const std::string_view name = line_.substr(0, blank);
      if (name == kMetadataField) {
        if (!app_metadata->empty()) return Wrong("metadata once");
        const Slice digits(line_.substr(blank + 1));
        if (digits.empty() || !digits.DecodeHex(app_metadata)) return Wrong("hexadecimal digits");
      } else if (has_fields_) {
        RETURN_IF_ERROR(PassBy(name));
      } else {
        return Wrong("the number of files");
      }
    }
  }

  // A field that this version does not know. NotSupported if it must not be ignored.
  Status PassBy(std::string_view field) {
    assert(has_fields_);
    if (field.empty()) return Wrong("the name of a field");
    if (field.starts_with(kNotIgnorable)) {
      return Status::NotSupported(StrCat(path_, ": line ", line_number_, ": \"", field,
                                         "\" is newer than this version knows"));
    }
    // Reported once, however often the field occurs.
    if (ignored_ != nullptr && std::ranges::find(*ignored_, field) == ignored_->end()) {
      ignored_->emplace_back(field);
    }
    return Status::OK();
  }

  // Reads until the footer or the end of the file; the caller compares the number of files.
  Status ParseFiles(BackupMeta* meta) {
    while (!IsAtEnd()) {
      RETURN_IF_ERROR(NextLine());
      if (has_fields_ && line_ == kFooterLine) return ParseFooter();
      RETURN_IF_ERROR(ParseFile(meta));
    }
    return Status::OK();
  }

  Status ParseFile(BackupMeta* meta) {
    assert(meta != nullptr);
    const std::vector<std::string_view> words = WordsOf(line_);
    if (HasEmptyWord(words) || words.size() % 2 == 0) return Wrong("a name and pairs of words");
    if (!has_fields_ && (words.size() != 3 || words[1] != kCrcField)) {
      return Wrong("<name> crc32 <checksum>");
    }
    BackupFile file;
    file.name = words[0];
    if (!IsGoodName(file.name, id_)) return Wrong("the name of a file of this backup");
    // Two files with the same name in the database would overwrite each other in a restore.
    if (!database_names_.insert(DatabaseNameOf(file.name)).second) return Wrong("each file once");
    bool is_excluded = false;
    for (size_t i = 1; i < words.size(); i += 2) {
      assert(i + 1 < words.size());
      RETURN_IF_ERROR(ParsePair(words[i], words[i + 1], &file, &is_excluded));
    }
    if (!is_excluded) {
      meta->files.push_back(std::move(file));
      return Status::OK();
    }
    if (!IsSharedName(file.name)) return Wrong("a shared file to be excluded");
    meta->excluded.push_back(std::move(file.name));
    return Status::OK();
  }

  // One pair of words after a file name.
  Status ParsePair(std::string_view field, std::string_view value, BackupFile* file,
                   bool* is_excluded) {
    assert(file != nullptr && is_excluded != nullptr);
    if (field == kCrcField) {
      file->crc = NumberIn<uint32_t>(value);
      if (!file->crc) return Wrong("a CRC-32C in decimal");
    } else if (field == kSizeField) {
      const std::optional<uint64_t> bytes = NumberIn<uint64_t>(value);
      if (!bytes) return Wrong("a size in decimal");
      file->bytes = *bytes;
    } else if (field == kTemperatureField) {
      file->temperature = TemperatureOf(value);
    } else if (field == kExcludedField) {
      if (value != "true" && value != "false") return Wrong("true or false");
      *is_excluded = value == "true";
    } else {
      return PassBy(field);
    }
    return Status::OK();
  }

  // The footer may be missing: RocksDB does not write one with a CRC.
  Status ParseFooter() {
    while (!IsAtEnd()) {
      RETURN_IF_ERROR(NextLine());
      const size_t blank = line_.find(' ');
      if (blank == std::string_view::npos) return Wrong("a field of the footer");
      const std::string_view name = line_.substr(0, blank);
      if (name != kWholeCrcField) {
        RETURN_IF_ERROR(PassBy(name));
        continue;
      }
      const std::optional<uint32_t> expected = NumberIn<uint32_t>(line_.substr(blank + 1));
      if (!expected) return Wrong("a CRC-32C in decimal");
      // The text before the line of this field; what follows is not covered.
      const uint32_t found = crc32c::Value(text_.data(), line_start_);
      if (*expected == found) continue;
      return Status::Corruption(
          StrCat(path_, ": ", kWholeCrcField, " expected ", *expected, ", found ", found));
    }
    return Status::OK();
  }

  const std::string_view text_;
  const BackupID id_;
  const std::string& path_;
  std::vector<std::string>* const ignored_;  // may be null
  size_t at_ = 0;                            // offset after the current line
  size_t line_start_ = 0;
  size_t line_number_ = 0;
  std::string_view line_;    // the current one
  bool has_fields_ = false;  // schema 2
  std::set<std::string> database_names_;
};

}  // namespace

// Schema 1 is the form that all releases of RocksDB read; it has no fields besides the checksums.
std::string WriteMeta(const BackupMeta& meta, int schema) {
  assert(schema >= kLowestSchema && schema <= kHighestSchema);
  assert(schema > 1 || meta.excluded.empty());
  const bool has_fields = schema > 1;
  std::string text;
  if (has_fields) StrAppend(&text, kSchemaField, " ", kSchemaText, "\n");
  StrAppend(&text, meta.timestamp, "\n", meta.sequence, "\n");
  if (!meta.app_metadata.empty()) {
    const std::string digits = Slice(meta.app_metadata).ToString(/*hex=*/true);
    StrAppend(&text, kMetadataField, " ", digits, "\n");
  }
  // Excluded files are not counted.
  StrAppend(&text, meta.files.size(), "\n");
  for (const BackupFile& file : meta.files) {
    StrAppend(&text, file.name);
    if (file.crc) StrAppend(&text, " ", kCrcField, " ", *file.crc);
    if (has_fields) {
      // A size that is not known is left out, and readers then take that of the file.
      if (file.bytes != BackupFile::kUnknownBytes) {
        StrAppend(&text, " ", kSizeField, " ", file.bytes);
      }
      const std::string_view temperature = NameOf(file.temperature);
      if (!temperature.empty()) StrAppend(&text, " ", kTemperatureField, " ", temperature);
    }
    StrAppend(&text, "\n");
  }
  for (const std::string& name : meta.excluded) {
    StrAppend(&text, name, " ", kExcludedField, " true\n");
  }
  if (!has_fields) return text;
  StrAppend(&text, kFooterLine, "\n");
  // Last, because it covers everything before its line.
  StrAppend(&text, kWholeCrcField, " ", crc32c::Value(text.data(), text.size()), "\n");
  return text;
}

Result<BackupMeta> ParseMeta(std::string_view text, BackupID id, const std::string& path,
                             std::vector<std::string>* ignored) {
  BackupMeta meta;
  RETURN_IF_ERROR(MetaParser(text, id, path, ignored).Parse(&meta));
  return meta;
}

// The first word of each line. In a damaged file these may not be names, which does no harm: they
// only protect files from deletion.
std::vector<std::string> NamesInMeta(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    // The last line may lack its line feed, since the file may be damaged.
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view name = line.substr(0, line.find(' '));
    const bool is_private = name.starts_with(kPrivateDir) && name.size() > kPrivateDir.size() &&
                            name[kPrivateDir.size()] == '/';
    if (is_private || IsSharedName(name)) names.emplace_back(name);
  }
  return names;
}

}  // namespace ashlar
