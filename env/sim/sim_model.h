// SPDX-License-Identifier: Apache-2.0
//
// SimModel replays logged calls. For every file and directory it knows what is durable, what is
// only in memory, and the operations in between. From these it computes what a crash may leave.
//
//   durable --(pending operations, in order)--> live
//   sync of a file: its durable content becomes the live one; of a directory: its entries do
//   failed sync: the pending operations are lost, but names stay visible until the crash
//
// The content of a file and the names that refer to it become durable independently, as POSIX
// allows. A rename within a directory is one pending operation, so that it is atomic; a rename
// across directories is two operations. Threads: one at a time.
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

// What a crash preserves of the operations since the last sync.
enum class CrashPolicy : uint8_t {
  kStrict,     // nothing: only what was synced
  kAll,        // everything: only the process died
  kTorn,       // everything, but each file's last unsynced write is cut short; the lost part is
               // absent, zero, or what was there before
  kReorder,    // any subset of the 512-byte pieces and of the directory operations
  kEntryLoss,  // one of: names lost but data kept; names kept but data lost; removals undone
  kSizeFirst,  // names and sizes, but zeros instead of the unsynced data
};
inline constexpr CrashPolicy kAllCrashPolicies[] = {
    CrashPolicy::kStrict,  CrashPolicy::kAll,       CrashPolicy::kTorn,
    CrashPolicy::kReorder, CrashPolicy::kEntryLoss, CrashPolicy::kSizeFirst};
// A literal, for messages of tests.
const char* NameOf(CrashPolicy policy);
// Whether the image depends on the seed. If not, the policy has one image for each crash point.
bool UsesSeed(CrashPolicy policy);

// All files with their contents, and all directories, by clean path.
struct SimImage {
  std::map<std::string, std::string> files;
  std::vector<std::string> directories;

  uint64_t Hash() const;
};

// One entry of the log of SimFS.
struct SimOperation {
  enum class Type : uint8_t { kCall, kFailedSync, kSyncEverything };
  Type type = Type::kCall;
  FileCall call;     // for kSyncEverything only the index, which is that of the next call
  std::string data;  // the written bytes
};

// See the head of this file. Deterministic: equal operations, policy and seed give equal images.
class SimModel {
 public:
  // All of `base` is durable.
  explicit SimModel(const SimImage& base);
  ~SimModel();

  // `operation` must outlive the model, because pending writes point into it.
  void Apply(const SimOperation& operation);

  // What a crash now would leave. The model itself does not change.
  SimImage CrashImage(CrashPolicy policy, uint64_t seed) const;

  // The content of an open file after its unsynced bytes were dropped, and a path of the file, or
  // "" if it has none any more. After a failed sync the live file system takes this over.
  struct DroppedFile {
    std::string path;
    std::string content;
  };
  // `file_id` is of an open file.
  DroppedFile ContentOf(uint64_t file_id) const;

 private:
  // An inode: a file or a directory.
  struct Node;
  using NodePtr = std::shared_ptr<Node>;
  // A write or truncation of a file that is not durable yet.
  struct PendingWrite;
  // A change of the entries of a directory that is not durable yet.
  struct PendingEntry;
  class ImageBuilder;

  // The live node at `path`, or null.
  NodePtr Find(const std::string& path) const;
  // Returns the parent directory of `path`, and sets *name to the name within it. Null if there is
  // no such directory.
  NodePtr FindParent(const std::string& path, std::string* name) const;
  // The live file at `path`; an empty new one if there is none. The parent directory exists.
  NodePtr FindOrCreate(const std::string& path);
  // Adds a directory, which is not durable yet.
  void AddDirectory(const std::string& path);
  // `from` exists. An existing `to` is replaced.
  void Rename(const std::string& from, const std::string& to);
  // `node`: an open file.
  void Write(Node* node, const SimOperation& operation);
  void Truncate(Node* node, uint64_t size);
  // Drops the pending operations of the file or directory whose sync failed.
  void LoseUnsynced(const FileCall& failed_sync);
  // Makes the node durable: the content of a file, or the names in a directory but not their
  // contents.
  static void Sync(Node* node);
  // Makes everything below the node durable.
  static void SyncTree(Node* node);
  // Searches for a live name of `wanted` below `directory` and appends its path. `*path` is
  // unchanged if there is none.
  static bool FindPathTo(const Node& directory, const Node* wanted, std::string* path);

  // The directory "/".
  NodePtr root_;
  std::unordered_map<uint64_t, NodePtr> open_files_;  // by file id
};

}  // namespace ashlar
