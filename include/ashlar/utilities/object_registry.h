// SPDX-License-Identifier: Apache-2.0
//
// Classes of a program that option texts and OPTIONS files can name: comparators, merge operators,
// filters, environments and so on. A program adds a factory for each, then reads its options:
//
//   ConfigOptions config;
//   config.registry->AddLibrary("mine")->AddFactory<MergeOperator>(
//       "CounterOperator",
//       [](const std::string&, std::unique_ptr<MergeOperator>* guard, std::string*) {
//         guard->reset(new CounterOperator);
//         return guard->get();
//       });
//   LoadLatestOptions(config, path, &db_options, &families);
//
// A ConfigOptions has a registry of its own, whose parent is ObjectRegistry::Default(). Names are
// looked up in the registry, its newest library first, then in its parent, then among the built-in
// classes, which are in no library. No code is loaded at run time.
//
// A factory gets the whole name of the text. It returns the object, and hands over its ownership
// with the guard; without the guard the object must live for ever, as comparators and compaction
// filters must. It returns nullptr and sets the message if it cannot make the object. Options of
// the text, "{id=name;option=value}", are set afterwards (Configurable::ConfigureFromMap).
//
// Threads: all functions may be called from several threads; factories are called without a lock.
#pragma once

#include <cassert>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class Logger;
class ObjectLibrary;

// Makes an object from its name; see above. T has a static function Type().
template <typename T>
using FactoryFunc =
    std::function<T*(const std::string& target, std::unique_ptr<T>* guard, std::string* message)>;
// Adds factories to a library and returns how many. The argument is that of Register().
using RegistrarFunc = std::function<int(ObjectLibrary& library, const std::string& arg)>;
template <typename T>
using ConfigureFunc = std::function<Status(T* object)>;

// A set of factories.
class ASHLAR_EXPORT ObjectLibrary {
 public:
  // The names that a factory is for: a name, and then parts that each begin with a separator.
  class ASHLAR_EXPORT PatternEntry {
   public:
    // Matches the name, and ids that Customizable::GenerateIndividualId() makes of it.
    static PatternEntry AsIndividualId(const std::string& name);

    // `optional`: the name alone matches too. Without parts it always does.
    explicit PatternEntry(const std::string& name, bool optional = true);

    // The functions below add the next part. After the separator AddSeparator() takes any text, of
    // at least one character or none, AddNumber() digits or "digits.digits", AddSuffix() nothing.
    PatternEntry& AddSuffix(const std::string& suffix);
    PatternEntry& AddSeparator(const std::string& separator, bool at_least_one = true);
    PatternEntry& AddNumber(const std::string& separator, bool is_int = true);

    // Adds another name of the same class.
    PatternEntry& AnotherName(const std::string& alt);
    PatternEntry& SetOptional(bool optional);

    bool Matches(const std::string& target) const;
    const char* Name() const { return names_.front().c_str(); }

   private:
    enum class Part : uint8_t { kSuffix, kAnything, kSomething, kInteger, kDecimal };
    bool PartsMatch(const std::string& text, size_t part) const;

    std::vector<std::string> names_;
    std::vector<std::pair<std::string, Part>> parts_;
    bool is_optional_;
  };

  explicit ObjectLibrary(const std::string& id);
  ~ObjectLibrary();
  ObjectLibrary(const ObjectLibrary&) = delete;
  ObjectLibrary& operator=(const ObjectLibrary&) = delete;

  const std::string& GetID() const { return id_; }

  // Adds a factory. If several match a name, the first one that was added is used.
  template <typename T>
  const FactoryFunc<T>& AddFactory(const std::string& name, const FactoryFunc<T>& func) {
    return AddFactory<T>(PatternEntry(name), func);
  }
  template <typename T>
  const FactoryFunc<T>& AddFactory(const PatternEntry& entry, const FactoryFunc<T>& func) {
    AddEntry(T::Type(), std::is_const_v<T>, entry, std::make_shared<FactoryFunc<T>>(func));
    return func;
  }

  // Returns the factory for a name; empty if there is none. Factories for T and const T differ.
  template <typename T>
  FactoryFunc<T> FindFactory(const std::string& target) const {
    const std::shared_ptr<void> found = FindEntry(T::Type(), std::is_const_v<T>, target);
    return found == nullptr ? FactoryFunc<T>() : *static_cast<FactoryFunc<T>*>(found.get());
  }

