// SPDX-License-Identifier: Apache-2.0
//
// SimModel is a small tree of inodes with two versions of everything. This file also has the
// builder of crash images.
#include "env/sim/sim_model.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "env/memory/memory_file_system.h"
#include "util/hash/hash.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr uint64_t kPieceBytes = 512;  // the unit that a disk writes at once

void WriteInto(std::string* content, uint64_t offset, const Slice& data) {
  // A write behind the end leaves a gap of zeros, as on a real file system.
  assert(content != nullptr);
  if (content->size() < offset + data.size()) content->resize(offset + data.size());
  assert(content->size() >= offset + data.size());
  std::copy(data.data(), data.data() + data.size(),
            content->begin() + static_cast<ptrdiff_t>(offset));
}

}  // namespace

const char* NameOf(CrashPolicy policy) {
  static constexpr std::array<const char*, 6> kNames = {"strict",  "all",        "torn",
                                                        "reorder", "entry-loss", "size-first"};
  assert(static_cast<size_t>(policy) < kNames.size());
  return kNames[static_cast<size_t>(policy)];
}

bool UsesSeed(CrashPolicy policy) {
  return policy == CrashPolicy::kTorn || policy == CrashPolicy::kReorder ||
         policy == CrashPolicy::kEntryLoss;
}

uint64_t SimImage::Hash() const {
  // The map is sorted, so equal images give equal hashes.
  uint64_t hash = 0;
  for (const auto& [path, content] : files) {
    hash = XxHash64(path.data(), path.size(), hash);
    hash = XxHash64(content.data(), content.size(), hash);
  }
  for (const std::string& path : directories) hash = XxHash64(path.data(), path.size(), hash + 1);
  return hash;
}

struct SimModel::PendingWrite {
  bool is_truncate;
  uint64_t offset;  // for a truncation the new size
  Slice data;       // points into the logged operation

  void ApplyTo(std::string* content) const {
    assert(content != nullptr);
    if (is_truncate) {
      content->resize(offset);
    } else {
      WriteInto(content, offset, data);
    }
  }
};

// A change of a directory that removes a name, adds one, or does both at once. A rename does both,
// so that a crash never leaves both names or none.
struct SimModel::PendingEntry {
  std::string removed;  // empty = none
  std::string added;    // empty = none
  NodePtr node;         // what `added` refers to

  void ApplyTo(std::map<std::string, NodePtr>* entries) const {
    assert(entries != nullptr);
    assert(added.empty() || node != nullptr);
    if (!removed.empty()) entries->erase(removed);
    if (!added.empty()) (*entries)[added] = node;
  }
};

// Live: as the program sees it. Durable: as a crash leaves it at least.
struct SimModel::Node {
  explicit Node(bool is_directory) : is_directory(is_directory) {}

  const bool is_directory;
  // The next three members are used only if the node is a file.
  std::string live;
  std::string durable;
  std::vector<PendingWrite> writes;  // `durable` with these applied is `live`
  // The next three members are used only if the node is a directory.
  std::map<std::string, NodePtr> live_entries;
  std::map<std::string, NodePtr> durable_entries;
  // `durable_entries` with these applied are `live_entries`, except for changes that a failed sync
  // has lost.
  std::vector<PendingEntry> changes;

  void Change(PendingEntry change) {
    assert(is_directory);
    change.ApplyTo(&live_entries);
    changes.push_back(std::move(change));
  }
};

SimModel::SimModel(const SimImage& base) : root_(std::make_shared<Node>(true)) {
  for (const std::string& path : base.directories) AddDirectory(path);
  for (const auto& [path, content] : base.files) {
    FindOrCreate(path)->live = content;
  }
  // The base is durable, including its names.
  SyncTree(root_.get());
}

SimModel::~SimModel() = default;

SimModel::NodePtr SimModel::FindParent(const std::string& path, std::string* name) const {
  assert(name != nullptr);
  const std::string clean = MemoryFileSystem::CleanPath(path);
  NodePtr node = root_;
  size_t begin = 1;
  for (size_t end; (end = clean.find('/', begin)) != std::string::npos; begin = end + 1) {
    // Only what the program sees counts; names that are not durable yet exist for it.
    const auto entry = node->live_entries.find(clean.substr(begin, end - begin));
    if (entry == node->live_entries.end() || !entry->second->is_directory) return nullptr;
    node = entry->second;
  }
  assert(begin <= clean.size());
  *name = clean.substr(begin);
  return node;
}

