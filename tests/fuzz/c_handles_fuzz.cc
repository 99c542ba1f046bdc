// SPDX-License-Identifier: Apache-2.0
//
// Handles of the C API: the input is a program that makes, uses and destroys handles of
// transactions, families, snapshots and iterators in any order that the rules of c.h allow, or
// passes null for them. The database is closed and opened in between, while handles of its families
// are still held. All reads are compared with maps.
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/c.h"
#include "tests/fuzz/c_errors.h"

namespace {

using Contents = std::map<std::string, std::string>;
using Changes = std::map<std::string, std::optional<std::string>>;  // nothing: deleted

class Input {
 public:
  Input(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  bool is_over() const { return at_ == end_; }
  uint8_t Byte() { return at_ == end_ ? 0 : *at_++; }
  // Few keys, so that transactions meet; one of them is empty, one has a zero byte, one is long.
  std::string Key() {
    static const std::string kKeys[] = {"", std::string("\0a", 2), "a", "b",
                                        std::string(3000, 'l')};
    return kKeys[Byte() % std::size(kKeys)];
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

struct Family {
  std::string name;
  ashlar_column_family_handle_t* handle = nullptr;  // null: the default family
  Contents contents;
};

struct Open {
  ashlar_transaction_t* handle = nullptr;
  bool is_prepared = false;
  bool is_over = false;
  std::map<size_t, Changes> changes;  // by family
};

class Program {
 public:
  Program() {
    ashlar_options_set_create_if_missing(options_, 1);
    ashlar_options_set_create_missing_column_families(options_, 1);
    ashlar_options_set_env(options_, env_);
    // A key that another transaction has is an error at once.
    ashlar_transactiondb_options_set_transaction_lock_timeout(locks_, 0);
    ashlar_transactiondb_options_set_default_lock_timeout(locks_, 0);
    ashlar_transaction_options_set_lock_timeout(transaction_options_, 0);
    families_.push_back({"default", nullptr, {}});
    OpenDatabase();
  }
  ~Program() {
    CloseDatabase();
    for (ashlar_column_family_handle_t* handle : held_) ashlar_column_family_handle_destroy(handle);
    ashlar_transaction_options_destroy(transaction_options_);
    ashlar_transactiondb_options_destroy(locks_);
    ashlar_writeoptions_destroy(write_);
    ashlar_readoptions_destroy(read_);
    ashlar_options_destroy(options_);
    ashlar_env_destroy(env_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void Run(Input* in) {
    switch (in->Byte() % 16) {
      case 0: return Begin(in);
      case 1:
      case 2:
      case 3: return Change(in);
      case 4:
      case 5: return Get(in);
      case 6: return GetForUpdate(in);
      case 7: return End(in);
      case 8: return Prepare(in);
      case 9: return Scan(in);
      case 10: return WriteAround(in);
      case 11: return CreateFamily(in);
      case 12: return DropFamily(in);
      case 13: return ToggleSnapshot(in);
      case 14: return DestroyNulls(in);
      default: return Reopen(in);
    }
  }
  void Check() {
    for (const Family& family : families_) {
      Require(All(ashlar_transactiondb_create_iterator_cf(db_, nullptr, family.handle)) ==
              family.contents);
    }
  }

 private:
  void OpenDatabase() {
    std::vector<const char*> names;
    std::vector<const ashlar_options_t*> family_options;
    for (const Family& family : families_) {
      names.push_back(family.name.c_str());
      family_options.push_back(options_);
    }
    std::vector<ashlar_column_family_handle_t*> handles(families_.size());
    Error error;
    db_ = ashlar_transactiondb_open_column_families(
        options_, locks_, "/db", static_cast<int>(names.size()), names.data(),
        family_options.data(), handles.data(), &error.text);
    Require(error.ok() && db_ != nullptr);
    for (size_t i = 0; i < handles.size(); ++i) {
      // The default family is sometimes named by its handle, and otherwise by null.
      families_[i].handle = handles[i];
    }
    size_t count = 77;
    ashlar_transaction_t** const prepared =
        ashlar_transactiondb_get_prepared_transactions(db_, &count);
    Require(prepared == nullptr && count == 0);
  }
  void CloseDatabase() {
    for (Open& open : transactions_) {
      if (open.is_prepared) {
        Error error;
        ashlar_transaction_rollback(open.handle, &error.text);
        Require(error.ok());
      }
      ashlar_transaction_destroy(open.handle);
    }
    transactions_.clear();
    DropSnapshot();
    for (Family& family : families_) {
      held_.push_back(family.handle);  // destroyed after the database
      family.handle = nullptr;
    }
    ashlar_transactiondb_close(db_);
  }
  void Reopen(Input* in) {
    CloseDatabase();
    if (in->Byte() % 2 == 0) {
      for (ashlar_column_family_handle_t* handle : held_)
        ashlar_column_family_handle_destroy(handle);
      held_.clear();
    }
    OpenDatabase();
  }

  const ashlar_writeoptions_t* WriteOptions(Input* in) {
    return in->Byte() % 2 == 0 ? nullptr : write_;
  }
  const ashlar_readoptions_t* ReadOptions(Input* in) {
    return in->Byte() % 2 == 0 ? nullptr : read_;
  }
  size_t FamilyIndex(Input* in) { return in->Byte() % families_.size(); }
  // Null for the default family now and then.
  ashlar_column_family_handle_t* HandleOf(Input* in, size_t index) {
    return index == 0 && in->Byte() % 2 == 0 ? nullptr : families_[index].handle;
  }
  Open* Transaction(Input* in) {
    return transactions_.empty() ? nullptr : &transactions_[in->Byte() % transactions_.size()];
  }

  void Begin(Input* in) {
    const ashlar_transaction_options_t* const with =
        in->Byte() % 4 == 0 ? nullptr : transaction_options_;
    if (Open* const old = Transaction(in); old != nullptr && old->is_over) {
      Require(ashlar_transaction_begin(db_, WriteOptions(in), with, old->handle) == old->handle);
      *old = {old->handle, false, false, {}};
    } else if (transactions_.size() < 4) {
      transactions_.push_back(
          {ashlar_transaction_begin(db_, WriteOptions(in), with, nullptr), false, false, {}});
    }
  }
  void Change(Input* in) {
    Open* const open = Transaction(in);
    if (open == nullptr || open->is_over || open->is_prepared) return;
    const size_t index = FamilyIndex(in);
    const std::string key = in->Key();
    Error error;
    if (in->Byte() % 3 == 0) {
      ashlar_transaction_delete_cf(open->handle, HandleOf(in, index), key.data(), key.size(),
                                   &error.text);
      if (error.ok()) open->changes[index][key] = std::nullopt;
    } else {
      const std::string value(in->Byte() % 3, 'v');
      ashlar_transaction_put_cf(open->handle, HandleOf(in, index), key.data(), key.size(),
                                value.empty() ? nullptr : value.data(), value.size(), &error.text);
      if (error.ok()) open->changes[index][key] = value;
    }
  }

  // What the transaction sees; null: outside of one.
  Contents Seen(const Open* open, size_t index) const {
    Contents contents = families_[index].contents;
    if (open == nullptr || open->is_over) return contents;
    const auto changes = open->changes.find(index);
    if (changes == open->changes.end()) return contents;
    for (const auto& [key, value] : changes->second) {
      if (value.has_value()) {
        contents[key] = *value;
      } else {
        contents.erase(key);
      }
    }
    return contents;
  }
  static void RequireValue(const Contents& seen, const std::string& key, char* value,
                           size_t bytes) {
    const auto found = seen.find(key);
    Require((value != nullptr) == (found != seen.end()));
    if (value != nullptr) Require(std::string(value, bytes) == found->second);
    ashlar_free(value);
  }
  void Get(Input* in) {
    Open* const open = Transaction(in);
    const size_t index = FamilyIndex(in);
    const std::string key = in->Key();
    Error error;
    size_t bytes = 0;
    char* const value =
        open == nullptr || open->is_over
            ? ashlar_transactiondb_get_cf(db_, ReadOptions(in), HandleOf(in, index), key.data(),
                                          key.size(), &bytes, &error.text)
            : ashlar_transaction_get_cf(open->handle, ReadOptions(in), HandleOf(in, index),
                                        key.data(), key.size(), &bytes, &error.text);
    Require(error.ok());
    RequireValue(Seen(open, index), key, value, bytes);
  }
  void GetForUpdate(Input* in) {
    Open* const open = Transaction(in);
    if (open == nullptr || open->is_over || open->is_prepared) return;
    const size_t index = FamilyIndex(in);
    const std::string key = in->Key();
    Error error;
    size_t bytes = 0;
    char* const value = ashlar_transaction_get_for_update_cf(
        open->handle, ReadOptions(in), HandleOf(in, index), key.data(), key.size(), &bytes,
        in->Byte() % 2, &error.text);
    if (error.ok()) {
      RequireValue(Seen(open, index), key, value, bytes);
    } else {
      Require(value == nullptr);  // another transaction has it
    }
  }
  static Contents All(ashlar_iterator_t* iterator) {
    Contents contents;
    for (ashlar_iter_seek_to_first(iterator); ashlar_iter_valid(iterator) != 0;
         ashlar_iter_next(iterator)) {
      const ashlar_slice_t key = ashlar_iter_key_slice(iterator),
                           value = ashlar_iter_value_slice(iterator);
      contents[std::string(key.data, key.size)] = std::string(value.data, value.size);
    }
    Error error;
    ashlar_iter_get_error(iterator, &error.text);
    Require(error.ok());
    ashlar_iter_destroy(iterator);
    return contents;
  }
  void Scan(Input* in) {
    Open* const open = Transaction(in);
    const size_t index = FamilyIndex(in);
    ashlar_iterator_t* const iterator =
        open == nullptr || open->is_over
            ? ashlar_transactiondb_create_iterator_cf(db_, ReadOptions(in), HandleOf(in, index))
            : ashlar_transaction_create_iterator_cf(open->handle, ReadOptions(in),
                                                    HandleOf(in, index));
    Require(All(iterator) == Seen(open, index));
  }

  void Prepare(Input* in) {
    Open* const open = Transaction(in);
    if (open == nullptr) return;
    const std::string name = "t" + std::to_string(names_++);
    Error name_error, error;
    if (in->Byte() % 4 != 0) {
      ashlar_transaction_set_name(open->handle, name.data(), name.size(), &name_error.text);
    }
    ashlar_transaction_prepare(open->handle, &error.text);
    if (error.ok()) {
      Require(!open->is_over && !open->is_prepared);
      open->is_prepared = true;
    }
  }
  void End(Input* in) {
    Open* const open = Transaction(in);
    if (open == nullptr) return;
    Error error;
    switch (in->Byte() % 3) {
      case 0:
        ashlar_transaction_rollback(open->handle, &error.text);
        Require(error.ok() || open->is_over);
        // One that was not prepared goes on, without its changes.
        open->is_over |= open->is_prepared;
        open->is_prepared = false;
        open->changes.clear();
        return;
      case 1: {
        if (open->is_prepared) return;
        ashlar_transaction_destroy(open->handle);
        transactions_.erase(transactions_.begin() + (open - transactions_.data()));
        return;
      }
      default:
        ashlar_transaction_commit(open->handle, &error.text);
        Require(error.ok() == !open->is_over);
        for (auto& [index, changes] : open->changes) families_[index].contents = Seen(open, index);
        break;
    }
    *open = {open->handle, false, true, {}};
  }
  // A write beside the transactions, which fails if one of them has the key.
  void WriteAround(Input* in) {
    const size_t index = FamilyIndex(in);
    const std::string key = in->Key();
    Error error;
    ashlar_transactiondb_put_cf(db_, WriteOptions(in), HandleOf(in, index), key.data(), key.size(),
                                "w", 1, &error.text);
    if (error.ok()) families_[index].contents[key] = "w";
  }

  void CreateFamily(Input* in) {
    static const char* const kNames[] = {"default", "one", "two", "three"};
    const std::string name = kNames[in->Byte() % std::size(kNames)];
    bool is_known = false;
    for (const Family& family : families_) is_known |= family.name == name;
    Error error;
    ashlar_column_family_handle_t* const handle =
        ashlar_transactiondb_create_column_family(db_, options_, name.c_str(), &error.text);
    Require(error.ok() == !is_known && (handle != nullptr) == error.ok());
    if (handle != nullptr) families_.push_back({name, handle, {}});
  }
  // No transaction has changes in a family that goes.
  void DropFamily(Input* in) {
    const size_t index = FamilyIndex(in);
    for (const Open& open : transactions_) {
      for (const auto& [changed, changes] : open.changes) {
        if (changed >= index) return;
      }
    }
    DropSnapshot();
    ashlar_t* const base = ashlar_transactiondb_get_base_db(db_);
    Error error;
    ashlar_drop_column_family(base, families_[index].handle, &error.text);
    ashlar_transactiondb_close_base_db(base);
    Require(error.ok() == (index != 0));
    if (index == 0) return;
    held_.push_back(families_[index].handle);
    families_.erase(families_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  void DropSnapshot() {
    if (snapshot_ == nullptr) return;
    ashlar_transactiondb_release_snapshot(db_, snapshot_);
    snapshot_ = nullptr;
  }
  void ToggleSnapshot(Input* in) {
    if (snapshot_ == nullptr) {
      snapshot_ = ashlar_transactiondb_create_snapshot(db_);
      old_contents_ = families_[0].contents;
      return;
    }
    ashlar_readoptions_t* const then = ashlar_readoptions_create();
    ashlar_readoptions_set_snapshot(then, snapshot_);
    Require(All(ashlar_transactiondb_create_iterator_cf(db_, then, HandleOf(in, 0))) ==
            old_contents_);
    ashlar_readoptions_destroy(then);
    DropSnapshot();
  }

  // Null is a handle that may be destroyed, and a missing place for an error drops it.
  void DestroyNulls(Input* in) {
    ashlar_transaction_destroy(nullptr);
    ashlar_column_family_handle_destroy(nullptr);
    ashlar_iter_destroy(nullptr);
    ashlar_options_destroy(nullptr);
    ashlar_readoptions_destroy(nullptr);
    ashlar_writeoptions_destroy(nullptr);
    ashlar_writebatch_destroy(nullptr);
    ashlar_writebatch_wi_destroy(nullptr);
    ashlar_pinnableslice_destroy(nullptr);
    ashlar_free(nullptr);
    const std::string key = in->Key();
    size_t bytes = 0;
    char* const value =
        ashlar_transactiondb_get(db_, nullptr, key.data(), key.size(), &bytes, nullptr);
    RequireValue(families_[0].contents, key, value, bytes);
    Open* const open = Transaction(in);
    if (open == nullptr || !open->is_over) return;
    ashlar_transaction_commit(open->handle, nullptr);  // fails, and nobody wants to know why
  }

  ashlar_env_t* const env_ = ashlar_create_mem_env();
  ashlar_options_t* const options_ = ashlar_options_create();
  ashlar_readoptions_t* const read_ = ashlar_readoptions_create();
  ashlar_writeoptions_t* const write_ = ashlar_writeoptions_create();
  ashlar_transactiondb_options_t* const locks_ = ashlar_transactiondb_options_create();
  ashlar_transaction_options_t* const transaction_options_ = ashlar_transaction_options_create();
  ashlar_transactiondb_t* db_ = nullptr;
  std::vector<Family> families_;  // the first is the default family
  std::vector<Open> transactions_;
  std::vector<ashlar_column_family_handle_t*> held_;  // of families that are gone or closed
  size_t names_ = 0;

  const ashlar_snapshot_t* snapshot_ = nullptr;
  Contents old_contents_;  // of the default family, at the snapshot
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input in(data, size);
  Program program;
  while (!in.is_over()) program.Run(&in);
  program.Check();
  return 0;
}
