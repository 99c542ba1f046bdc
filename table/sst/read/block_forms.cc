// SPDX-License-Identifier: Apache-2.0
//
// Saved bytes may come back from a second tier that the program supplies and that compresses them.
// They are therefore verified, like bytes of a file, before they are parsed.
#include "table/sst/read/block_forms.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "table/block/block_builder.h"
#include "table/format/checksum.h"
#include "table/sst/read/table_objects.h"
#include "util/hash/hash.h"
#include "util/keys/coding.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Size of the hash in front of the bytes.
constexpr size_t kHashBytes = 8;

// The bytes to save. A decoded block is encoded again in the plainest form. Blocks are not decoded
// while there is a second tier, so this happens only for dumps of the cache
// (ashlar/utilities/cache_dump_load.h). `made` keeps bytes that were made here.
Slice BytesOf(const DataBlock& block, std::string* made) {
  assert(made != nullptr);
  if (!block.is_decoded) return Slice(block.block.data(), block.block.size());
  BlockBuilder builder{BlockBuilderOptions()};
  const DecodedBlock& decoded = block.decoded;
  std::string key;
  for (size_t i = 0; i < decoded.count(); i++) {
    key.assign(decoded.prefix().data(), decoded.prefix().size());
    key.append(decoded.Rest(i).data(), decoded.Rest(i).size());
    builder.Add(key, decoded.Value(i));
  }
  const Slice bytes = builder.Finish();
  made->assign(bytes.data(), bytes.size());
  return *made;
}
Slice BytesOf(FilterBlock& filter, std::string* /*made*/) {
  return Slice(filter.bytes(), filter.allocated_bytes);
}
Slice BytesOf(const DictionaryBlock& block, std::string* /*made*/) {
  return Slice(block.dictionary.contents());
}

// The table object behind a pointer of the cache.
template <typename T>
T& As(Cache::ObjectPtr object) {
  auto* const block = static_cast<TableObject*>(static_cast<CachedObject*>(object));
  assert(block->kind == T::kKind);
  return *static_cast<T*>(block);
}

template <typename T>
size_t SavedBytes(Cache::ObjectPtr object) {
  std::string made;
  return kHashBytes + BytesOf(As<T>(object), &made).size();
}

// Copies `length` bytes of the saved form, from byte `from` on.
template <typename T>
Status Save(Cache::ObjectPtr object, size_t from, size_t length, char* out) {
  assert(out != nullptr || length == 0);
  std::string made;
  const Slice bytes = BytesOf(As<T>(object), &made);
  if (from + length > kHashBytes + bytes.size()) {
    return Status::InvalidArgument(StrCat("a saved block has ", kHashBytes + bytes.size(),
                                          " bytes; asked for ", length, " from ", from));
  }
  if (from < kHashBytes) {
    char hash[kHashBytes];
    EncodeFixed64(hash, HashBytes(bytes));
    const size_t n = std::min(length, kHashBytes - from);
    std::memcpy(out, hash + from, n);
    out += n;
    from += n;
    length -= n;
  }
  if (length != 0) std::memcpy(out, bytes.data() + (from - kHashBytes), length);
  return Status::OK();
}

// Each Make() creates an object with one reference from its saved bytes, which were verified.
Result<TableObject*> Make(const Slice& bytes, DataBlock** block) {
  auto made = ObjectRef<DataBlock>::Own(DataBlock::Allocate(bytes.size()));
  std::memcpy(made->bytes(), bytes.data(), bytes.size());
  RETURN_IF_ERROR(Block::Parse(Slice(made->bytes(), bytes.size()), &made->block));
  *block = made.Leave();
  return *block;
}

Result<TableObject*> Make(const Slice& bytes, FilterBlock** filter) {
  if (bytes.size() < kBlockTrailerBytes) {
    return Status::Corruption(StrCat("a filter has a trailer, but only ", bytes.size(), " bytes"));
  }
  *filter = FilterBlock::Allocate(bytes.size());
  std::memcpy((*filter)->bytes(), bytes.data(), bytes.size());
  (*filter)->view = FilterView(Slice((*filter)->bytes(), bytes.size() - kBlockTrailerBytes));
  return *filter;
}

Result<TableObject*> Make(const Slice& bytes, DictionaryBlock** dictionary) {
  assert(dictionary != nullptr);
  *dictionary = new DictionaryBlock(bytes);
  return *dictionary;
}

// Creates an object from its saved form. The object has one reference, which belongs to the caller.
template <typename T>
Status Create(const Slice& saved, CompressionType type, CacheTier /*source*/,
              Cache::CreateContext* /*context*/, MemoryAllocator* /*allocator*/,
              Cache::ObjectPtr* object, size_t* charge) {
  if (type != kNoCompression) {
    return Status::NotSupported("a saved block is to be uncompressed by the tier that has it");
  }
  if (saved.size() < kHashBytes) {
    return Status::Corruption(StrCat("a saved block begins with ", kHashBytes,
                                     " bytes of hash, found ", saved.size(), " bytes"));
  }
  const Slice bytes(saved.data() + kHashBytes, saved.size() - kHashBytes);
  const uint64_t expected = DecodeFixed64(saved.data());
  if (const uint64_t found = HashBytes(bytes); found != expected) {
    return Status::Corruption(StrCat("a saved block of ", bytes.size(), " bytes: hash expected ",
                                     Hex(expected), ", found ", Hex(found)));
  }
  T* made = nullptr;
  Result<TableObject*> result = Make(bytes, &made);
  if (!result.ok()) return result.status();
  *object = static_cast<CachedObject*>(*result);
  *charge = made->MemoryBytes();
  return Status::OK();
}

template <typename T>
const Cache::CacheItemHelper* FormOf() {
  static const Cache::CacheItemHelper form(T::kRole, &DropReference, &SavedBytes<T>, &Save<T>,
                                           &Create<T>, HelperOfRole(T::kRole));
  return &form;
}

}  // namespace

const BlockForms& TableBlockForms() {
  static const BlockForms forms = [] {
    BlockForms made;
    made.heap_use = &DataBlock::HeapUse;
    made.of_role[static_cast<size_t>(DataBlock::kRole)] = FormOf<DataBlock>();
    made.of_role[static_cast<size_t>(FilterBlock::kRole)] = FormOf<FilterBlock>();
    made.of_role[static_cast<size_t>(DictionaryBlock::kRole)] = FormOf<DictionaryBlock>();
    return made;
  }();
  return forms;
}

}  // namespace ashlar