SimModel::NodePtr SimModel::Find(const std::string& path) const {
  std::string name;
  const NodePtr parent = FindParent(path, &name);
  if (parent == nullptr) return nullptr;
  if (name.empty()) return parent;  // the root
  const auto entry = parent->live_entries.find(name);
  return entry == parent->live_entries.end() ? nullptr : entry->second;
}

SimModel::NodePtr SimModel::FindOrCreate(const std::string& path) {
  std::string name;
  const NodePtr parent = FindParent(path, &name);
  assert(parent != nullptr && "the live file system has checked it");
  const auto entry = parent->live_entries.find(name);
  if (entry != parent->live_entries.end()) return entry->second;
  auto node = std::make_shared<Node>(/*is_directory=*/false);
  parent->Change({"", name, node});
  return node;
}

// Also creates missing parents, as MemoryFileSystem does.
void SimModel::AddDirectory(const std::string& path) {
  const std::string clean = MemoryFileSystem::CleanPath(path);
  NodePtr node = root_;
  for (size_t begin = 1; begin < clean.size();) {
    const size_t end = std::min(clean.find('/', begin), clean.size());
    const std::string name = clean.substr(begin, end - begin);
    const auto entry = node->live_entries.find(name);
    if (entry != node->live_entries.end()) {
      node = entry->second;
    } else {
      auto child = std::make_shared<Node>(/*is_directory=*/true);
      node->Change({"", name, child});
      node = child;
    }
    begin = end + 1;
  }
}

void SimModel::Rename(const std::string& from, const std::string& to) {
  std::string old_name, new_name;
  const NodePtr old_parent = FindParent(from, &old_name);
  const NodePtr new_parent = FindParent(to, &new_name);
  assert(old_parent != nullptr);
  assert(new_parent != nullptr);
  const auto entry = old_parent->live_entries.find(old_name);
  assert(entry != old_parent->live_entries.end());
  assert(entry->second != nullptr);
  const NodePtr node = entry->second;
  // In one directory a rename is one change, so a crash leaves one of the two names.
  if (old_parent == new_parent) {
    if (old_name != new_name) old_parent->Change({old_name, new_name, node});
  } else {
    // In this order a crash may leave both names but not lose the file.
    new_parent->Change({"", new_name, node});
    old_parent->Change({old_name, "", nullptr});
  }
}

void SimModel::Write(Node* node, const SimOperation& operation) {
  assert(node != nullptr);
  assert(!node->is_directory);
  // The write is remembered until a sync, so that a crash image can drop or cut it.
  WriteInto(&node->live, operation.call.offset, operation.data);
  node->writes.push_back({false, operation.call.offset, operation.data});
}

void SimModel::Truncate(Node* node, uint64_t size) {
  assert(node != nullptr);
  assert(!node->is_directory);
  // Nothing changes, so there is nothing that a crash could lose.
  if (node->live.size() == size) return;
  node->live.resize(size);
  node->writes.push_back({true, size, Slice()});
}

void SimModel::Sync(Node* node) {
  assert(node != nullptr);
  if (node->is_directory) {
    // In their order, because later changes may concern the same names.
    for (const PendingEntry& change : node->changes) change.ApplyTo(&node->durable_entries);
    node->changes.clear();
    return;
  }
  // Cheaper than copying the live content: a log is synced often and grows little in between.
  for (const PendingWrite& write : node->writes) write.ApplyTo(&node->durable);
  node->writes.clear();
  // Pending truncations and writes end at the size of the live content, except after a failed sync.
  if (node->durable.size() != node->live.size()) node->durable = node->live;
}

void SimModel::SyncTree(Node* node) {
  assert(node != nullptr);
  if (!node->is_directory) {
    node->writes.clear();
    node->durable = node->live;
    return;
  }
  Sync(node);
  for (const auto& [name, child] : node->live_entries) SyncTree(child.get());
}

// For a file, the kernel drops the dirty pages and marks them as clean: the size stays, but the
// bytes are lost. For a directory, the names stay visible.
void SimModel::LoseUnsynced(const FileCall& failed_sync) {
  if (failed_sync.kind == CallKind::kSyncDirectory) {
    if (const NodePtr node = Find(failed_sync.path)) node->changes.clear();
    return;
  }
  Node* node = open_files_[failed_sync.file_id].get();
  assert(node != nullptr);
  const size_t size = node->live.size();
  node->live = node->durable;
  node->live.resize(size);
  node->writes.clear();
  // The new size may be durable or not, as before.
  if (node->durable.size() != size) node->writes.push_back({true, size, Slice()});
}