  // The number of factories, of all types or of one, and optionally the number of types.
  size_t GetFactoryCount(size_t* num_types) const;
  size_t GetFactoryCount(const std::string& type) const;
  // Adds the names of factories and types.
  void GetFactoryNames(const std::string& type, std::vector<std::string>* names) const;
  void GetFactoryTypes(std::unordered_set<std::string>* types) const;
  // Logs all names.
  void Dump(Logger* logger) const;

  int Register(const RegistrarFunc& registrar, const std::string& arg) {
    return registrar(*this, arg);
  }

  // The library of ObjectRegistry::Default(). Empty until the program adds to it.
  static std::shared_ptr<ObjectLibrary>& Default();

 private:
  friend class ObjectRegistry;
  struct Contents;
  // `factory` points to a FactoryFunc of the type.
  void AddEntry(const char* type, bool is_const, const PatternEntry& entry,
                std::shared_ptr<void> factory);
  std::shared_ptr<void> FindEntry(const char* type, bool is_const, const std::string& target) const;

  const std::string id_;
  const std::unique_ptr<Contents> contents_;
};

// Libraries, and shared objects by name.
class ASHLAR_EXPORT ObjectRegistry {
 public:
  // A new registry without libraries; the parent is Default() or the given one.
  static std::shared_ptr<ObjectRegistry> NewInstance();
  static std::shared_ptr<ObjectRegistry> NewInstance(const std::shared_ptr<ObjectRegistry>& parent);
  // The one registry of the process.
  static std::shared_ptr<ObjectRegistry> Default();

  explicit ObjectRegistry(const std::shared_ptr<ObjectRegistry>& parent);
  explicit ObjectRegistry(const std::shared_ptr<ObjectLibrary>& library);
  ~ObjectRegistry();
  ObjectRegistry(const ObjectRegistry&) = delete;
  ObjectRegistry& operator=(const ObjectRegistry&) = delete;

  std::shared_ptr<ObjectLibrary> AddLibrary(const std::string& id);
  void AddLibrary(const std::shared_ptr<ObjectLibrary>& library);
  void AddLibrary(const std::string& id, const RegistrarFunc& registrar, const std::string& arg);

  // These templates are compiled into the program, not exported by the library.
  //
  // Makes an object of type T. NotSupported: no factory matches the name. InvalidArgument: the
  // factory could not make it, or the ownership does not fit: unique and shared objects need a
  // guard, static ones must not have one.
  template <typename T>
  [[gnu::visibility("hidden")]] Status NewObject(const std::string& target, T** object,
                                                 std::unique_ptr<T>* guard);
  template <typename T>
  [[gnu::visibility("hidden")]] Status NewUniqueObject(const std::string& target,
                                                       std::unique_ptr<T>* result);
  template <typename T>
  [[gnu::visibility("hidden")]] Status NewSharedObject(const std::string& target,
                                                       std::shared_ptr<T>* result);
  template <typename T>
  [[gnu::visibility("hidden")]] Status NewStaticObject(const std::string& target, T** result);

  // Whether NewObject() would find a factory.
  template <typename T>
  bool HasFactory(const std::string& target) const {
    return FindFactory<T>(target) != nullptr;
  }

  // Managed objects: the registry knows them by id as long as somebody else holds them.
  // SetManagedObject() returns InvalidArgument if another object has the id. T is a Customizable.
  template <typename T>
  Status SetManagedObject(const std::shared_ptr<T>& object) {
    assert(object != nullptr);
    return SetManagedObject(object->GetId(), object);
  }
  template <typename T>
  Status SetManagedObject(const std::string& id, const std::shared_ptr<T>& object) {
    return SetManaged(T::Type(), id, std::static_pointer_cast<Customizable>(object));
  }
  // Returns nullptr if there is none here or in the parents.
  template <typename T>
  std::shared_ptr<T> GetManagedObject(const std::string& id) const {
    return std::static_pointer_cast<T>(GetManaged(T::Type(), id));
  }
  // Returns those of one class (IsInstanceOf), or all of the type.
  template <typename T>
  Status ListManagedObjects(const std::string& id, std::vector<std::shared_ptr<T>>* results) const {
    results->clear();
    for (const std::shared_ptr<Customizable>& object : ListManaged(T::Type(), id)) {
      results->push_back(std::static_pointer_cast<T>(object));
    }
    return Status::OK();
  }
  template <typename T>
  Status ListManagedObjects(std::vector<std::shared_ptr<T>>* results) const {
    return ListManagedObjects("", results);
  }
  // Returns the managed object of this id, or makes one by NewSharedObject(), which then is managed
  // unless the id is the name of its class alone. `cfunc` sets up a new object; its error is
  // returned.
  template <typename T>
  Status GetOrCreateManagedObject(const std::string& id, std::shared_ptr<T>* result,
                                  const ConfigureFunc<T>& cfunc = nullptr);

