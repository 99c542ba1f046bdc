// SPDX-License-Identifier: Apache-2.0
//
// The functions of utilities/options_util.h: they find and read OPTIONS files, and compare them
// with the options with which a program is about to open a database.
#include "ashlar/utilities/options_util.h"

#include <cassert>

#include "ashlar/file_system.h"
#include "ashlar/merge_operator.h"
#include "ashlar/table.h"
#include "db/options/bare_factories.h"
#include "db/options/option_table.h"
#include "db/options/options_check.h"
#include "db/options/options_file.h"
#include "db/options/table_factory.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Null means the default Env.
Env* EnvOf(const ConfigOptions& config) {
  return config.env != nullptr ? config.env : Env::Default();
}

// The settings of the older forms.
ConfigOptions ConfigOf(Env* env, bool ignore_unknown_options) {
  ConfigOptions config;
  config.env = env;
  config.ignore_unknown_options = ignore_unknown_options;
  return config;
}

// Reads and parses the file. The message of a parse error begins with the path.
Result<OptionsFileContents> ReadOptionsFile(const ConfigOptions& config, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text,
                   ReadWholeFile(EnvOf(config)->GetFileSystem().get(), path));
  auto parsed = ParseOptionsText(config, text);
  if (parsed.ok()) return parsed;
  return Status::CopyAppendMessage(parsed.status(), ", file ", path);
}

// Gives every family with a block-based factory the caller's block cache.
void ShareCache(const std::shared_ptr<Cache>& cache, ColumnFamilyOptions* options) {
  assert(options != nullptr);
  const TableFactory* const factory = options->table_factory.get();
  if (factory == nullptr || !factory->IsInstanceOf(TableFactory::kBlockBasedTableName())) return;
  const BlockBasedTableOptions* table = BlockBasedOptionsOf(factory);
  // A family that asks for no cache keeps its wish.
  if (table == nullptr || table->no_block_cache) return;
  BlockBasedTableOptions changed = *table;
  // A factory may be shared with other options, so a changed copy is made instead of changing it.
  changed.block_cache = cache;
  options->table_factory.reset(NewBlockBasedTableFactory(changed));
}

// ---- comparing

// Names the option and both values.
Status Differs(const std::string& what, const std::string& in_file, const std::string& given) {
  return Status::InvalidArgument(
      StrCat("options differ: ", what, " is '", in_file, "' in the file, '", given, "' here"));
}

// The name of an object for the comparison.
std::string NameOf(const Customizable* object) {
  return object == nullptr ? "nullptr" : object->Name();
}

// Compares the objects that must be the same, because otherwise data would be interpreted wrongly.
Status CompareObjects(const FamilyOptionsInFile& in_file, const ColumnFamilyOptions& given) {
  // An option that is not in the file counts as equal.
  const auto text_of = [&](const char* option, const std::string& absent) {
    // `absent` is the value that counts if the file does not have the option.
    const auto found = in_file.texts.find(option);
    return found == in_file.texts.end() ? absent : found->second;
  };
  const std::string comparator = NameOf(given.comparator);
  if (text_of("comparator", comparator) != comparator) {
    return Differs("comparator", text_of("comparator", ""), comparator);
  }
  // A merge operator may be added to a family that has none.
  std::string merge;
  std::unordered_map<std::string, std::string> merge_options;
  RETURN_IF_ERROR(Configurable::GetOptionsMap(text_of("merge_operator", "nullptr"), "", &merge,
                                              &merge_options));
  // The other way round it is an error: operands in the files would have nobody to merge them.
  if (!merge.empty() && merge != NameOf(given.merge_operator.get())) {
    return Differs("merge_operator", merge, NameOf(given.merge_operator.get()));
  }
  const TableFactory* const given_factory = given.table_factory.get();
  const std::string factory =
      given_factory == nullptr ? TableFactory::kBlockBasedTableName() : NameOf(given_factory);
  if (text_of("table_factory", factory) != factory) {
    return Differs("table_factory", text_of("table_factory", ""), factory);
  }
  return Status::OK();
}

// Options that are compared by CompareObjects(), or that are left to the program.
bool IsObject(std::string_view option) {
  return option == "comparator" || option == "merge_operator" || option == "compaction_filter" ||
         option == "compaction_filter_factory" || option == "table_factory" ||
         option == "wal_filter" || option == "create_if_missing" || option == "error_if_exists" ||
         option == "create_missing_column_families";
}

// One section of an OPTIONS file.
struct SectionInFile {
  OptionTable table;
  const void* options;
  const std::unordered_map<std::string, std::string>& texts;
};