void SimModel::Apply(const SimOperation& operation) {
  const FileCall& call = operation.call;
  if (operation.type == SimOperation::Type::kSyncEverything) return SyncTree(root_.get());
  if (operation.type == SimOperation::Type::kFailedSync) return LoseUnsynced(call);
  switch (call.kind) {
    case CallKind::kCreate:
      open_files_[call.file_id] = FindOrCreate(call.path);
      // Truncating a new file does nothing.
      return Truncate(open_files_[call.file_id].get(), 0);
    case CallKind::kReopen: open_files_[call.file_id] = FindOrCreate(call.path); return;
    case CallKind::kReuse:
      Rename(call.path, call.target);
      open_files_[call.file_id] = Find(call.target);
      return;
    case CallKind::kOpenReadWrite: open_files_[call.file_id] = Find(call.path); return;
    case CallKind::kAppend:
    case CallKind::kPositionedWrite:
    case CallKind::kStore: return Write(open_files_[call.file_id].get(), operation);
    case CallKind::kTruncate: {
      const NodePtr node = call.file_id != 0 ? open_files_[call.file_id] : Find(call.path);
      return Truncate(node.get(), call.size);
    }
    case CallKind::kGrow: {
      Node* const node = open_files_[call.file_id].get();
      return Truncate(node, std::max<uint64_t>(node->live.size(), call.size));
    }
    case CallKind::kSync: return Sync(open_files_[call.file_id].get());
    case CallKind::kSyncDirectory:
      if (const NodePtr node = Find(call.path)) Sync(node.get());
      return;
    case CallKind::kClose: open_files_.erase(call.file_id); return;
    case CallKind::kRename: return Rename(call.path, call.target);
    case CallKind::kLink: {
      std::string name;
      assert(!call.target.empty());
      FindParent(call.target, &name)->Change({"", name, Find(call.path)});
      return;
    }
    case CallKind::kUnlink:
    case CallKind::kRemoveDirectory: {
      std::string name;
      assert(!call.path.empty());
      FindParent(call.path, &name)->Change({name, "", nullptr});
      return;
    }
    case CallKind::kMakeDirectory: return AddDirectory(call.path);
    case CallKind::kLock: FindOrCreate(call.path); return;
    default: return;  // write-out, allocation and reads change nothing that survives
  }
}

bool SimModel::FindPathTo(const Node& directory, const Node* wanted, std::string* path) {
  assert(path != nullptr);
  const size_t size = path->size();
  for (const auto& [name, child] : directory.live_entries) {
    StrAppend(path, "/", name);
    // The path grows with the descent and is cut back after each branch without the file.
    if (child.get() == wanted) return true;
    if (child->is_directory && FindPathTo(*child, wanted, path)) return true;
    path->resize(size);
  }
  return false;
}

SimModel::DroppedFile SimModel::ContentOf(uint64_t file_id) const {
  const Node* node = open_files_.at(file_id).get();
  assert(node != nullptr);
  assert(!node->is_directory);
  DroppedFile result;
  result.content = node->live;
  if (!FindPathTo(*root_, node, &result.path)) result.path.clear();
  return result;
}

// Builds the tree that survives a crash. Random numbers are drawn in a fixed order, so that a seed
// determines the image.
// Used once, for one image.
class SimModel::ImageBuilder {
 public:
  ImageBuilder(CrashPolicy policy, uint64_t seed)
      : policy_(policy),
        random_(seed),
        entry_case_(static_cast<unsigned>(random_.Uniform(3))),
        percent_kept_(std::array{15u, 50u, 85u}[random_.Uniform(3)]) {}

  SimImage Build(const Node& root) {
    assert(image_.files.empty() && image_.directories.empty());
    image_.directories.push_back("/");
    AddDirectory(root, "");
    return std::move(image_);
  }

 private:
  void AddDirectory(const Node& directory, const std::string& path) {
    assert(directory.is_directory);
    for (const auto& [name, child] : SurvivingEntries(directory)) {
      const std::string child_path = StrCat(path, "/", name);
      if (child->is_directory) {
        image_.directories.push_back(child_path);
        AddDirectory(*child, child_path);
      } else {
        // All names of a file have the same content.
        const auto [known, is_new] = contents_.try_emplace(child.get(), nullptr);
        std::string& content = image_.files[child_path];
        content = is_new ? SurvivingContent(*child) : *known->second;
        known->second = &content;
      }
    }
  }

