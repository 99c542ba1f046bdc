// SPDX-License-Identifier: Apache-2.0
//
// Writing iterates over the tables. Reading goes line by line and hands each name=value to the
// table of its section. Sections must have the order in which they are written.
#include "db/options/options_file.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <unordered_set>
#include <utility>

#include "ashlar/version.h"
#include "db/options/bare_factories.h"
#include "db/options/option_table.h"
#include "db/options/options_check.h"
#include "db/options/table_factory.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr std::string_view kTableSectionPrefix = "TableOptions/";
// The value of DBOptions::write_compatible_with, in a comment, so that other readers skip it.
constexpr std::string_view kCompatibleComment = "# ashlar.write_compatible_with=";

// ---- writing

// Prints all options of a table that the reader knows, one line each.
void AppendSection(OptionTable table, const PrintContext& context, const void* options,
                   std::string* text) {
  assert(text != nullptr);
  assert(options != nullptr);
  for (const OptionRow& row : table) {
    if (row.print == nullptr || row.facts.since > context.newest) continue;
    StrAppend(text, "  ", row.name(), "=");
    row.Print(context, options, text);
    text->push_back('\n');
  }
  text->append("  \n");
}

// The options of a factory of the program are not known, and those of the adaptive one are not
// recorded, as in RocksDB.
void AppendTableOptions(const DBOptions& db_options, const TableFactory& factory,
                        const PrintContext& context, std::string* text) {
  assert(text != nullptr);
  const BareTableFormat bare = BareFormatOfFactory(&factory);
  const BlockBasedTableOptions* table = BlockBasedOptionsOf(&factory);
  if (WriterOf(factory) != &factory || table == nullptr) {
    text->append("  \n");
  } else if (bare.kind == BareTableKind::kPlain) {
    AppendSection(PlainTableOptionTable(), context, &bare.plain, text);
  } else if (bare.kind == BareTableKind::kCuckoo) {
    AppendSection(CuckooTableOptionTable(), context, &bare.cuckoo, text);
  } else {
    // The section must agree with what the tables of this database contain.
    const BlockBasedTableOptions written = WrittenTableOptions(db_options, *table);
    AppendSection(BlockBasedOptionTable(), context, &written, text);
  }
}

// The options of the table format that has this name; none: it is the program's own, or adaptive.
OptionTable TableRowsOf(std::string_view factory_name) {
  if (factory_name == TableFactory::kBlockBasedTableName()) return BlockBasedOptionTable();
  if (factory_name == TableFactory::kPlainTableName()) return PlainTableOptionTable();
  if (factory_name == TableFactory::kCuckooTableName()) return CuckooTableOptionTable();
  return {};
}

// Prints the [CFOptions] and [TableOptions] sections of one family.
void AppendFamily(const DBOptions& db_options, const FamilyOptionsInFile& family,
                  PrintContext context, std::string* text) {
  assert(text != nullptr);
  const std::string quoted = StrCat("\"", EscapeOptionString(family.name), "\"]\n");
  // The options of the table format have a section of their own.
  context.config.depth = ConfigOptions::kDepthDefault;
  ColumnFamilyOptions options = family.options;
  const std::shared_ptr<TableFactory> factory = options.table_factory;
  StrAppend(text, "\n[CFOptions ", quoted);
  // 7.8 writes no line for an empty list.
  const bool has_levels =
      context.newest > Since::kRocksDb78 || !options.compression_per_level.empty();
  for (const OptionRow& row : ColumnFamilyOptionTable()) {
    if (row.print == nullptr || row.facts.since > context.newest) continue;
    if (!has_levels && row.name() == std::string_view("compression_per_level")) continue;
    StrAppend(text, "  ", row.name(), "=");
    if (row.name() == std::string_view("table_factory")) {
      text->append(factory == nullptr ? "nullptr" : factory->Name());
    } else {
      row.Print(context, &options, text);
    }
    text->push_back('\n');
  }
  text->append("  \n");
  // Without a factory there is no section of table options.
  if (factory == nullptr) return;
  StrAppend(text, "[", kTableSectionPrefix, factory->Name(), " ", quoted);
  AppendTableOptions(db_options, *factory, context, text);
}

// ---- reading

// The kind of section to which the present line belongs.
enum class Section { kNone, kVersion, kDb, kFamily, kTable };

