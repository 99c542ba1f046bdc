// SPDX-License-Identifier: Apache-2.0
//
// How many bits are flipped: every bit of the parts on which everything else depends, fewer in
// uniform parts.
#include "tests/corruption/mutations.h"

#include <algorithm>

#include "tests/corruption/records.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr uint64_t kDataStride = 16, kFilterStride = 16, kPropertiesStride = 16;
constexpr uint64_t kMetaindexStride = 4;
// Samples that only add their own kind of block.
constexpr uint64_t kMinorStride = 16;

Mutation Changed(const Sample& sample, const char* kind, const std::string& path,
                 const std::string& what) {
  return {.name = StrCat(path, " ", what), .kind = kind, .path = path, .files = sample.files};
}

// Whether the format of `path` does not identify the file that a piece belongs to.
bool IsNameless(const Sample& sample, const std::string& path) {
  if (KindOf(path) == "log") return true;
  return KindOf(path) == "table" && FindBlocks(sample.files.at(path)).checksum.base == 0;
}

struct Region {
  size_t begin, end;
  uint64_t stride;
};

uint64_t MutationStride(const std::string& kind) {
  if (kind == "index" || kind == "footer") return 1;
  if (kind == "metaindex") return kMetaindexStride;
  if (kind == "properties") return kPropertiesStride;
  return kind == "filter" ? kFilterStride : kDataStride;
}

std::vector<Region> RegionsOf(const Sample& sample, const std::string& path) {
  const std::string& bytes = sample.files.at(path);
  const uint64_t factor = sample.is_main ? 1 : kMinorStride;
  if (KindOf(path) != "table") return {{0, UsedBytes(bytes), factor}};
  std::vector<Region> regions;
  const TableLayout layout = FindBlocks(bytes);
  for (const TableBlock& block : layout.blocks) {
    // Blocks of kinds that only this sample has.
    const uint64_t stride = MutationStride(block.kind);
    const bool is_usual = block.kind == "properties" || block.kind == "metaindex";
    regions.push_back({block.offset, block.end(), is_usual ? stride * factor : stride * 4});
    if (sample.is_main) regions.back().stride = stride;
  }
  regions.push_back({layout.footer_offset, bytes.size(), factor});
  return regions;
}

void FlipBits(const Sample& sample, const std::string& path, const Effort& effort,
              const CheckMutation& check) {
  for (const Region& region : RegionsOf(sample, path)) {
    effort.Each((region.end - region.begin) * 8, region.stride, [&](uint64_t i) {
      const uint64_t bit = region.begin * 8 + i;
      Mutation mutation = Changed(sample, "bit flips", path, StrCat("bit ", bit));
      char& byte = mutation.files[path][bit / 8];
      byte = static_cast<char>(byte ^ (1 << (bit % 8)));
      check(mutation);
    });
  }
}

void CutShort(const Sample& sample, const std::string& path, const Effort& effort,
              const CheckMutation& check) {
  const bool is_log = KindOf(path) == "log" || KindOf(path) == "MANIFEST";
  effort.Each(UsedBytes(sample.files.at(path)), sample.is_main && is_log ? 1 : 8,
              [&](uint64_t size) {
                Mutation mutation = Changed(sample, "truncations", path, StrCat("cut to ", size));
                mutation.files[path].resize(size);
                check(mutation);
              });
}

void Extend(const Sample& sample, const std::string& path, const CheckMutation& check) {
  for (size_t size : {1, 512, 4096}) {
    Mutation zeros = Changed(sample, "extensions", path, StrCat("and ", size, " zeros"));
    zeros.files[path].append(size, '\0');
    check(zeros);
    Mutation noise = Changed(sample, "extensions", path, StrCat("and ", size, " random bytes"));
    noise.files[path] += Random64(size).Bytes(size);
    check(noise);
  }
}

