// SPDX-License-Identifier: Apache-2.0
//
// Each parser changes its option only if the whole text is valid.
#include "db/options/other_names.h"

#include <cassert>

#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/memtablerep.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "ashlar/table_properties.h"
#include "db/options/option_values.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Sets options of a factory, which may be given in braces. A text without `=` sets nothing.
Status ConfigureFactory(const ConfigOptions& config, std::string_view text,
                        std::unique_ptr<TableFactory> made,
                        std::shared_ptr<TableFactory>* factory) {
  assert(factory != nullptr);
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
  assert(options != nullptr);
  auto* db = static_cast<DBOptions*>(options);
  std::string name;
  std::unordered_map<std::string, std::string> unused;
  RETURN_IF_ERROR(
      Configurable::GetOptionsMap(std::string(text), Env::kDefaultName(), &name, &unused));
  if (name.empty()) return Status::OK();  // a database always has an Env, so it is kept
  const Status status = Env::CreateFromString(config, name, &db->env);
  return status.IsNotSupported() ? UnknownObject(config, Env::Type(), text) : status;
}

// All listeners are made before any of them is set, so an error leaves the list as it is.
Status ParseListeners(const ConfigOptions& config, std::string_view text, void* options) {
  assert(options != nullptr);
  std::vector<std::string> names;
  RETURN_IF_ERROR(SplitList(text, ':', &names));
  std::vector<std::shared_ptr<EventListener>> made;
  for (const std::string& name : names) {
    std::shared_ptr<EventListener> listener;
    const Status status = EventListener::CreateFromString(config, name, &listener);
    // Unknown names are skipped; other errors end the parsing.
    if (!status.IsNotSupported()) RETURN_IF_ERROR(status);
    if (listener != nullptr) made.push_back(std::move(listener));
  }
  if (!made.empty()) static_cast<DBOptions*>(options)->listeners = std::move(made);
  return Status::OK();
}

Status ParseStatistics(const ConfigOptions& config, std::string_view text, void* options) {
  assert(options != nullptr);
  auto* db = static_cast<DBOptions*>(options);
  std::string name;
  std::unordered_map<std::string, std::string> members;
  RETURN_IF_ERROR(
      Configurable::GetOptionsMap(std::string(text), "BasicStatistics", &name, &members));
  // Kept if the name is unknown and the configuration ignores that.
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

// A number alone makes a rate limiter of this many bytes a second.
Status ParseRateLimit(const ConfigOptions& config, std::string_view text, void* options) {
  assert(options != nullptr);
  int64_t bytes_per_second = 0;
  RETURN_IF_ERROR(ParseValue(config, text, &bytes_per_second));
  if (bytes_per_second <= 0) return BadOptionValue("a number above 0", text);
  static_cast<DBOptions*>(options)->rate_limiter.reset(NewGenericRateLimiter(bytes_per_second));
  return Status::OK();
}

Status ParseBlockBasedTable(const ConfigOptions& config, std::string_view text, void* options) {
  assert(options != nullptr);
  std::shared_ptr<TableFactory>& factory =
      static_cast<ColumnFamilyOptions*>(options)->table_factory;
  std::unique_ptr<TableFactory> made;
  if (factory != nullptr && factory->IsInstanceOf(TableFactory::kBlockBasedTableName())) {
    // A clone, because the present factory may be shared.
    made = factory->Clone();
  } else if (factory != nullptr && config.mutable_options_only) {
    // On an open database, the kind of table factory cannot be changed.
    return BadOptionValue(StrCat("another option of ", factory->Name()), text);
  } else {
    made.reset(NewBlockBasedTableFactory());
  }
  return ConfigureFactory(config, text, std::move(made), &factory);
}

Status ParsePlainTable(const ConfigOptions& config, std::string_view text, void* options) {
  assert(options != nullptr);
  std::unique_ptr<TableFactory> made(NewPlainTableFactory());
  return ConfigureFactory(config, text, std::move(made),
                          &static_cast<ColumnFamilyOptions*>(options)->table_factory);
}

Status ParseMemtable(const ConfigOptions& config, std::string_view text, void* options) {
  assert(options != nullptr);
  return ParseValue(config, text, &static_cast<ColumnFamilyOptions*>(options)->memtable_factory);
}

Status ParseCollectors(const ConfigOptions& config, std::string_view text, void* options) {
  assert(options != nullptr);
  std::vector<std::string> items;
  RETURN_IF_ERROR(SplitList(text, ':', &items));
  // One object with options looks like a list with one element: the braces are those of the list.
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