// Parses up to `max_parts` dotted numbers into a ROCKSDB_MAKE_VERSION_INT. -1 if the text is
// anything else.
int ParseVersion(std::string_view text, size_t max_parts) {
  assert(max_parts >= 1);
  assert(max_parts <= 3);
  int parts[3] = {0, 0, 0};
  // Numbers are limited, so that the result fits.
  const char* p = text.data();
  const char* end = p + text.size();
  for (size_t i = 0; i < max_parts; ++i) {
    const auto [stop, error] = std::from_chars(p, end, parts[i]);
    if (error != std::errc() || parts[i] < 0 || parts[i] > 999) return -1;
    if (stop == end) return ROCKSDB_MAKE_VERSION_INT(parts[0], parts[1], parts[2]);
    if (*stop != '.') return -1;
    p = stop + 1;
  }
  return -1;
}

// The line without an unescaped '#' and everything after it, trimmed.
std::string_view WithoutComment(std::string_view line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '#') {
      line = line.substr(0, i);
    }
  }
  return TrimSpaces(line);
}

// Removes the first line from the text and returns it without its end.
std::string_view TakeLine(std::string_view* text) {
  const size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  *text = end == std::string_view::npos ? std::string_view() : text->substr(end + 1);
  return line;
}

bool IsHeader(std::string_view line) {
  return !line.empty() && line.front() == '[' && line.back() == ']';
}

// What stands between the brackets that open a section.
struct SectionHeader {
  std::string_view title;
  std::string family;  // empty for sections of the whole database
};

// `line` must be a header.
Result<SectionHeader> ParseHeader(std::string_view line) {
  assert(IsHeader(line));
  const std::string_view text = line.substr(1, line.size() - 2);
  const size_t open = text.find('"');
  const size_t close = text.rfind('"');
  SectionHeader header{.title = TrimSpaces(text.substr(0, open)), .family = ""};
  if (open == std::string_view::npos) return header;
  if (close == open) return Status::InvalidArgument("an unpaired quote", Slice(text));
  header.family = UnescapeOptionString(text.substr(open + 1, close - open - 1));
  return header;
}

// Reads a text line by line. Members of contents_ are filled in as sections are read.
class OptionsTextParser {
 public:
  explicit OptionsTextParser(const ConfigOptions& config) : config_(config) {
    // Unknown names are errors until the version of the file shows that it is newer.
    config_.ignore_unknown_options = false;
    tolerates_newer_ = config.ignore_unknown_options;
  }

  // Returns the first error, with the number of its line.
  Status Parse(std::string_view text) {
    while (!text.empty()) {
      ++line_number_;
      Status status = ParseLine(TakeLine(&text));
      if (!status.ok()) return AtLine(status);
    }
    // The end of the text ends the last section.
    RETURN_IF_ERROR(CloseTable());
    if (!has_db_section_) return Missing("[DBOptions]");
    if (contents_.families.empty()) return Missing("[CFOptions \"default\"]");
    return Status::OK();
  }

  OptionsFileContents TakeContents() { return std::move(contents_); }