// An object of the program's own cannot be created from the text of a file. It counts as the same
// if it is printed as that text. Values that a file cannot express are not compared.
Status CompareAll(const PrintContext& context, const SectionInFile& section, const void* given) {
  assert(given != nullptr && section.options != nullptr);
  PrintContext as_written = context;
  // The file was printed with the default settings, so the comparison with its raw text uses these
  // too.
  as_written.config = ConfigOptions();
  for (const OptionRow& row : section.table) {
    // An option that has no text cannot be compared. An option that is newer than the release for
    // which the file was written is not in the file.
    if (row.print == nullptr || row.facts.since > context.newest || IsObject(row.name())) continue;
    // Both are printed with the settings of the caller, so that equal values give equal texts.
    std::string text_in_file, text_given;
    row.Print(context, section.options, &text_in_file);
    row.Print(context, given, &text_given);
    const auto raw = section.texts.find(row.name());
    const bool is_in_file = raw != section.texts.end() && !raw->second.empty();
    const bool names_object = is_in_file && raw->second != "nullptr";
    if (text_in_file == text_given && !(names_object && text_given == "nullptr")) continue;
    if (!is_in_file) return Differs(row.name(), text_in_file, text_given);
    // An object that cannot be made from its text: what the program would write is compared with
    // what the file has.
    text_given.clear();
    row.Print(as_written, given, &text_given);
    if (raw->second != text_given) return Differs(row.name(), raw->second, text_given);
  }
  return Status::OK();
}

// Table options describe only new tables, because tables are read with the values they contain; so
// they are compared only if an exact match is wanted. Filters may be added to a family that has
// none.
Status CompareTables(const PrintContext& context, const OptionsFileContents& contents,
                     const FamilyOptionsInFile& in_file, const ColumnFamilyOptions& given) {
  const BlockBasedTableOptions* theirs = BlockBasedOptionsOf(in_file.options.table_factory.get());
  const BlockBasedTableOptions* ours = BlockBasedOptionsOf(given.table_factory.get());
  // The format names were compared before, so these formats are the program's own, or there is
  // none.
  if (theirs == nullptr || ours == nullptr || in_file.table_texts.empty()) return Status::OK();
  // The names are the same, so both have this format.
  const BareTableFormat in_text = BareFormatOfFactory(in_file.options.table_factory.get());
  const BareTableFormat bare = BareFormatOfFactory(given.table_factory.get());
  if (bare.is_bare()) {
    const bool is_plain = bare.kind == BareTableKind::kPlain;
    const SectionInFile section{is_plain ? PlainTableOptionTable() : CuckooTableOptionTable(),
                                is_plain ? static_cast<const void*>(&in_text.plain)
                                         : static_cast<const void*>(&in_text.cuckoo),
                                in_file.table_texts};
    const Status same = CompareAll(
        context, section,
        is_plain ? static_cast<const void*>(&bare.plain) : static_cast<const void*>(&bare.cuckoo));
    return same.ok() ? same : Status::Corruption(same.getState());
  }
  BlockBasedTableOptions written = WrittenTableOptions(contents.db_options, *ours);
  const auto filter = in_file.table_texts.find("filter_policy");
  // The file has no filter, so a filter of the program is an addition and no difference.
  if (filter == in_file.table_texts.end() || filter->second == "nullptr") {
    written.filter_policy = nullptr;
  }
  const SectionInFile section{BlockBasedOptionTable(), theirs, in_file.table_texts};
  const Status same = CompareAll(context, section, &written);
  if (same.ok()) return same;
  return Status::Corruption(same.getState());  // RocksDB's code for it
}

// Null if the program does not open the family.
const ColumnFamilyDescriptor* Find(const std::vector<ColumnFamilyDescriptor>& descriptors,
                                   const std::string& name) {
  for (const ColumnFamilyDescriptor& descriptor : descriptors) {
    if (descriptor.name == name) return &descriptor;
  }
  return nullptr;
}

}  // namespace

// The OPTIONS file with the greatest number is the one in force.
Status GetLatestOptionsFileName(const std::string& dbpath, Env* env,
                                std::string* options_file_name) {
  assert(env != nullptr);
  assert(options_file_name != nullptr);
  std::vector<std::string> children;
  RETURN_IF_ERROR(env->GetChildren(dbpath, &children));
  FileNumber newest;
  options_file_name->clear();
  for (const std::string& name : children) {
    FileNumber number;
    FileType type;
    if (!ParseFileName(name, &number, &type) || type != kOptionsFile) continue;
    // Older files may still be there: they are deleted some time after a new one is written.
    if (!options_file_name->empty() && number <= newest) continue;
    newest = number;
    *options_file_name = name;
  }
  if (!options_file_name->empty()) return Status::OK();
  return Status::NotFound(Status::kPathNotFound, StrCat(dbpath, ": no OPTIONS file"));
}