// Sectors that were lost, or that have old contents.
void ReplacePieces(const Sample& sample, const std::string& path, const Effort& effort,
                   const CheckMutation& check) {
  constexpr size_t kPieceBytes = 64;
  const std::string& bytes = sample.files.at(path);
  const auto sister = sample.sister.find(path);
  effort.Each((UsedBytes(bytes) + kPieceBytes - 1) / kPieceBytes, 1, [&](uint64_t piece) {
    const size_t begin = piece * kPieceBytes;
    const size_t size = std::min(kPieceBytes, bytes.size() - begin);
    Mutation zeros = Changed(sample, "pieces", path, StrCat("zeros at ", begin));
    zeros.files[path].replace(begin, size, size, '\0');
    check(zeros);
    if (sister == sample.sister.end() || sister->second.size() < begin + size) return;
    Mutation stale = Changed(sample, "pieces", path, StrCat("stale at ", begin));
    stale.files[path].replace(begin, size, sister->second, begin, size);
    stale.is_twin = IsNameless(sample, path);
    check(stale);
  });
}

// Runs of random bytes; more of them the longer the suite runs.
void Scribble(const Sample& sample, const std::string& path, const Effort& effort,
              const CheckMutation& check) {
  Random64 random(effort.random_seed());
  const size_t used = UsedBytes(sample.files.at(path));
  if (used == 0) return;
  for (int i = 0; i < 4; ++i) {
    const size_t begin = random.Uniform(used);
    const std::string noise = random.Bytes(1 + random.Uniform(std::min<size_t>(used - begin, 64)));
    Mutation mutation =
        Changed(sample, "scribbles", path, StrCat(noise.size(), " random bytes at ", begin));
    mutation.files[path].replace(begin, noise.size(), noise);
    check(mutation);
  }
}

// Exchanges two blocks with their trailers; the bytes between them move if the sizes differ.
std::string WithSwapped(const std::string& table, const TableBlock& a, const TableBlock& b) {
  return table.substr(0, a.offset) + table.substr(b.offset, b.end() - b.offset) +
         table.substr(a.end(), b.offset - a.end()) + table.substr(a.offset, a.end() - a.offset) +
         table.substr(b.end());
}

void SwapInside(const Sample& sample, const std::string& path, const Effort& effort,
                const CheckMutation& check) {
  const std::string& bytes = sample.files.at(path);
  const std::vector<TableBlock> blocks = FindBlocks(bytes).blocks;
  for (size_t a = 0; a < blocks.size(); ++a) {
    effort.Each(blocks.size() - a - 1, 1, [&](uint64_t i) {
      const size_t b = a + 1 + i;
      Mutation mutation =
          Changed(sample, "block swaps", path, StrCat("blocks ", a, " and ", b, " swapped"));
      mutation.files[path] = WithSwapped(bytes, blocks[a], blocks[b]);
      if (mutation.files[path] != bytes) check(mutation);
    });
  }
}

// Block i of both tables, exchanged.
void SwapBetween(const Sample& sample, const std::string& path, const std::string& other,
                 const CheckMutation& check) {
  const std::vector<TableBlock> ours = FindBlocks(sample.files.at(path)).blocks;
  const std::vector<TableBlock> theirs = FindBlocks(sample.files.at(other)).blocks;
  for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    Mutation mutation = Changed(sample, "block swaps", path, StrCat("block ", i, " with ", other));
    std::string& a = mutation.files[path];
    std::string& b = mutation.files[other];
    const std::string block_a = a.substr(ours[i].offset, ours[i].end() - ours[i].offset);
    const std::string block_b = b.substr(theirs[i].offset, theirs[i].end() - theirs[i].offset);
    if (block_a == block_b) continue;
    a.replace(ours[i].offset, block_a.size(), block_b);
    b.replace(theirs[i].offset, block_b.size(), block_a);
    mutation.is_twin = IsNameless(sample, path);
    check(mutation);
  }
}

void DeletePairs(const Sample& sample, const std::string& path, const CheckMutation& check) {
  for (const auto& [other, bytes] : sample.files) {
    if (other <= path) continue;
    Mutation mutation = Changed(sample, "deletions", path, StrCat("and ", other, " deleted"));
    if (KindOf(other) == "log") mutation.path = other;
    mutation.files.erase(path);
    mutation.files.erase(other);
    check(mutation);
  }
}

}  // namespace