 private:
  // A line is a comment, the beginning of a section, or an option of the current section.
  Status ParseLine(std::string_view raw) {
    const std::string_view trimmed = TrimSpaces(raw);
    if (trimmed.substr(0, kCompatibleComment.size()) == kCompatibleComment) {
      contents_.db_options.write_compatible_with = trimmed.substr(kCompatibleComment.size());
      return Status::OK();
    }
    const std::string_view line = WithoutComment(raw);
    if (line.empty()) return Status::OK();
    if (IsHeader(line)) {
      seen_names_.clear();
      RETURN_IF_ERROR(CloseTable());
      return OpenSection(line);
    }
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      return Status::InvalidArgument("expected name=value or [section]", Slice(line));
    }
    NameValue option(TrimSpaces(line.substr(0, equals)), TrimSpaces(line.substr(equals + 1)));
    // RocksDB ignores repetitions as well.
    if (!seen_names_.insert(option.first).second) return Status::OK();  // the first value counts
    return ApplyOption(option);
  }

  Status OpenSection(std::string_view line) {
    ASSIGN_OR_RETURN(const SectionHeader header, ParseHeader(line));
    const std::string_view title = header.title;
    if (title == "Version") return OpenVersion();
    if (title == "DBOptions") return OpenDb();
    if (title == "CFOptions") return OpenFamily(header.family);
    if (title.starts_with(kTableSectionPrefix)) {
      return OpenTable(title.substr(kTableSectionPrefix.size()), header.family);
    }
    return Status::InvalidArgument("unknown section", Slice(title));
  }

  // Sections are open until the next one begins.
  Status OpenVersion() {
    if (has_version_section_) return Status::InvalidArgument("a second [Version] section");
    has_version_section_ = true;
    section_ = Section::kVersion;
    return Status::OK();
  }

  Status OpenDb() {
    if (has_db_section_) return Status::InvalidArgument("a second [DBOptions] section");
    has_db_section_ = true;
    section_ = Section::kDb;
    return Status::OK();
  }

  // The default family must come first, as in every file that RocksDB writes.
  Status OpenFamily(const std::string& name) {
    if (contents_.families.empty() && name != "default") {
      return Status::InvalidArgument("the first [CFOptions] must be that of \"default\", not",
                                     name);
    }
    if (FindFamily(name) != nullptr) {
      return Status::InvalidArgument("a second [CFOptions] section of", name);
    }
    contents_.families.push_back({name, ColumnFamilyOptions()});
    family_ = &contents_.families.back();
    section_ = Section::kFamily;
    assert(FindFamily(name) == family_);
    return Status::OK();
  }

  // Creates the table factory, so that options can be set on it when the section ends.
  Status OpenTable(std::string_view factory_name, const std::string& family_name) {
    family_ = FindFamily(family_name);
    if (family_ == nullptr) {
      return Status::InvalidArgument("[TableOptions] of a family without [CFOptions]", family_name);
    }
    section_ = Section::kTable;
    std::shared_ptr<TableFactory>& factory = family_->options.table_factory;
    is_known_table_ = !TableRowsOf(factory_name).empty();
    if (is_known_table_) {
      return TableFactory::CreateFromString(config_, std::string(factory_name), &factory);
    }
    if (factory != nullptr && factory_name != factory->Name()) {
      factory.reset();  // an unknown format
    }
    return Status::OK();
  }

  // Sets an option of the current section.
  Status ApplyOption(const NameValue& option) {
    switch (section_) {
      case Section::kNone:
        return Status::InvalidArgument("an option before the first section", option.first);
      case Section::kVersion: return ApplyVersion(option);
      case Section::kDb:
        contents_.db_texts[option.first] = option.second;
        return SetOption(DbOptionTable(), config_, option, &contents_.db_options);
      case Section::kFamily:
        assert(family_ != nullptr);
        family_->texts[option.first] = option.second;
        return SetOption(ColumnFamilyOptionTable(), config_, option, &family_->options);
      case Section::kTable: break;
    }
    if (!is_known_table_) return Status::OK();
    table_texts_.insert(option);
    family_->table_texts.insert(option);
    // The line is parsed by itself first, so that an error names it.
    std::shared_ptr<TableFactory> unused;
    RETURN_IF_ERROR(
        TableFactory::CreateFromString(config_, family_->options.table_factory->Name(), &unused));
    return unused->ConfigureFromMap(config_, {option});
  }

  // All options of a table are set together, because their validity depends on each other.
  Status CloseTable() {
    if (table_texts_.empty()) return Status::OK();
    assert(section_ == Section::kTable);
    assert(family_ != nullptr);
    assert(family_->options.table_factory != nullptr);
    // Emptied even after an error, because the section is over.
    const auto texts = std::exchange(table_texts_, {});
    return family_->options.table_factory->ConfigureFromMap(config_, texts);
  }

  // The version of the file decides whether unknown names are skipped.
  Status ApplyVersion(const NameValue& option) {
    if (option.first == "rocksdb_version") {
      contents_.version = ParseVersion(option.second, 3);
      if (contents_.version < 0)
        return Status::InvalidArgument("bad rocksdb_version", option.second);
      // A file of a newer version may have names that we cannot know.
      config_.ignore_unknown_options = tolerates_newer_ && contents_.version > ROCKSDB_VERSION_INT;
    } else if (option.first == "options_file_version") {
      const int version = ParseVersion(option.second, 2);
      if (version < ROCKSDB_MAKE_VERSION_INT(1, 0, 0)) {
        return Status::InvalidArgument("bad options_file_version", option.second);
      }
    } else {
      return Status::InvalidArgument("unknown name in [Version]", option.first);
    }
    return Status::OK();
  }

  // Null if the file has no such family.
  FamilyOptionsInFile* FindFamily(const std::string& name) {
    for (FamilyOptionsInFile& family : contents_.families) {
      if (family.name == name) return &family;
    }
    return nullptr;
  }

  // Adds the line number to an error.
  Status AtLine(const Status& status) const {
    assert(!status.ok());
    assert(line_number_ > 0);
    return Status::CopyAppendMessage(status, "; options text, line ", std::to_string(line_number_));
  }
  static Status Missing(const char* section) {
    return Status::InvalidArgument("options text: no such section", section);
  }

  ConfigOptions config_;
  bool tolerates_newer_;  // whether unknown names in a file of a newer version are skipped
  OptionsFileContents contents_;
  Section section_ = Section::kNone;       // the section of the next line
  FamilyOptionsInFile* family_ = nullptr;  // points into contents_; set in kFamily and kTable
  bool is_known_table_ = false;
  std::unordered_map<std::string, std::string> table_texts_;  // of kTable; applied at its end
  bool has_version_section_ = false;
  bool has_db_section_ = false;
  std::unordered_set<std::string> seen_names_;  // in the current section
  size_t line_number_ = 0;
};

}  // namespace

