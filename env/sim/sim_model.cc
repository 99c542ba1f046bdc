// SPDX-License-Identifier: Apache-2.0
//
// SimModel: a small inode tree with two versions of everything, and the image builder.
#include "env/sim/sim_model.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "env/memory/memory_file_system.h"
#include "util/hash/hash.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr uint64_t kPieceBytes = 512;  // what a disk writes at once

void WriteInto(std::string* content, uint64_t offset, const Slice& data) {
  if (content->size() < offset + data.size()) content->resize(offset + data.size());
  std::copy(data.data(), data.data() + data.size(),
            content->begin() + static_cast<ptrdiff_t>(offset));
}

}  // namespace

const char* NameOf(CrashPolicy policy) {
  static constexpr std::array<const char*, 6> kNames = {"strict",  "all",        "torn",
                                                        "reorder", "entry-loss", "size-first"};
  return kNames[static_cast<size_t>(policy)];
}

bool UsesSeed(CrashPolicy policy) {
  return policy == CrashPolicy::kTorn || policy == CrashPolicy::kReorder ||
         policy == CrashPolicy::kEntryLoss;
}

uint64_t SimImage::Hash() const {
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
  uint64_t offset;  // of a truncation: the new size
  Slice data;       // points into the logged operation

  void ApplyTo(std::string* content) const {
    if (is_truncate) {
      content->resize(offset);
    } else {
      WriteInto(content, offset, data);
    }
  }
};

// Removes one name, adds one, or both at once (a rename).
struct SimModel::PendingEntry {
  std::string removed;  // empty = none
  std::string added;    // empty = none
  NodePtr node;         // of `added`

  void ApplyTo(std::map<std::string, NodePtr>* entries) const {
    if (!removed.empty()) entries->erase(removed);
    if (!added.empty()) (*entries)[added] = node;
  }
};

struct SimModel::Node {
  explicit Node(bool is_directory) : is_directory(is_directory) {}

  const bool is_directory;
  // Of a file.
  std::string live;
  std::string durable;
  std::vector<PendingWrite> writes;  // durable + writes = live
  // Of a directory.
  std::map<std::string, NodePtr> live_entries;
  std::map<std::string, NodePtr> durable_entries;
  // durable_entries + changes = live_entries, but for changes that a failed sync has lost.
  std::vector<PendingEntry> changes;

  void Change(PendingEntry change) {
    change.ApplyTo(&live_entries);
    changes.push_back(std::move(change));
  }
};

SimModel::SimModel(const SimImage& base) : root_(std::make_shared<Node>(true)) {
  for (const std::string& path : base.directories) AddDirectory(path);
  for (const auto& [path, content] : base.files) {
    FindOrCreate(path)->live = content;
  }
  SyncTree(root_.get());
}

SimModel::~SimModel() = default;

SimModel::NodePtr SimModel::FindParent(const std::string& path, std::string* name) const {
  const std::string clean = MemoryFileSystem::CleanPath(path);
  NodePtr node = root_;
  size_t begin = 1;
  for (size_t end; (end = clean.find('/', begin)) != std::string::npos; begin = end + 1) {
    const auto entry = node->live_entries.find(clean.substr(begin, end - begin));
    if (entry == node->live_entries.end() || !entry->second->is_directory) return nullptr;
    node = entry->second;
  }
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

// With its parents, like MemoryFileSystem.
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
  assert(old_parent != nullptr && new_parent != nullptr);
  const auto entry = old_parent->live_entries.find(old_name);
  assert(entry != old_parent->live_entries.end());
  const NodePtr node = entry->second;
  if (old_parent == new_parent) {
    if (old_name != new_name) old_parent->Change({old_name, new_name, node});
  } else {
    new_parent->Change({"", new_name, node});
    old_parent->Change({old_name, "", nullptr});
  }
}

void SimModel::Write(Node* node, const SimOperation& operation) {
  WriteInto(&node->live, operation.call.offset, operation.data);
  node->writes.push_back({false, operation.call.offset, operation.data});
}

void SimModel::Truncate(Node* node, uint64_t size) {
  if (node->live.size() == size) return;
  node->live.resize(size);
  node->writes.push_back({true, size, Slice()});
}

void SimModel::Sync(Node* node) {
  if (node->is_directory) {
    for (const PendingEntry& change : node->changes) change.ApplyTo(&node->durable_entries);
    node->changes.clear();
    return;
  }
  // Cheaper than copying the live content: a log is synced often and grows by little.
  for (const PendingWrite& write : node->writes) write.ApplyTo(&node->durable);
  node->writes.clear();
  if (node->durable.size() != node->live.size()) node->durable = node->live;
}

void SimModel::SyncTree(Node* node) {
  if (!node->is_directory) {
    node->writes.clear();
    node->durable = node->live;
    return;
  }
  Sync(node);
  for (const auto& [name, child] : node->live_entries) SyncTree(child.get());
}

