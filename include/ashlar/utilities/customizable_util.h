// SPDX-License-Identifier: Apache-2.0
//
// For CreateFromString() of a program's own Customizable classes: make an object from a text,
// "name" or "{id=name;option=value}", by the factories of ConfigOptions::registry.
//
// A text without a name, or "nullptr", gives nullptr. A name that no factory matches is
// NotSupported, or leaves *result unchanged and is OK with
// ConfigOptions::ignore_unsupported_options. Other errors are those of the factory and of setting
// the options; *result is unchanged then. Threads: any.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "ashlar/convenience.h"
#include "ashlar/customizable.h"
#include "ashlar/status.h"
#include "ashlar/utilities/object_registry.h"

namespace ashlar {

using OptionTexts = std::unordered_map<std::string, std::string>;

// Makes the object with `make`, which fills a pointer, and sets its options.
template <typename Pointer, typename Make>
Status NewCustomizedObject(const ConfigOptions& config, const OptionTexts& options, Pointer* result,
                           Make&& make) {
  Pointer made{};
  Status status = config.registry == nullptr ? Status::NotSupported("no registry") : make(&made);
  if (status.IsNotSupported() && config.ignore_unsupported_options) return Status::OK();
  if (status.ok()) status = Customizable::ConfigureNewObject(config, &*made, options);
  if (status.ok()) *result = std::move(made);
  return status;
}

template <typename T>
Status NewSharedObject(const ConfigOptions& config, const std::string& id,
                       const OptionTexts& options, std::shared_ptr<T>* result) {
  if (id.empty()) {
    result->reset();
    return Status::OK();
  }
  return NewCustomizedObject(config, options, result, [&](std::shared_ptr<T>* made) {
    return config.registry->NewSharedObject<T>(id, made);
  });
}
template <typename T>
Status NewUniqueObject(const ConfigOptions& config, const std::string& id,
                       const OptionTexts& options, std::unique_ptr<T>* result) {
  if (id.empty()) {
    result->reset();
    return Status::OK();
  }
  return NewCustomizedObject(config, options, result, [&](std::unique_ptr<T>* made) {
    return config.registry->NewUniqueObject<T>(id, made);
  });
}
template <typename T>
Status NewStaticObject(const ConfigOptions& config, const std::string& id,
                       const OptionTexts& options, T** result) {
  if (id.empty()) {
    *result = nullptr;
    return Status::OK();
  }
  return NewCustomizedObject(config, options, result, [&](T** made) {
    return config.registry->NewStaticObject<T>(id, made);
  });
}

// The same from the text.
template <typename T>
Status LoadSharedObject(const ConfigOptions& config, const std::string& value,
                        std::shared_ptr<T>* result) {
  std::string id;
  OptionTexts options;
  Status status = Customizable::GetOptionsMap(config, result->get(), value, &id, &options);
  return status.ok() ? NewSharedObject(config, id, options, result) : status;
}
template <typename T>
Status LoadUniqueObject(const ConfigOptions& config, const std::string& value,
                        std::unique_ptr<T>* result) {
  std::string id;
  OptionTexts options;
  Status status = Customizable::GetOptionsMap(config, result->get(), value, &id, &options);
  return status.ok() ? NewUniqueObject(config, id, options, result) : status;
}
template <typename T>
Status LoadStaticObject(const ConfigOptions& config, const std::string& value, T** result) {
  std::string id;
  OptionTexts options;
  Status status = Customizable::GetOptionsMap(config, *result, value, &id, &options);
  return status.ok() ? NewStaticObject(config, id, options, result) : status;
}
// Makes or finds a managed object of the registry; only a new one gets the options.
template <typename T>
Status LoadManagedObject(const ConfigOptions& config, const std::string& value,
                         std::shared_ptr<T>* result) {
  std::string id;
  OptionTexts options;
  Status status = Customizable::GetOptionsMap(config, nullptr, value, &id, &options);
  if (!status.ok()) return status;
  if (id.empty()) {
    result->reset();
    return status;
  }
  if (config.registry == nullptr) return Status::NotSupported("no registry");
  status = config.registry->GetOrCreateManagedObject<T>(id, result, [&](T* object) {
    return Customizable::ConfigureNewObject(config, object, options);
  });
  return status.IsNotSupported() && config.ignore_unsupported_options ? Status::OK() : status;
}

}  // namespace ashlar
