// SPDX-License-Identifier: Apache-2.0
//
// Registries of object factories. The functions Dump() need a logger, so they are in
// env/env_from_string.cc. Entries are only added, never removed, and a search copies the list of
// libraries. So no lock is held while a factory runs.
#include "ashlar/utilities/object_registry.h"

#include <algorithm>
#include <cassert>
#include <map>

#include "util/text/str_cat.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

bool IsDigits(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

bool IsDecimal(const std::string& text) {
  const size_t point = text.find('.');
  return point != std::string::npos && IsDigits(text.substr(0, point)) &&
         IsDigits(text.substr(point + 1));
}

}  // namespace

using PatternEntry = ObjectLibrary::PatternEntry;

// The names of objects that were made by Customizable::GenerateIndividualId().
PatternEntry PatternEntry::AsIndividualId(const std::string& name) {
  PatternEntry entry(name);
  entry.AddSeparator("@").AddSeparator("#");
  return entry;
}

PatternEntry::PatternEntry(const std::string& name, bool optional)
    : names_{name}, is_optional_(optional) {}

PatternEntry& PatternEntry::AddSuffix(const std::string& suffix) {
  parts_.emplace_back(suffix, Part::kSuffix);
  return *this;
}
PatternEntry& PatternEntry::AddSeparator(const std::string& separator, bool at_least_one) {
  parts_.emplace_back(separator, at_least_one ? Part::kSomething : Part::kAnything);
  return *this;
}
PatternEntry& PatternEntry::AddNumber(const std::string& separator, bool is_int) {
  parts_.emplace_back(separator, is_int ? Part::kInteger : Part::kDecimal);
  return *this;
}
// Adds another name to which the same parts belong.
PatternEntry& PatternEntry::AnotherName(const std::string& alt) {
  names_.push_back(alt);
  return *this;
}
// Whether a name alone matches too, without the parts.
PatternEntry& PatternEntry::SetOptional(bool optional) {
  is_optional_ = optional;
  return *this;
}

// The whole text must match: one of the names, followed by all parts.
bool PatternEntry::Matches(const std::string& target) const {
  return std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
    if (target == name) return parts_.empty() || is_optional_;
    return !parts_.empty() && target.starts_with(name) &&
           PartsMatch(target.substr(name.size()), /*part=*/0);
  });
}

// Matches the parts from index `part` on. Every possible end of a part is tried, which is fast
// enough because the texts are short and the parts few.
bool PatternEntry::PartsMatch(const std::string& text, size_t part) const {
  assert(part <= parts_.size());
  if (part == parts_.size()) return text.empty();
  const auto& [separator, kind] = parts_[part];
  if (!text.starts_with(separator)) return false;
  const std::string rest = text.substr(separator.size());
  for (size_t length = 0; length <= rest.size(); ++length) {
    const std::string taken = rest.substr(0, length);
    const bool fits = kind == Part::kAnything    ? true
                      : kind == Part::kSomething ? length > 0
                      : kind == Part::kInteger   ? IsDigits(taken)
                      : kind == Part::kDecimal   ? IsDecimal(taken)
                                                 : length == 0;
    if (fits && PartsMatch(rest.substr(length), part + 1)) return true;
  }
  return false;
}

// The factories by type of object, in the order of their registration. The functions have different
// types, which AddEntry() and FindEntry() hide.
struct ObjectLibrary::Contents {
  struct Factory {
    PatternEntry names;
    bool is_const;
    std::shared_ptr<void> function;  // shared with the calls that are running
  };
  Mutex mutex{LockRank::kLeaf};
  std::map<std::string, std::vector<Factory>> by_type GUARDED_BY(mutex);
};

ObjectLibrary::ObjectLibrary(const std::string& id)
    : id_(id), contents_(std::make_unique<Contents>()) {}
ObjectLibrary::~ObjectLibrary() = default;

void ObjectLibrary::AddEntry(const char* type, bool is_const, const PatternEntry& entry,
                             std::shared_ptr<void> factory) {
  assert(type != nullptr);
  assert(factory != nullptr);
  MutexLock lock(&contents_->mutex);
  contents_->by_type[type].push_back({entry, is_const, std::move(factory)});
}