// Of a file the kernel drops the dirty pages and marks them clean: the size stays, the bytes are
// gone. The names of a directory can still be seen.
void SimModel::LoseUnsynced(const FileCall& failed_sync) {
  if (failed_sync.kind == CallKind::kSyncDirectory) {
    if (const NodePtr node = Find(failed_sync.path)) node->changes.clear();
    return;
  }
  Node* node = open_files_[failed_sync.file_id].get();
  const size_t size = node->live.size();
  node->live = node->durable;
  node->live.resize(size);
  node->writes.clear();
  if (node->durable.size() != size) node->writes.push_back({true, size, Slice()});
}

void SimModel::Apply(const SimOperation& operation) {
  const FileCall& call = operation.call;
  if (operation.type == SimOperation::Type::kSyncEverything) return SyncTree(root_.get());
  if (operation.type == SimOperation::Type::kFailedSync) return LoseUnsynced(call);
  switch (call.kind) {
    case CallKind::kCreate:
      open_files_[call.file_id] = FindOrCreate(call.path);
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
      FindParent(call.target, &name)->Change({"", name, Find(call.path)});
      return;
    }
    case CallKind::kUnlink:
    case CallKind::kRemoveDirectory: {
      std::string name;
      FindParent(call.path, &name)->Change({name, "", nullptr});
      return;
    }
    case CallKind::kMakeDirectory: return AddDirectory(call.path);
    case CallKind::kLock: FindOrCreate(call.path); return;
    default: return;  // write-out, allocation and reads leave nothing behind
  }
}

bool SimModel::FindPathTo(const Node& directory, const Node* wanted, std::string* path) {
  const size_t size = path->size();
  for (const auto& [name, child] : directory.live_entries) {
    StrAppend(path, "/", name);
    if (child.get() == wanted) return true;
    if (child->is_directory && FindPathTo(*child, wanted, path)) return true;
    path->resize(size);
  }
  return false;
}

SimModel::DroppedFile SimModel::ContentOf(uint64_t file_id) const {
  const Node* node = open_files_.at(file_id).get();
  DroppedFile result;
  result.content = node->live;
  if (!FindPathTo(*root_, node, &result.path)) result.path.clear();
  return result;
}

// Walks the tree as it survives. Draws come in a fixed order, so a seed names one image.
class SimModel::ImageBuilder {
 public:
  ImageBuilder(CrashPolicy policy, uint64_t seed)
      : policy_(policy),
        random_(seed),
        entry_case_(static_cast<unsigned>(random_.Uniform(3))),
        percent_kept_(std::array{15u, 50u, 85u}[random_.Uniform(3)]) {}

  SimImage Build(const Node& root) {
    image_.directories.push_back("/");
    AddDirectory(root, "");
    return std::move(image_);
  }

 private:
  void AddDirectory(const Node& directory, const std::string& path) {
    for (const auto& [name, child] : SurvivingEntries(directory)) {
      const std::string child_path = StrCat(path, "/", name);
      if (child->is_directory) {
        image_.directories.push_back(child_path);
        AddDirectory(*child, child_path);
      } else {
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

  // Keeps the first bytes of the last write.
  std::string TornContent(const Node& node) {
    const PendingWrite& last = node.writes.back();
    if (last.is_truncate || last.data.empty()) return node.live;
    std::string content = node.durable;
    for (size_t i = 0; i + 1 < node.writes.size(); ++i) node.writes[i].ApplyTo(&content);
    const size_t kept = DrawCut(last.offset, last.data.size());
    WriteInto(&content, last.offset, Slice(last.data.data(), kept));
    // What was there before stays where the file was long enough (a recycled log). Else the lost
    // part is absent, or the size was written before the data and it is zero.
    if (random_.OneIn(2)) {
      content.resize(std::max<size_t>(content.size(), last.offset + last.data.size()));
      if (random_.OneIn(2)) {
        std::fill(content.begin() + static_cast<ptrdiff_t>(last.offset + kept),
                  content.begin() + static_cast<ptrdiff_t>(last.offset + last.data.size()), '\0');
      }
    }
    return content;
  }

  // 0, 1, half, all but one, or a border between two pieces.
  size_t DrawCut(uint64_t offset, size_t size) {
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
      for (size_t begin = 0; begin < write.data.size();) {
        const uint64_t offset = write.offset + begin;
        const size_t to_border = static_cast<size_t>(kPieceBytes - offset % kPieceBytes);
        const size_t size = std::min(to_border, write.data.size() - begin);
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
  const unsigned entry_case_;    // of kEntryLoss: which of the three
  const unsigned percent_kept_;  // of kReorder and kEntryLoss
  SimImage image_;
  // One content for all names of a file; points into image_.
  std::unordered_map<const Node*, const std::string*> contents_;
};

SimImage SimModel::CrashImage(CrashPolicy policy, uint64_t seed) const {
  return ImageBuilder(policy, seed).Build(*root_);
}

}  // namespace ashlar