  // As for ObjectLibrary, over all libraries of this registry and its parents.
  size_t GetFactoryCount(const std::string& type) const;
  void GetFactoryNames(const std::string& type, std::vector<std::string>* names) const;
  void GetFactoryTypes(std::unordered_set<std::string>* types) const;
  void Dump(Logger* logger) const;

  // Adds a library with the factories of a plug-in that is linked with the program. Returns their
  // number, or -1 if there is no name or no function.
  int RegisterPlugin(const std::string& name, const RegistrarFunc& func);

 private:
  struct Contents;
  using Libraries = std::vector<std::shared_ptr<ObjectLibrary>>;

  // Of this registry and its parents, in the order of a search.
  Libraries LibrariesToSearch() const;
  template <typename T>
  FactoryFunc<T> FindFactory(const std::string& target) const {
    const std::shared_ptr<void> found = FindEntry(T::Type(), std::is_const_v<T>, target);
    return found == nullptr ? FactoryFunc<T>() : *static_cast<FactoryFunc<T>*>(found.get());
  }
  // The first entry of the libraries, or nullptr.
  std::shared_ptr<void> FindEntry(const char* type, bool is_const, const std::string& target) const;
  static Status NoFactory(const char* type, const std::string& target);
  static Status NotMade(const char* type, const std::string& target, const std::string& message);
  static Status WrongOwner(const char* type, const std::string& target, bool has_guard);

  Status SetManaged(const std::string& type, const std::string& id,
                    const std::shared_ptr<Customizable>& object);
  std::shared_ptr<Customizable> GetManaged(const std::string& type, const std::string& id) const;
  std::vector<std::shared_ptr<Customizable>> ListManaged(const std::string& type,
                                                         const std::string& id) const;

  const std::shared_ptr<ObjectRegistry> parent_;  // null for the outermost
  const std::unique_ptr<Contents> contents_;
};

template <typename T>
Status ObjectRegistry::NewObject(const std::string& target, T** object, std::unique_ptr<T>* guard) {
  guard->reset();
  const FactoryFunc<T> factory = FindFactory<T>(target);
  if (factory == nullptr) return NoFactory(T::Type(), target);
  std::string message;
  *object = factory(target, guard, &message);
  return *object != nullptr ? Status::OK() : NotMade(T::Type(), target, message);
}

template <typename T>
Status ObjectRegistry::NewUniqueObject(const std::string& target, std::unique_ptr<T>* result) {
  T* object = nullptr;
  std::unique_ptr<T> guard;
  Status status = NewObject(target, &object, &guard);
  if (!status.ok()) return status;
  if (guard == nullptr) return WrongOwner(T::Type(), target, /*has_guard=*/false);
  *result = std::move(guard);
  return status;
}

template <typename T>
Status ObjectRegistry::NewSharedObject(const std::string& target, std::shared_ptr<T>* result) {
  std::unique_ptr<T> made;
  Status status = NewUniqueObject(target, &made);
  if (status.ok()) *result = std::move(made);
  return status;
}

template <typename T>
Status ObjectRegistry::NewStaticObject(const std::string& target, T** result) {
  T* object = nullptr;
  std::unique_ptr<T> guard;
  Status status = NewObject(target, &object, &guard);
  if (!status.ok()) return status;
  if (guard != nullptr) return WrongOwner(T::Type(), target, /*has_guard=*/true);
  *result = object;
  return status;
}

// Two threads may both make an object; the second one then returns that of the first.
template <typename T>
Status ObjectRegistry::GetOrCreateManagedObject(const std::string& id, std::shared_ptr<T>* result,
                                                const ConfigureFunc<T>& cfunc) {
  if (std::shared_ptr<T> found = GetManagedObject<T>(id)) {
    *result = std::move(found);
    return Status::OK();
  }
  std::shared_ptr<T> made;
  Status status = NewSharedObject(id, &made);
  if (status.ok() && cfunc != nullptr) status = cfunc(made.get());
  if (!status.ok()) return status;
  if (id != made->Name()) status = SetManagedObject(id, made);
  if (std::shared_ptr<T> first = status.ok() ? nullptr : GetManagedObject<T>(id)) {
    *result = std::move(first);
    return Status::OK();
  }
  if (status.ok() && made->GetId() != id && made->GetId() != made->Name()) {
    status = SetManagedObject(made->GetId(), made);
  }
  if (status.ok()) *result = std::move(made);
  return status;
}

}  // namespace ashlar