std::shared_ptr<void> ObjectLibrary::FindEntry(const char* type, bool is_const,
                                               const std::string& target) const {
  assert(type != nullptr);
  MutexLock lock(&contents_->mutex);
  const auto found = contents_->by_type.find(type);
  if (found == contents_->by_type.end()) return nullptr;
  // Names need not be unique; the first factory that matches is used.
  for (const Contents::Factory& factory : found->second) {
    if (factory.is_const == is_const && factory.names.Matches(target)) return factory.function;
  }
  return nullptr;
}

size_t ObjectLibrary::GetFactoryCount(size_t* num_types) const {
  assert(num_types != nullptr);
  MutexLock lock(&contents_->mutex);
  *num_types = contents_->by_type.size();
  size_t count = 0;
  for (const auto& [type, factories] : contents_->by_type) count += factories.size();
  return count;
}

size_t ObjectLibrary::GetFactoryCount(const std::string& type) const {
  std::vector<std::string> names;
  GetFactoryNames(type, &names);
  return names.size();
}

void ObjectLibrary::GetFactoryNames(const std::string& type,
                                    std::vector<std::string>* names) const {
  MutexLock lock(&contents_->mutex);
  const auto found = contents_->by_type.find(type);
  if (found == contents_->by_type.end()) return;
  for (const Contents::Factory& factory : found->second) names->push_back(factory.names.Name());
}

void ObjectLibrary::GetFactoryTypes(std::unordered_set<std::string>* types) const {
  MutexLock lock(&contents_->mutex);
  for (const auto& [type, factories] : contents_->by_type) types->insert(type);
}

std::shared_ptr<ObjectLibrary>& ObjectLibrary::Default() {
  // The library to which programs add factories for all registries.
  // Never deleted, because objects that are destroyed at the end of the process may use it.
  static auto* const library =
      new std::shared_ptr<ObjectLibrary>(std::make_shared<ObjectLibrary>("default"));
  return *library;
}

// The state of a registry. A search goes through the registry itself first and then its parents;
// see LibrariesToSearch().
struct ObjectRegistry::Contents {
  Mutex mutex{LockRank::kLeaf};
  Libraries libraries GUARDED_BY(mutex);  // oldest first
  // By type and id. The pointers are weak, so the registry does not keep objects alive.
  std::map<std::pair<std::string, std::string>, std::weak_ptr<Customizable>> managed
      GUARDED_BY(mutex);
};

std::shared_ptr<ObjectRegistry> ObjectRegistry::Default() {
  // Never deleted, like the library.
  static auto* const registry = new std::shared_ptr<ObjectRegistry>(
      std::make_shared<ObjectRegistry>(ObjectLibrary::Default()));
  return *registry;
}
std::shared_ptr<ObjectRegistry> ObjectRegistry::NewInstance() { return NewInstance(Default()); }
// Makes a registry that is searched before its parent. Registrations in it do not change the
// parent.
std::shared_ptr<ObjectRegistry> ObjectRegistry::NewInstance(
    const std::shared_ptr<ObjectRegistry>& parent) {
  return std::make_shared<ObjectRegistry>(parent);
}

ObjectRegistry::ObjectRegistry(const std::shared_ptr<ObjectRegistry>& parent)
    : parent_(parent), contents_(std::make_unique<Contents>()) {}
ObjectRegistry::ObjectRegistry(const std::shared_ptr<ObjectLibrary>& library)
    : contents_(std::make_unique<Contents>()) {
  AddLibrary(library);
}
ObjectRegistry::~ObjectRegistry() = default;

std::shared_ptr<ObjectLibrary> ObjectRegistry::AddLibrary(const std::string& id) {
  auto library = std::make_shared<ObjectLibrary>(id);
  AddLibrary(library);
  return library;
}
void ObjectRegistry::AddLibrary(const std::shared_ptr<ObjectLibrary>& library) {
  assert(library != nullptr);
  MutexLock lock(&contents_->mutex);
  contents_->libraries.push_back(library);
}
void ObjectRegistry::AddLibrary(const std::string& id, const RegistrarFunc& registrar,
                                const std::string& arg) {
  AddLibrary(id)->Register(registrar, arg);
}