// The file begins with the version, because a reader decides by it which names it may skip.
std::string WriteOptionsText(const OptionsFileContents& contents) {
  PrintContext context;
  std::string text =
      "# Options of an Ashlar database, in the format of RocksDB's OPTIONS files.\n"
      "# Written after every open and every change; the file with the greatest number counts.\n";
  const std::string& compatible = contents.db_options.write_compatible_with;
  if (!compatible.empty()) StrAppend(&text, kCompatibleComment, compatible, "\n");
  std::string version = GetRocksVersionAsString();
  // Readers of 7.8 check this number.
  if (WritesForRocksDb78(contents.db_options)) {
    context.newest = Since::kRocksDb78;
    version = "7.8.3";
  }
  StrAppend(&text, "\n[Version]\n  rocksdb_version=", version, "\n  options_file_version=1.1\n");
  text.append("\n[DBOptions]\n");
  AppendSection(DbOptionTable(), context, &contents.db_options, &text);
  for (const FamilyOptionsInFile& family : contents.families) {
    AppendFamily(contents.db_options, family, context, &text);
  }
  return text;
}

// Reads only the one line, so it also works for files that cannot be parsed otherwise.
int VersionOfOptionsText(std::string_view text) {
  constexpr std::string_view kKey = "rocksdb_version=";
  while (!text.empty()) {
    const std::string_view line = WithoutComment(TakeLine(&text));
    if (line.substr(0, kKey.size()) == kKey) {
      return std::max(0, ParseVersion(TrimSpaces(line.substr(kKey.size())), 3));
    }
  }
  return 0;
}

// Headers that cannot be parsed, and what follows them, are kept: whoever reads the copy gets the
// error that a reader of the original gets.
std::string OptionsTextOfCopy(std::string_view text,
                              const std::function<bool(const std::string&)>& has_family) {
  std::string copy;
  bool is_wanted = true;  // the section of the present line
  bool is_db = false;     // it is [DBOptions]
  while (!text.empty()) {
    const std::string_view raw = TakeLine(&text);
    const std::string_view line = WithoutComment(raw);
    if (IsHeader(line)) {
      auto header = ParseHeader(line);
      const std::string_view title = header.ok() ? header->title : std::string_view();
      const bool is_of_family = title == "CFOptions" || title.starts_with(kTableSectionPrefix);
      is_wanted = !is_of_family || has_family(header->family);
      is_db = title == "DBOptions";
    }
    if (!is_wanted) continue;
    const std::string_view name = TrimSpaces(line.substr(0, line.find('=')));
    if (is_db && (name == "wal_dir" || name == "db_log_dir")) {
      StrAppend(&copy, "  ", name, "=\n");
    } else {
      StrAppend(&copy, raw, "\n");
    }
  }
  return copy;
}

// The version decides which unknown names are errors, so it must come before the other sections.
Result<OptionsFileContents> ParseOptionsText(const ConfigOptions& config, std::string_view text) {
  OptionsTextParser parser(config);
  Status status = parser.Parse(text);
  if (!status.ok()) return status;
  return parser.TakeContents();
}

}  // namespace ashlar
