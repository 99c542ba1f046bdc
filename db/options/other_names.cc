// SPDX-License-Identifier: Apache-2.0
//
// Each parser changes its options only if the whole text is good.
#include "db/options/other_names.h"

#include <cassert>

#include "ashlar/env.h"
#include "ashlar/memtablerep.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "ashlar/table_properties.h"
#include "db/options/option_values.h"
#include "util/result.h"

namespace ashlar {
namespace {

// Options may be given to a factory in braces; a text without `=` names nothing to set.
Status ConfigureFactory(const ConfigOptions& config, std::string_view text,
                        std::unique_ptr<TableFactory> made,
                        std::shared_ptr<TableFactory>* factory) {
  assert(made != nullptr);
  const std::string options = StripBraces(text);
  if (options.find('=') != std::string::npos) {
    RETURN_IF_ERROR(made->ConfigureFromString(config, options));
  }
  *factory = std::move(made);
  return Status::OK();
}

}  // namespace

Status ParseEnv(const ConfigOptions& config, std::string_view text, void* options) {
  auto* db = static_cast<DBOptions*>(options);
  std::string name;
  std::unordered_map<std::string, std::string> unused;
  RETURN_IF_ERROR(
      Configurable::GetOptionsMap(std::string(text), Env::kDefaultName(), &name, &unused));
  if (name.empty()) return Status::OK();  // a database always has one
  const Status status = Env::CreateFromString(config, name, &db->env);
  return status.IsNotSupported() ? UnknownObject(config, Env::Type(), text) : status;
}

Status ParseListeners(const ConfigOptions& /*config*/, std::string_view text, void* /*options*/) {
  std::vector<std::string> names;
  return SplitList(text, ':', &names);
}

Status ParseStatistics(const ConfigOptions& config, std::string_view text, void* options) {
  auto* db = static_cast<DBOptions*>(options);
  std::string name;
  std::unordered_map<std::string, std::string> members;
  RETURN_IF_ERROR(
      Configurable::GetOptionsMap(std::string(text), "BasicStatistics", &name, &members));
  std::shared_ptr<Statistics> made = db->statistics;
  if (name.empty()) name = "nullptr";
  const Status status = Statistics::CreateFromString(config, name, &made);
  if (status.IsNotSupported()) return UnknownObject(config, Statistics::Type(), text);
  RETURN_IF_ERROR(status);
  if (made != nullptr && !members.empty()) {
    RETURN_IF_ERROR(made->ConfigureFromMap(config, members));
  }
  db->statistics = std::move(made);
  return Status::OK();
}

Status ParseRateLimit(const ConfigOptions& config, std::string_view text, void* options) {
  int64_t bytes_per_second = 0;
  RETURN_IF_ERROR(ParseValue(config, text, &bytes_per_second));
  if (bytes_per_second <= 0) return BadOptionValue("a number above 0", text);
  static_cast<DBOptions*>(options)->rate_limiter.reset(NewGenericRateLimiter(bytes_per_second));
  return Status::OK();
}

Status ParseBlockBasedTable(const ConfigOptions& config, std::string_view text, void* options) {
  std::shared_ptr<TableFactory>& factory =
      static_cast<ColumnFamilyOptions*>(options)->table_factory;
  std::unique_ptr<TableFactory> made;
  if (factory != nullptr && factory->IsInstanceOf(TableFactory::kBlockBasedTableName())) {
    made = factory->Clone();
  } else {
    made.reset(NewBlockBasedTableFactory());
  }
  return ConfigureFactory(config, text, std::move(made), &factory);
}

Status ParsePlainTable(const ConfigOptions& config, std::string_view text, void* options) {
  std::unique_ptr<TableFactory> made(NewPlainTableFactory());
  return ConfigureFactory(config, text, std::move(made),
                          &static_cast<ColumnFamilyOptions*>(options)->table_factory);
}

Status ParseMemtable(const ConfigOptions& config, std::string_view text, void* options) {
  return ParseValue(config, text, &static_cast<ColumnFamilyOptions*>(options)->memtable_factory);
}

Status ParseCollectors(const ConfigOptions& config, std::string_view text, void* options) {
  std::vector<std::string> items;
  RETURN_IF_ERROR(SplitList(text, ':', &items));
  // One object with options looks like a list of one: its braces are those of the list.
  if (items.size() > 1 && StripBraces(text).find('=') < StripBraces(text).find_first_of(":{")) {
    items = {std::string(text)};
  }
  std::vector<std::shared_ptr<TablePropertiesCollectorFactory>> made;
  for (const std::string& item : items) {
    std::shared_ptr<TablePropertiesCollectorFactory> collector;
    RETURN_IF_ERROR(ParseValue(config, item, &collector));
    if (collector != nullptr) made.push_back(std::move(collector));
  }
  static_cast<ColumnFamilyOptions*>(options)->table_properties_collector_factories =
      std::move(made);
  return Status::OK();
}

}  // namespace ashlar
