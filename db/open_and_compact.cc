// SPDX-License-Identifier: Apache-2.0
//
// DB::OpenAndCompact() is the worker of a CompactionService in another process. It opens the
// database read-only, without its logs, with the options of its OPTIONS file and those of the
// caller, and changes none of its files.
#include <cassert>
#include <utility>

#include "ashlar/convenience.h"
#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "db/db_impl.h"
#include "db/jobs/remote/remote_compaction.h"
#include "db/jobs/remote/remote_forms.h"
#include "db/options/options_file.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "util/result.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Sets the options that an OPTIONS file cannot contain.
void Override(const CompactionServiceOptionsOverride& given, DBOptions* options) {
  assert(options != nullptr);
  options->env = given.env;
  options->file_checksum_gen_factory = given.file_checksum_gen_factory;
  options->listeners = given.listeners;
  options->statistics = given.statistics;
  options->info_log = given.info_log;
  options->sst_file_manager.reset();
  options->compaction_service.reset();
}

// Objects of the family that an OPTIONS file names but cannot contain.
void Override(const CompactionServiceOptionsOverride& given, ColumnFamilyOptions* options) {
  assert(options != nullptr);
  options->comparator = given.comparator;
  options->merge_operator = given.merge_operator;
  options->compaction_filter = given.compaction_filter;
  options->compaction_filter_factory = given.compaction_filter_factory;
  options->prefix_extractor = given.prefix_extractor;
  if (given.table_factory != nullptr) options->table_factory = given.table_factory;
  options->sst_partitioner_factory = given.sst_partitioner_factory;
  options->table_properties_collector_factories = given.table_properties_collector_factories;
}

// The options at the time of the job, for its family and for the default family, without which no
// database can be opened.
Result<OpenRequest> RequestFor(const std::string& name, const RemoteInput& input,
                               const CompactionServiceOptionsOverride& given) {
  ConfigOptions config;
  config.env = given.env;
  config.ignore_unknown_options = true;
  config.ignore_unsupported_options = true;
  OpenRequest request{.db_options = {}, .dir = name, .families = {}, .access = Access::kReadOnly};
  request.is_for_tables = true;
  const std::string path = OptionsFileName(name, input.options_file);
  std::string text;
  ASSIGN_OR_RETURN(text, ReadWholeFile(given.env->GetFileSystem().get(), path));
  OptionsFileContents contents;
  ASSIGN_OR_RETURN(contents, ParseOptionsText(config, text));
  RETURN_IF_ERROR(
      GetDBOptionsFromMap(config, contents.db_options, given.options_map, &request.db_options));
  Override(given, &request.db_options);
  // The job reads only some of the tables, so the others need not be opened.
  request.db_options.open_files_async = true;
  bool has_family = false;
  for (const FamilyOptionsInFile& family : contents.families) {
    if (family.name != input.family && family.name != kDefaultColumnFamilyName) continue;
    ColumnFamilyOptions options = family.options;
    if (family.name == input.family) {
      has_family = true;
      RETURN_IF_ERROR(
          GetColumnFamilyOptionsFromMap(config, family.options, given.options_map, &options));
      Override(given, &options);
    }
    request.families.emplace_back(family.name, options);
  }
  // The family may have been dropped since the job was handed over.
  if (!has_family) {
    return Status::InvalidArgument(
        StrCat("remote compaction: ", path, " has no family ", input.family));
  }
  return request;
}

}  // namespace

// The caller's flag stops the compaction.
Status DBImpl::CompactForService(const RemoteInput& input, const std::string& output_directory,
                                 std::atomic<bool>* canceled, RemoteResult* result) {
  return RunForService(&core_, input, output_directory, {.cancelled_by_caller = canceled}, result);
}

// The result is encoded even if the compaction has failed, so that the database learns why.
Status DB::OpenAndCompact(const OpenAndCompactOptions& options, const std::string& name,
                          const std::string& output_directory, const std::string& input,
                          std::string* output,
                          const CompactionServiceOptionsOverride& override_options) {
  assert(output != nullptr);
  output->clear();
  RemoteInput job;
  ASSIGN_OR_RETURN(job, RemoteInput::Decode(input));
  OpenRequest request;
  ASSIGN_OR_RETURN(request, RequestFor(name, job, override_options));
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;
  {
    const StopWatch watch(SystemClock::Default().get(), override_options.statistics.get(),
                          OPEN_AND_COMPACT_DB_OPEN_MICROS);
    RETURN_IF_ERROR(DBImpl::OpenChecked(std::move(request), &handles, &db));
  }
  for (ColumnFamilyHandle* handle : handles) {
    IgnoreError(db->DestroyColumnFamilyHandle(handle), "it is this call's own");
  }
  RemoteResult result;
  RETURN_IF_ERROR(static_cast<DBImpl*>(db.get())->CompactForService(job, output_directory,
                                                                    options.canceled, &result));
  *output = result.Encode();
  return result.status;
}

}  // namespace ashlar