// The libraries in the order of the search: the newest first, so a later registration replaces an
// earlier one. Only one mutex is held at a time.
ObjectRegistry::Libraries ObjectRegistry::LibrariesToSearch() const {
  Libraries found;
  for (const ObjectRegistry* at = this; at != nullptr; at = at->parent_.get()) {
    Contents* const contents = at->contents_.get();
    MutexLock lock(&contents->mutex);
    found.insert(found.end(), contents->libraries.rbegin(), contents->libraries.rend());
  }
  return found;
}

// The status for a name for which no library has a factory.
Status ObjectRegistry::NoFactory(const char* type, const std::string& target) {
  return Status::NotSupported(StrCat(type, ": no factory for this name"), target);
}
Status ObjectRegistry::NotMade(const char* type, const std::string& target,
                               const std::string& message) {
  if (!message.empty()) return Status::InvalidArgument(message, target);
  return Status::InvalidArgument(StrCat(type, ": the factory made no object"), target);
}
// The status for an object with another kind of ownership than the caller wants. The object stays
// with its factory.
Status ObjectRegistry::WrongOwner(const char* type, const std::string& target, bool has_guard) {
  return Status::InvalidArgument(
      StrCat(type, has_guard ? ": the factory must keep the object, and handed over its ownership"
                             : ": the factory must hand over the ownership of the object"),
      target);
}

// Registers a shared object under its id. OK if the same object is registered already.
Status ObjectRegistry::SetManaged(const std::string& type, const std::string& id,
                                  const std::shared_ptr<Customizable>& object) {
  std::shared_ptr<Customizable> present = GetManaged(type, id);
  if (present == nullptr) {
    // This is checked again under the lock, because another thread may have registered an object
    // since.
    MutexLock lock(&contents_->mutex);
    std::weak_ptr<Customizable>& place = contents_->managed[{type, id}];
    present = place.lock();
    if (present == nullptr) place = object;
  }
  if (present == nullptr || present == object) return Status::OK();
  return Status::InvalidArgument(StrCat(type, ": another object has this id"), id);
}

// Searches the registry and its parents. Null if there is no such object, or if it was deleted.
std::shared_ptr<Customizable> ObjectRegistry::GetManaged(const std::string& type,
                                                         const std::string& id) const {
  for (const ObjectRegistry* at = this; at != nullptr; at = at->parent_.get()) {
    MutexLock lock(&at->contents_->mutex);
    const auto found = at->contents_->managed.find({type, id});
    if (found == at->contents_->managed.end()) continue;
    if (std::shared_ptr<Customizable> object = found->second.lock()) return object;
  }
  return nullptr;
}

// Lists the objects in the order of the registries, each of them once.
std::vector<std::shared_ptr<Customizable>> ObjectRegistry::ListManaged(
    const std::string& type, const std::string& id) const {
  std::vector<std::shared_ptr<Customizable>> found;
  for (const ObjectRegistry* at = this; at != nullptr; at = at->parent_.get()) {
    MutexLock lock(&at->contents_->mutex);
    for (const auto& [key, held] : at->contents_->managed) {
      std::shared_ptr<Customizable> object = key.first == type ? held.lock() : nullptr;
      if (object != nullptr && (id.empty() || object->IsInstanceOf(id)) &&
          std::find(found.begin(), found.end(), object) == found.end()) {
        found.push_back(std::move(object));
      }
    }
  }
  return found;
}

size_t ObjectRegistry::GetFactoryCount(const std::string& type) const {
  std::vector<std::string> names;
  GetFactoryNames(type, &names);
  return names.size();
}
void ObjectRegistry::GetFactoryNames(const std::string& type,
                                     std::vector<std::string>* names) const {
  for (const auto& library : LibrariesToSearch()) library->GetFactoryNames(type, names);
}
void ObjectRegistry::GetFactoryTypes(std::unordered_set<std::string>* types) const {
  for (const auto& library : LibrariesToSearch()) library->GetFactoryTypes(types);
}
// Returns -1 if the arguments are not valid.
int ObjectRegistry::RegisterPlugin(const std::string& name, const RegistrarFunc& func) {
  if (name.empty() || func == nullptr) return -1;
  return AddLibrary(name)->Register(func, name);
}

}  // namespace ashlar