void DamageBytes(const Sample& sample, const Effort& effort, const CheckMutation& check) {
  for (const auto& [path, bytes] : sample.files) {
    if (KindOf(path) == "OPTIONS") continue;  // not read when opening
    FlipBits(sample, path, effort, check);
    CutShort(sample, path, effort, check);
    Scribble(sample, path, effort, check);
    if (!effort.is_first()) continue;
    Extend(sample, path, check);
    ReplacePieces(sample, path, effort, check);
  }
}

void SwapBlocks(const Sample& sample, const Effort& effort, const CheckMutation& check) {
  for (const auto& [path, bytes] : sample.files) {
    if (KindOf(path) != "table") continue;
    SwapInside(sample, path, effort, check);
    if (!effort.is_first()) continue;
    for (const auto& [other, other_bytes] : sample.files) {
      if (other > path && KindOf(other) == "table") SwapBetween(sample, path, other, check);
    }
  }
}

void MoveFiles(const Sample& sample, const CheckMutation& check) {
  for (const auto& [path, bytes] : sample.files) {
    Mutation deleted = Changed(sample, "deletions", path, "deleted");
    deleted.files.erase(path);
    check(deleted);
    DeletePairs(sample, path, check);
    for (const auto& [other, other_bytes] : sample.files) {
      if (other <= path || bytes == other_bytes) continue;
      Mutation swapped = Changed(sample, "file swaps", path, StrCat("swapped with ", other));
      if (KindOf(other) == "log") swapped.path = other;
      std::swap(swapped.files[path], swapped.files[other]);
      check(swapped);
      Mutation copied = Changed(sample, "file copies", path, StrCat("holds a copy of ", other));
      copied.files[path] = other_bytes;
      check(copied);
    }
    const auto sister = sample.sister.find(path);
    if (sister == sample.sister.end() || sister->second == bytes) continue;
    Mutation foreign = Changed(sample, "file copies", path, "from another database");
    foreign.files[path] = sister->second;
    foreign.is_twin = KindOf(path) == "log";
    check(foreign);
  }
}

// These must have no effect, except that a file with the name of a log is a log.
void AddStrayFiles(const Sample& sample, const Sample& other, const CheckMutation& check) {
  const std::string dir = std::string(kSampleDir) + "/";
  const auto add = [&](const std::string& name, const std::string& bytes) {
    Mutation mutation{
        .name = "stray " + name, .kind = "stray files", .path = "stray", .files = sample.files};
    mutation.files.emplace(dir + name, bytes);
    check(mutation);
  };
  for (const char* name : {"CURRENT.tmp", "000001.dbtmp", "000777.dbtmp", "CURRENT.bak"}) {
    add(name, "MANIFEST-000001\n");
    add(name, "");
  }
  // clang-format off
  for (const char* name : {"000777.sst", "000002.sst", "777.sst", "0000000000000000000777.sst",
                           "99999999999999999999999.sst", "18446744073709551615.sst",
                           "18446744073709551616.log", "-1.log", "+1.sst", "0x10.sst", " 7.sst",
                           "1e3.log", ".sst", ".log", "000777.SST", "000777.blob", "000777.ldb",
                           "MANIFEST-", "MANIFEST-000777", "MANIFEST-99999999999999999999999",
                           "OPTIONS-", "OPTIONS-99999999999999999999", "LOG.old.1", "LOG.old.",
                           "archive", "lost", "IDENTITY.tmp", "\xff\xfe", "METADB-000777"}) {
    // clang-format on
    add(name, "");
    add(name, Random64(7).Bytes(100));
  }
  for (const auto& [path, bytes] : other.files) {
    if (KindOf(path) == "table") add("000778.sst", bytes);
  }
  for (const char* name : {"000779.log", "000001.log"}) {
    add(name, "");
    add(name, std::string(4096, '\0'));
  }
  for (const char* name : {"000777.sst", "000777.log", "MANIFEST-000777", "000777.dbtmp", "archive",
                           "CURRENT.tmp", "OPTIONS-000777", "LOG.old.5"}) {
    check({.name = StrCat("directory ", name),
           .kind = "stray files",
           .path = "stray",
           .files = sample.files,
           .directories = {dir + name}});
  }
}

}  // namespace ashlar