  std::map<std::string, NodePtr> SurvivingEntries(const Node& node) {
    if (policy_ == CrashPolicy::kStrict) return node.durable_entries;
    const bool loses_names = policy_ == CrashPolicy::kEntryLoss && entry_case_ == 0;
    const bool undoes_removals = policy_ == CrashPolicy::kEntryLoss && entry_case_ == 2;
    if (policy_ != CrashPolicy::kReorder && !loses_names && !undoes_removals) {
      return node.live_entries;
    }
    std::map<std::string, NodePtr> entries = node.durable_entries;
    // The changes are applied in order; each is kept or lost by itself.
    for (PendingEntry change : node.changes) {
      const bool is_kept = random_.PercentTrue(percent_kept_);
      if (undoes_removals) {
        if (!is_kept) change.removed.clear();
      } else if (!is_kept) {
        continue;
      }
      change.ApplyTo(&entries);
    }
    return entries;
  }

  std::string SurvivingContent(const Node& node) {
    // Without pending writes all policies agree.
    if (node.writes.empty()) return node.durable;
    switch (policy_) {
      case CrashPolicy::kStrict: return node.durable;
      case CrashPolicy::kAll: return node.live;
      case CrashPolicy::kTorn: return TornContent(node);
      case CrashPolicy::kReorder: return ReorderedContent(node);
      case CrashPolicy::kEntryLoss:
        return entry_case_ == 1 && random_.OneIn(2) ? node.durable : node.live;
      case CrashPolicy::kSizeFirst: {
        std::string content = node.durable;
        content.resize(node.live.size());
        return content;
      }
    }
    return node.live;
  }

  // Keeps only the first bytes of the last write.
  std::string TornContent(const Node& node) {
    assert(!node.writes.empty());
    const PendingWrite& last = node.writes.back();
    if (last.is_truncate || last.data.empty()) return node.live;
    std::string content = node.durable;
    for (size_t i = 0; i + 1 < node.writes.size(); ++i) node.writes[i].ApplyTo(&content);
    const size_t kept = DrawCut(last.offset, last.data.size());
    assert(kept <= last.data.size());
    WriteInto(&content, last.offset, Slice(last.data.data(), kept));
    // If the file was long enough (a recycled log), the old bytes remain in place of the lost part.
    // Otherwise that part is missing, or, if the size reached the disk before the data, it is zero.
    if (random_.OneIn(2)) {
      content.resize(std::max<size_t>(content.size(), last.offset + last.data.size()));
      if (random_.OneIn(2)) {
        std::fill(content.begin() + static_cast<ptrdiff_t>(last.offset + kept),
                  content.begin() + static_cast<ptrdiff_t>(last.offset + last.data.size()), '\0');
      }
    }
    return content;
  }

  // The number of bytes to keep: 0, 1, half, all but one, or up to a border between two pieces.
  size_t DrawCut(uint64_t offset, size_t size) {
    assert(size > 0);
    // The first border between two pieces behind the offset.
    const uint64_t first_border = (offset / kPieceBytes + 1) * kPieceBytes;
    const uint64_t end = offset + size;
    const uint64_t borders =
        first_border < end ? (end - first_border + kPieceBytes - 1) / kPieceBytes : 0;
    if (borders > 0 && random_.OneIn(2)) {
      return static_cast<size_t>(first_border + random_.Uniform(borders) * kPieceBytes - offset);
    }
    const size_t choices[] = {0, std::min<size_t>(1, size), size / 2, size - 1};
    return choices[random_.Uniform(4)];
  }

  std::string ReorderedContent(const Node& node) {
    std::string content = node.durable;
    for (const PendingWrite& write : node.writes) {
      if (write.is_truncate) {
        if (random_.PercentTrue(percent_kept_)) write.ApplyTo(&content);
        continue;
      }
      // Each piece that the disk writes at once survives or not, independently.
      for (size_t begin = 0; begin < write.data.size();) {
        const uint64_t offset = write.offset + begin;
        const size_t to_border = static_cast<size_t>(kPieceBytes - offset % kPieceBytes);
        const size_t size = std::min(to_border, write.data.size() - begin);
        assert(size > 0);
        if (random_.PercentTrue(percent_kept_)) {
          WriteInto(&content, offset, Slice(write.data.data() + begin, size));
        }
        begin += size;
      }
    }
    // The new size may be on disk although the last bytes are not.
    if (content.size() < node.live.size() && random_.OneIn(4)) content.resize(node.live.size());
    return content;
  }

  const CrashPolicy policy_;
  Random64 random_;
  const unsigned entry_case_;    // for kEntryLoss: which of its three cases
  const unsigned percent_kept_;  // for kReorder and kEntryLoss
  SimImage image_;
  // The content that was chosen for each file, for its further names; points into image_.
  std::unordered_map<const Node*, const std::string*> contents_;
};

SimImage SimModel::CrashImage(CrashPolicy policy, uint64_t seed) const {
  return ImageBuilder(policy, seed).Build(*root_);
}

}  // namespace ashlar