// Objects that the file only names are null in the result; the program must set them.
Status LoadOptionsFromFile(const ConfigOptions& config_options,
                           const std::string& options_file_name, DBOptions* db_options,
                           std::vector<ColumnFamilyDescriptor>* cf_descs,
                           std::shared_ptr<Cache>* cache) {
  assert(db_options != nullptr);
  assert(cf_descs != nullptr);
  ASSIGN_OR_RETURN(OptionsFileContents contents,
                   ReadOptionsFile(config_options, options_file_name));
  *db_options = contents.db_options;
  db_options->env = EnvOf(config_options);
  cf_descs->clear();
  for (FamilyOptionsInFile& family : contents.families) {
    // The default cache of each family would be one of its own, so they are replaced by the
    // caller's.
    if (cache != nullptr && *cache != nullptr) ShareCache(*cache, &family.options);
    cf_descs->emplace_back(family.name, std::move(family.options));
  }
  return Status::OK();
}

// Reads the newest OPTIONS file of the directory.
Status LoadLatestOptions(const ConfigOptions& config_options, const std::string& dbpath,
                         DBOptions* db_options, std::vector<ColumnFamilyDescriptor>* cf_descs,
                         std::shared_ptr<Cache>* cache) {
  std::string name;
  RETURN_IF_ERROR(GetLatestOptionsFileName(dbpath, EnvOf(config_options), &name));
  return LoadOptionsFromFile(config_options, StrCat(dbpath, "/", name), db_options, cf_descs,
                             cache);
}

// Compares the families one by one, and then the options of the database, if an exact match is
// wanted.
Status CheckOptionsCompatibility(const ConfigOptions& config_options, const std::string& dbpath,
                                 const DBOptions& db_options,
                                 const std::vector<ColumnFamilyDescriptor>& cf_descs) {
  if (config_options.IsCheckDisabled()) return Status::OK();
  std::string name;
  RETURN_IF_ERROR(GetLatestOptionsFileName(dbpath, EnvOf(config_options), &name));
  ASSIGN_OR_RETURN(OptionsFileContents contents,
                   ReadOptionsFile(config_options, StrCat(dbpath, "/", name)));
  // Both lists must have the same families; their order may differ.
  if (contents.families.size() != cf_descs.size()) {
    return Differs("the number of column families", StrCat(contents.families.size()),
                   StrCat(cf_descs.size()));
  }
  const bool is_exact = config_options.IsCheckEnabled(ConfigOptions::kSanityLevelExactMatch);
  PrintContext context;
  context.config = config_options;
  if (WritesForRocksDb78(contents.db_options)) context.newest = Since::kRocksDb78;
  // The file has sanitized options, so both sides are sanitized before the comparison.
  const DBOptions their_db = SanitizeDbOptions(contents.db_options);
  const DBOptions our_db = SanitizeDbOptions(db_options);
  for (const FamilyOptionsInFile& family : contents.families) {
    const ColumnFamilyDescriptor* given = Find(cf_descs, family.name);
    if (given == nullptr) {
      return Status::InvalidArgument("options differ: no such column family here", family.name);
    }
    RETURN_IF_ERROR(CompareObjects(family, given->options));
    if (!is_exact) continue;
    const auto theirs = SanitizeColumnFamilyOptions(their_db, family.options);
    const auto ours = SanitizeColumnFamilyOptions(our_db, given->options);
    RETURN_IF_ERROR(CompareAll(context, {ColumnFamilyOptionTable(), &theirs, family.texts}, &ours));
    RETURN_IF_ERROR(CompareTables(context, contents, family, ours));
  }
  if (!is_exact) return Status::OK();
  return CompareAll(context, {DbOptionTable(), &their_db, contents.db_texts}, &our_db);
}

// ---- the forms of RocksDB 7.8, without ConfigOptions

Status LoadLatestOptions(const std::string& dbpath, Env* env, DBOptions* db_options,
                         std::vector<ColumnFamilyDescriptor>* cf_descs, bool ignore_unknown_options,
                         std::shared_ptr<Cache>* cache) {
  return LoadLatestOptions(ConfigOf(env, ignore_unknown_options), dbpath, db_options, cf_descs,
                           cache);
}

Status LoadOptionsFromFile(const std::string& options_file_name, Env* env, DBOptions* db_options,
                           std::vector<ColumnFamilyDescriptor>* cf_descs,
                           bool ignore_unknown_options, std::shared_ptr<Cache>* cache) {
  return LoadOptionsFromFile(ConfigOf(env, ignore_unknown_options), options_file_name, db_options,
                             cf_descs, cache);
}

Status CheckOptionsCompatibility(const std::string& dbpath, Env* env, const DBOptions& db_options,
                                 const std::vector<ColumnFamilyDescriptor>& cf_descs,
                                 bool ignore_unknown_options) {
  ConfigOptions config = ConfigOf(env, ignore_unknown_options);
  // The older forms have no level to ask for, and compare what is necessary to read the data.
  config.sanity_level = ConfigOptions::kSanityLevelLooselyCompatible;
  return CheckOptionsCompatibility(config, dbpath, db_options, cf_descs);
}

}  // namespace ashlar
