// SPDX-License-Identifier: Apache-2.0
//
// SimModel replays logged calls and knows, for every file and directory, what is durable, what is
// only in memory, and the operations in between; from that it computes what a crash may leave.
//
//   durable --(pending operations, in order)--> live
//   sync of a file: its durable content becomes the live one. Sync of a directory: its entries do.
//   failed sync: what is pending is lost. Names can be seen until the crash all the same.
//
// A file's content and the names that lead to it are durable independently of each other, as POSIX
// allows. A rename within one directory is one pending operation, hence atomic; one across
// directories is two. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "env/fault/fault_file_system.h"
#include "util/random.h"

namespace ashlar {

// What a crash leaves of the operations since the last sync.
enum class CrashPolicy : uint8_t {
  kStrict,     // nothing: exactly what was synced
  kAll,        // everything: the death of the process only
  kTorn,       // everything, but each file's last unsynced write is cut short; the lost part is
               // absent, zero, or what was there before
  kReorder,    // any subset of the 512-byte pieces and of the directory operations
  kEntryLoss,  // one of: names lost but data kept; names kept but data lost; removals undone
  kSizeFirst,  // names and sizes, but zeros instead of the unsynced data
};
inline constexpr CrashPolicy kAllCrashPolicies[] = {
    CrashPolicy::kStrict,  CrashPolicy::kAll,       CrashPolicy::kTorn,
    CrashPolicy::kReorder, CrashPolicy::kEntryLoss, CrashPolicy::kSizeFirst};
const char* NameOf(CrashPolicy policy);
// False: the policy has one image per crash point, so the seed does not matter.
bool UsesSeed(CrashPolicy policy);

// All files with their content, and all directories, by clean path.
struct SimImage {
  std::map<std::string, std::string> files;
  std::vector<std::string> directories;

  uint64_t Hash() const;
};

struct SimOperation {
  enum class Type : uint8_t { kCall, kFailedSync, kSyncEverything };
  Type type = Type::kCall;
  FileCall call;     // of kSyncEverything only the index: that of the next call
  std::string data;  // what a write wrote
};

class SimModel {
 public:
  // Everything in `base` is durable.
  explicit SimModel(const SimImage& base);
  ~SimModel();

  // `operation` must outlive the model: pending writes point into it.
  void Apply(const SimOperation& operation);

  SimImage CrashImage(CrashPolicy policy, uint64_t seed) const;

  // Content after the dirty bytes of an open file were dropped, and a path that leads to it now
  // (empty if none). For the live file system to follow a failed sync.
  struct DroppedFile {
    std::string path;
    std::string content;
  };
  DroppedFile ContentOf(uint64_t file_id) const;

 private:
  struct Node;
  using NodePtr = std::shared_ptr<Node>;
  struct PendingWrite;
  struct PendingEntry;
  class ImageBuilder;

  NodePtr Find(const std::string& path) const;
  // The directory that holds `path`, and the name in it; null if there is none.
  NodePtr FindParent(const std::string& path, std::string* name) const;
  NodePtr FindOrCreate(const std::string& path);
  void AddDirectory(const std::string& path);
  void Rename(const std::string& from, const std::string& to);
  void Write(Node* node, const SimOperation& operation);
  void Truncate(Node* node, uint64_t size);
  void LoseUnsynced(const FileCall& failed_sync);
  static void Sync(Node* node);
  static void SyncTree(Node* node);
  static bool FindPathTo(const Node& directory, const Node* wanted, std::string* path);

  NodePtr root_;
  std::unordered_map<uint64_t, NodePtr> open_files_;  // by file id
};

}  // namespace ashlar
