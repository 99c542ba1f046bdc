// SPDX-License-Identifier: Apache-2.0
//
// Objects of classes that the program has registered: the first step of each CreateFromString().
// Threads: as for ObjectRegistry.
#pragma once

#include <cassert>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "ashlar/convenience.h"
#include "ashlar/utilities/object_registry.h"
#include "util/result.h"

namespace ashlar {

// Whether a factory of config.registry matches the name of the text. Sets *id and *options to the
// name and the options of the text, also if none matches.
template <typename T>
bool IsRegistered(const ConfigOptions& config, const std::string& text, std::string* id,
                  std::unordered_map<std::string, std::string>* options) {
  if (config.registry == nullptr || text.empty()) return false;
  return Configurable::GetOptionsMap(text, "", id, options).ok() && !id->empty() &&
         config.registry->HasFactory<T>(*id);
}

// Sets the options of a new object. An object of a const type is not shared yet, so that it may be
// changed.
template <typename T>
Status SetTextOptions(const ConfigOptions& config,
                      const std::unordered_map<std::string, std::string>& options, T* object) {
  using Mutable = std::remove_const_t<T>;
  assert(object != nullptr);
  if (options.empty() && !config.invoke_prepare_options) return Status::OK();
  return const_cast<Mutable*>(object)->ConfigureFromMap(config, options);
}

// Makes an object by the factory that matches the name of the text, with the options of the text.
// False if no factory matches; then *status and *result are unchanged. *result is changed only on
// success. Pointer: std::shared_ptr or std::unique_ptr of T.
template <typename T, typename Pointer>
bool MakeRegistered(const ConfigOptions& config, const std::string& text, Pointer* result,
                    Status* status) {
  std::string id;
  std::unordered_map<std::string, std::string> options;
  if (!IsRegistered<T>(config, text, &id, &options)) return false;
  std::unique_ptr<T> made;
  *status = config.registry->NewUniqueObject<T>(id, &made);
  if (status->ok()) *status = SetTextOptions(config, options, made.get());
  if (status->ok()) *result = std::move(made);
  return true;
}

// The same for objects that live as long as the process; the factory keeps them.
template <typename T>
bool FindRegistered(const ConfigOptions& config, const std::string& text, T** result,
                    Status* status) {
  std::string id;
  std::unordered_map<std::string, std::string> options;
  if (!IsRegistered<T>(config, text, &id, &options)) return false;
  T* found = nullptr;
  *status = config.registry->NewStaticObject<T>(id, &found);
  if (status->ok()) *status = SetTextOptions(config, options, found);
  if (status->ok()) *result = found;
  return true;
}

}  // namespace ashlar
