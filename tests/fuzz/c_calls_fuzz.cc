// SPDX-License-Identifier: Apache-2.0
//
// The boundary of the C API: the input is a program of calls with null, empty, long and binary
// arguments on a database in memory. All results are compared with a map, all memory goes through
// the callers' and the library's hands as bindings do it, and the callbacks of the program must be
// destroyed exactly once.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ashlar/c.h"
#include "tests/fuzz/c_errors.h"

namespace {

using Contents = std::map<std::string, std::string>;

// An argument in memory of exactly its size, so that a sanitizer sees each byte read beyond it. An
// empty one is null or not.
class Argument {
 public:
  Argument(std::string_view text, bool is_null) : size_(text.size()) {
    if (is_null) return;
    data_.reset(new char[size_]);
    text.copy(data_.get(), size_);
  }
  const char* data() const { return data_.get(); }
  size_t size() const { return size_; }
  std::string str() const { return data_ == nullptr ? std::string() : std::string(data(), size_); }

 private:
  std::unique_ptr<char[]> data_;
  size_t size_;
};

class Input {
 public:
  Input(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  bool is_over() const { return at_ == end_; }
  uint8_t Byte() { return at_ == end_ ? 0 : *at_++; }
  Argument Text() {
    const uint8_t kind = Byte();
    if (kind < 8) return {"", kind < 4};
    if (kind < 16) return {std::string(20000, static_cast<char>('a' + kind % 4)), false};
    std::string text;
    for (size_t i = 0; i < size_t{1} + kind % 3; i++) {
      text.push_back("\0ab\xff"[Byte() % 4]);
    }
    return {text, false};
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

// The merge operator of the program: joins values with commas. Counts what it has given away.
struct Joiner {
  int values = 0;
  int destroyed = 0;

  static char* FullMerge(void* state, const char*, size_t, const char* existing,
                         size_t existing_bytes, const char* const* operands, const size_t* bytes,
                         int count, unsigned char* success, size_t* new_bytes) {
    std::string joined;
    if (existing != nullptr) joined.assign(existing, existing_bytes);
    for (int i = 0; i < count; i++) {
      if (existing != nullptr || i > 0) joined.push_back(',');
      joined.append(operands[i], bytes[i]);
    }
    return Give(state, joined, success, new_bytes);
  }
  static char* PartialMerge(void* state, const char*, size_t, const char* const* operands,
                            const size_t* bytes, int count, unsigned char* success,
                            size_t* new_bytes) {
    std::string joined;
    for (int i = 0; i < count; i++) {
      if (i > 0) joined.push_back(',');
      joined.append(operands[i], bytes[i]);
    }
    return Give(state, joined, success, new_bytes);
  }
  static void DeleteValue(void* state, const char* value, size_t) {
    __atomic_sub_fetch(&static_cast<Joiner*>(state)->values, 1, __ATOMIC_RELAXED);
    delete[] value;
  }
  static void Destroy(void* state) { static_cast<Joiner*>(state)->destroyed++; }
  static const char* Name(void*) { return "Joiner"; }

 private:
  static char* Give(void* state, const std::string& text, unsigned char* success, size_t* bytes) {
    __atomic_add_fetch(&static_cast<Joiner*>(state)->values, 1, __ATOMIC_RELAXED);
    char* const value = new char[text.size() + 1];
    text.copy(value, text.size());
    *success = 1;
    *bytes = text.size();
    return value;
  }
};

struct Change {
  enum Kind { kPut, kDelete, kMerge, kDeleteRange } kind;
  std::string key;
  std::string value;  // or the end of the range
};

void Apply(const Change& change, Contents* contents) {
  switch (change.kind) {
    case Change::kPut: (*contents)[change.key] = change.value; break;
    case Change::kDelete: contents->erase(change.key); break;
    case Change::kMerge: {
      const auto [place, is_new] = contents->emplace(change.key, change.value);
      if (!is_new) place->second += "," + change.value;
      break;
    }
    case Change::kDeleteRange:
      if (change.key < change.value) {
        contents->erase(contents->lower_bound(change.key), contents->lower_bound(change.value));
      }
      break;
  }
}

class Program {
 public:
  Program() {
    ashlar_options_set_create_if_missing(options_, 1);
    ashlar_options_set_env(options_, env_);
    ashlar_options_set_merge_operator(
        options_,
        ashlar_mergeoperator_create(&joiner_, Joiner::Destroy, Joiner::FullMerge,
                                    Joiner::PartialMerge, Joiner::DeleteValue, Joiner::Name));
    Error error;
    db_ = ashlar_open(options_, "/db", &error.text);
    Require(error.ok() && db_ != nullptr);
    family_ = ashlar_get_default_column_family_handle(db_);
  }
  ~Program() {
    DropIterator();
    DropSnapshot();
    ashlar_writebatch_destroy(batch_);
    ashlar_writebatch_wi_destroy(indexed_);
    ashlar_column_family_handle_destroy(family_);
    ashlar_close(db_);
    ashlar_readoptions_destroy(read_);
    ashlar_writeoptions_destroy(write_);
    ashlar_options_destroy(options_);
    ashlar_env_destroy(env_);
    Require(joiner_.values == 0 && joiner_.destroyed == 1);
  }

  void Run(Input* in) {
    switch (in->Byte() % 16) {
      case 0:
      case 1: return Write(in);
      case 2:
      case 3: return Get(in);
      case 4:
      case 5: return AddToBatch(in);
      case 6: return WriteBatch();
      case 7: return MultiGet(in);
      case 8: return MakeIterator();
      case 9:
      case 10: return Move(in);
      case 11: return ToggleSnapshot();
      case 12: return Rearrange(in);
      case 13: return AddToIndexed(in);
      case 14: return ForeignBatch(in);
      default: return Texts(in);
    }
  }
  void Check() {
    MakeIterator();
    ashlar_iter_seek_to_first(iterator_);
    for (const auto& [key, value] : contents_) {
      Require(ashlar_iter_valid(iterator_) != 0 && Key() == key && Value() == value);
      ashlar_iter_next(iterator_);
    }
    Require(ashlar_iter_valid(iterator_) == 0);
    Error error;
    ashlar_iter_get_error(iterator_, &error.text);
    Require(error.ok());
  }

 private:
  static Change ChangeOf(Input* in, const Argument& key, const Argument& value) {
    return {static_cast<Change::Kind>(in->Byte() % 4), key.str(), value.str()};
  }

  void Write(Input* in) {
    const Argument key = in->Text(), value = in->Text();
    const Change change = ChangeOf(in, key, value);
    Error error;
    switch (change.kind) {
      case Change::kPut:
        ashlar_put(db_, write_, key.data(), key.size(), value.data(), value.size(), &error.text);
        break;
      case Change::kDelete: ashlar_delete(db_, write_, key.data(), key.size(), &error.text); break;
      case Change::kMerge:
        ashlar_merge(db_, write_, key.data(), key.size(), value.data(), value.size(), &error.text);
        break;
      case Change::kDeleteRange:
        ashlar_delete_range_cf(db_, write_, family_, key.data(), key.size(), value.data(),
                               value.size(), &error.text);
        // A range whose end comes before its begin is refused.
        if (change.key > change.value) return;
        break;
    }
    Require(error.ok());
    Apply(change, &contents_);
  }

  // A value that a call returned; frees it. Null: not found.
  static std::optional<std::string> Taken(char* value, size_t bytes) {
    if (value == nullptr) return std::nullopt;
    std::string text(value, bytes);
    ashlar_free(value);
    return text;
  }
  static std::optional<std::string> Taken(ashlar_pinnableslice_t* slice) {
    if (slice == nullptr) return std::nullopt;
    size_t bytes = 0;
    const char* const value = ashlar_pinnableslice_value(slice, &bytes);
    Require(value != nullptr);  // null means that there is none
    std::string text(value, bytes);
    ashlar_pinnableslice_destroy(slice);
    return text;
  }
  static std::optional<std::string> Find(const Contents& contents, const std::string& key) {
    const auto found = contents.find(key);
    if (found == contents.end()) return std::nullopt;
    return found->second;
  }

  void Get(Input* in) {
    const Argument key = in->Text();
    const bool is_old = snapshot_ != nullptr && in->Byte() % 2 == 0;
    const std::optional<std::string> expected = Find(is_old ? old_contents_ : contents_, key.str());
    ashlar_readoptions_set_snapshot(read_, is_old ? snapshot_ : nullptr);
    Error error;
    size_t bytes = 77;
    char* const value = ashlar_get(db_, read_, key.data(), key.size(), &bytes, &error.text);
    Require(Taken(value, bytes) == expected);
    if (!expected.has_value()) Require(bytes == 0);
    Require(Taken(ashlar_get_pinned(db_, read_, key.data(), key.size(), &error.text)) == expected);
    char buffer[8];
    unsigned char is_found = 2;
    const bool fits = ashlar_get_into_buffer(db_, read_, key.data(), key.size(), buffer,
                                             sizeof(buffer), &bytes, &is_found, &error.text) != 0;
    Require(is_found == static_cast<unsigned char>(expected.has_value()));
    if (expected.has_value()) {
      Require(bytes == expected->size());
      Require(fits == (bytes <= sizeof(buffer)));
      if (fits) Require(*expected == std::string_view(buffer, bytes));
    }
    ashlar_readoptions_set_snapshot(read_, nullptr);
    Require(error.ok());
  }

  void AddToBatch(Input* in) {
    const Argument key = in->Text(), value = in->Text();
    Error error;
    switch (in->Byte() % 6) {
      case 0:
        save_points_.push_back(batched_.size());
        return ashlar_writebatch_set_save_point(batch_);
      case 1:
        ashlar_writebatch_rollback_to_save_point(batch_, &error.text);
        Require(error.ok() == !save_points_.empty());
        if (save_points_.empty()) return;
        batched_.resize(save_points_.back());
        save_points_.pop_back();
        return;
      case 2:
        ashlar_writebatch_put_log_data(batch_, value.data(), value.size());
        Require(ashlar_writebatch_count(batch_) == static_cast<int>(batched_.size()));
        return;
      default: break;
    }
    batched_.push_back(ChangeOf(in, key, value));
    Change& change = batched_.back();
    switch (change.kind) {
      case Change::kPut:
        return ashlar_writebatch_put(batch_, key.data(), key.size(), value.data(), value.size());
      case Change::kDelete: return ashlar_writebatch_delete(batch_, key.data(), key.size());
      case Change::kMerge:
        return ashlar_writebatch_merge(batch_, key.data(), key.size(), value.data(), value.size());
      case Change::kDeleteRange:
        if (change.key > change.value) {
          change.value = change.key;
          return ashlar_writebatch_delete_range(batch_, key.data(), key.size(), key.data(),
                                                key.size());
        }
        return ashlar_writebatch_delete_range(batch_, key.data(), key.size(), value.data(),
                                              value.size());
    }
  }
  void WriteBatch() {
    Error error;
    ashlar_write(db_, write_, batch_, &error.text);
    Require(error.ok());
    for (const Change& change : batched_) Apply(change, &contents_);
    batched_.clear();
    save_points_.clear();
    ashlar_writebatch_clear(batch_);
    Require(ashlar_writebatch_count(batch_) == 0);
  }

  void MultiGet(Input* in) {
    std::vector<Argument> keys;
    for (size_t i = in->Byte() % 5; i > 0; i--) keys.push_back(in->Text());
    std::vector<const char*> lists;
    std::vector<size_t> sizes;
    for (const Argument& key : keys) {
      lists.push_back(key.data());
      sizes.push_back(key.size());
    }
    std::vector<char*> values(keys.size()), errors(keys.size());
    std::vector<size_t> bytes(keys.size());
    ashlar_multi_get(db_, read_, keys.size(), lists.data(), sizes.data(), values.data(),
                     bytes.data(), errors.data());
    for (size_t i = 0; i < keys.size(); i++) {
      Require(errors[i] == nullptr);
      Require(Taken(values[i], bytes[i]) == Find(contents_, keys[i].str()));
    }
    std::vector<ashlar_pinnableslice_t*> pinned(keys.size());
    ashlar_batched_multi_get_cf(db_, read_, family_, keys.size(), lists.data(), sizes.data(),
                                pinned.data(), errors.data(), /*sorted_input=*/false);
    for (size_t i = 0; i < keys.size(); i++) {
      Require(errors[i] == nullptr);
      Require(Taken(pinned[i]) == Find(contents_, keys[i].str()));
    }
  }

  void DropIterator() {
    if (iterator_ != nullptr) ashlar_iter_destroy(iterator_);
    iterator_ = nullptr;
  }
  void MakeIterator() {
    DropIterator();
    iterator_ = ashlar_create_iterator(db_, read_);
    seen_ = contents_;
    at_.reset();
  }
  std::string Key() const {
    size_t bytes = 0;
    const char* const key = ashlar_iter_key(iterator_, &bytes);
    return std::string(key, bytes);
  }
  std::string Value() const {
    const ashlar_slice_t value = ashlar_iter_value_slice(iterator_);
    return std::string(value.data, value.size);
  }
  // Places at_ on the entry, or nowhere.
  void Place(Contents::const_iterator entry) {
    at_ = entry == seen_.end() ? std::nullopt : std::optional(entry->first);
  }
  void Move(Input* in) {
    if (iterator_ == nullptr) MakeIterator();
    switch (in->Byte() % 6) {
      case 0:
        ashlar_iter_seek_to_first(iterator_);
        Place(seen_.begin());
        break;
      case 1:
        ashlar_iter_seek_to_last(iterator_);
        Place(seen_.empty() ? seen_.end() : std::prev(seen_.end()));
        break;
      case 2: {
        const Argument target = in->Text();
        ashlar_iter_seek(iterator_, target.data(), target.size());
        Place(seen_.lower_bound(target.str()));
        break;
      }
      case 3: {
        const Argument target = in->Text();
        ashlar_iter_seek_for_prev(iterator_, target.data(), target.size());
        const auto behind = seen_.upper_bound(target.str());
        Place(behind == seen_.begin() ? seen_.end() : std::prev(behind));
        break;
      }
      case 4:
        if (!at_.has_value()) return;
        ashlar_iter_next(iterator_);
        Place(seen_.upper_bound(*at_));
        break;
      default: {
        if (!at_.has_value()) return;
        ashlar_iter_prev(iterator_);
        const auto here = seen_.find(*at_);
        Place(here == seen_.begin() ? seen_.end() : std::prev(here));
      }
    }
    Require((ashlar_iter_valid(iterator_) != 0) == at_.has_value());
    if (at_.has_value()) Require(Key() == *at_ && Value() == seen_.at(*at_));
  }

  void DropSnapshot() {
    if (snapshot_ != nullptr) ashlar_release_snapshot(db_, snapshot_);
    snapshot_ = nullptr;
  }
  void ToggleSnapshot() {
    if (snapshot_ != nullptr) return DropSnapshot();
    snapshot_ = ashlar_create_snapshot(db_);
    old_contents_ = contents_;
  }

  // Flushes or compacts.
  void Rearrange(Input* in) {
    const Argument begin = in->Text(), end = in->Text();
    if (in->Byte() % 2 == 0) {
      ashlar_compact_range(db_, begin.data(), begin.size(), end.data(), end.size());
      return;
    }
    Error error;
    ashlar_flushoptions_t* const flush = ashlar_flushoptions_create();
    ashlar_flush(db_, flush, &error.text);
    ashlar_flushoptions_destroy(flush);
    Require(error.ok());
  }

  // A batch with an index: its updates are visible over those of the database, and then written.
  void AddToIndexed(Input* in) {
    const Argument key = in->Text(), value = in->Text();
    Contents over = contents_;
    if (in->Byte() % 2 == 0) {
      ashlar_writebatch_wi_put(indexed_, key.data(), key.size(), value.data(), value.size());
      indexed_changes_.push_back({Change::kPut, key.str(), value.str()});
    } else {
      ashlar_writebatch_wi_delete(indexed_, key.data(), key.size());
      indexed_changes_.push_back({Change::kDelete, key.str(), ""});
    }
    for (const Change& change : indexed_changes_) Apply(change, &over);
    const Argument wanted = in->Text();
    Error error;
    size_t bytes = 0;
    char* const found = ashlar_writebatch_wi_get_from_batch_and_db(
        indexed_, db_, read_, wanted.data(), wanted.size(), &bytes, &error.text);
    Require(error.ok() && Taken(found, bytes) == Find(over, wanted.str()));
    if (in->Byte() % 2 == 0) return;
    ashlar_write_writebatch_wi(db_, write_, indexed_, &error.text);
    Require(error.ok());
    contents_ = std::move(over);
    indexed_changes_.clear();
    ashlar_writebatch_wi_clear(indexed_);
  }

  // A batch of foreign bytes is written whole or refused.
  void ForeignBatch(Input* in) {
    std::string bytes(12, '\0');
    bytes[8] = static_cast<char>(in->Byte() % 4);
    for (size_t i = in->Byte() % 24; i > 0; i--) bytes.push_back(static_cast<char>(in->Byte()));
    if (in->Byte() % 8 == 0) bytes.resize(in->Byte() % 12);
    ashlar_writebatch_t* const batch = ashlar_writebatch_create_from(bytes.data(), bytes.size());
    Contents after = contents_;
    const auto put = [](void* state, const char* key, size_t key_bytes, const char* value,
                        size_t value_bytes) {
      (*static_cast<Contents*>(state))[std::string(key, key_bytes)] =
          std::string(value, value_bytes);
    };
    const auto deleted = [](void* state, const char* key, size_t key_bytes) {
      static_cast<Contents*>(state)->erase(std::string(key, key_bytes));
    };
    ashlar_writebatch_iterate(batch, &after, put, deleted);
    Error error;
    ashlar_write(db_, write_, batch, &error.text);
    ashlar_writebatch_destroy(batch);
    if (error.ok()) ReadContents();
  }
  // Kinds that ashlar_writebatch_iterate() does not report may have been written.
  void ReadContents() {
    contents_.clear();
    MakeIterator();
    for (ashlar_iter_seek_to_first(iterator_); ashlar_iter_valid(iterator_) != 0;
         ashlar_iter_next(iterator_)) {
      contents_[Key()] = Value();
    }
    DropIterator();
  }

  // Option texts and names of properties are known or refused.
  void Texts(Input* in) {
    static constexpr const char* kPieces[] = {"write_buffer_size",
                                              "=",
                                              ";",
                                              "{",
                                              "}",
                                              "4K",
                                              "max_open_files",
                                              "-1",
                                              "compression",
                                              "kZSTD",
                                              "block_based_table_factory",
                                              "filter_policy",
                                              "bloomfilter:10:false",
                                              " ",
                                              "\xff",
                                              "rocksdb.stats",
                                              "rocksdb.",
                                              "estimate-num-keys",
                                              "num-files-at-level",
                                              "0",
                                              "env"};
    std::string text;
    for (size_t i = in->Byte() % 8; i > 0; i--) text += kPieces[in->Byte() % std::size(kPieces)];
    Error error;
    ashlar_options_t* const parsed = ashlar_options_create();
    ashlar_get_options_from_string(options_, text.c_str(), parsed, &error.text);
    ashlar_options_destroy(parsed);
    ashlar_free(ashlar_property_value(db_, text.c_str()));
    uint64_t number = 0;
    ashlar_property_int(db_, text.c_str(), &number);
  }

  Joiner joiner_;
  ashlar_env_t* const env_ = ashlar_create_mem_env();
  ashlar_options_t* const options_ = ashlar_options_create();
  ashlar_readoptions_t* const read_ = ashlar_readoptions_create();
  ashlar_writeoptions_t* const write_ = ashlar_writeoptions_create();
  ashlar_t* db_ = nullptr;
  ashlar_column_family_handle_t* family_ = nullptr;
  Contents contents_;

  ashlar_writebatch_t* const batch_ = ashlar_writebatch_create();
  std::vector<Change> batched_;
  std::vector<size_t> save_points_;  // sizes of batched_

  ashlar_writebatch_wi_t* const indexed_ = ashlar_writebatch_wi_create(0, /*overwrite_keys=*/1);
  std::vector<Change> indexed_changes_;

  ashlar_iterator_t* iterator_ = nullptr;
  Contents seen_;                  // by the iterator
  std::optional<std::string> at_;  // its key

  const ashlar_snapshot_t* snapshot_ = nullptr;
  Contents old_contents_;  // of the snapshot
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input in(data, size);
  Program program;
  while (!in.is_over()) program.Run(&in);
  program.Check();
  return 0;
}
