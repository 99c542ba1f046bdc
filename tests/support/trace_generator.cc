// SPDX-License-Identifier: Apache-2.0
//
// Draws operations by weight.
#include "tests/support/trace_generator.h"

#include <algorithm>

namespace ashlar {
namespace {

constexpr size_t kMaxFamilies = 4;
constexpr size_t kMaxObjects = 6;
constexpr uint64_t kCrashPolicyCount = 6;  // env/sim/sim_model.h

// Keys of difficult shapes: empty, runs of 0x00 and 0xFF, prefixes of each other, long ones.
std::string DrawKey(Random64* random) {
  switch (random->Uniform(12)) {
    case 0: return random->OneIn(4) ? "" : std::string(1, static_cast<char>(random->Uniform(256)));
    case 1: return std::string(random->Uniform(6), '\0');
    case 2: return std::string(random->Uniform(6), '\xff');
    case 3: return std::string(200, 'p') + random->Letters(1 + random->Uniform(3));
    case 4: return std::string("abcabcabc").substr(0, random->Uniform(10));
    case 5: return random->Bytes(random->Uniform(12));
    case 6: return random->OneIn(10) ? random->Letters(3000) : random->Letters(30);
    default: return random->Letters(1 + random->Uniform(5));
  }
}

}  // namespace

TraceGenerator::TraceGenerator(uint64_t seed, const TraceProfile& profile)
    : random_(seed), profile_(profile) {
  for (unsigned i = 0; i < profile.pool_keys; ++i) {
    std::string key = DrawKey(&random_);
    if (key.substr(0, 2) != "sd") pool_.push_back(std::move(key));
  }
  weights_ = {{OpKind::kPut, 120},  {OpKind::kDelete, 50}, {OpKind::kSingleDelete, 20},
              {OpKind::kBatch, 60}, {OpKind::kFlush, 4},   {OpKind::kCompact, 3},
              {OpKind::kSyncWal, 2}};
  const auto add = [this](std::initializer_list<std::pair<OpKind, unsigned>> more) {
    weights_.insert(weights_.end(), more);
  };
  if (profile.has_merges) add({{OpKind::kMerge, 70}});
  if (profile.has_failing_merges) add({{OpKind::kFailingMerge, 3}});
  if (profile.has_reads) {
    add({{OpKind::kGet, 100},
         {OpKind::kMultiGet, 40},
         {OpKind::kMultiGetFamilies, 30},
         {OpKind::kPrefixScan, 30},
         {OpKind::kVerify, 1}});
  }
  if (profile.has_iterators) {
    add({{OpKind::kIter, 15},
         {OpKind::kIterClose, 8},
         {OpKind::kSeek, 55},
         {OpKind::kSeekForPrev, 55},
         {OpKind::kFirst, 12},
         {OpKind::kLast, 12},
         {OpKind::kNext, 90},
         {OpKind::kPrev, 90},
         {OpKind::kRefresh, 10},
         {OpKind::kSnapshot, 8},
         {OpKind::kRelease, 7}});
  }
  if (profile.has_families) add({{OpKind::kCreateFamily, 2}, {OpKind::kDropFamily, 1}});
  if (profile.has_set_options) add({{OpKind::kSetOptions, 2}});
  if (profile.has_reopen) add({{OpKind::kReopen, 3}});
  if (profile.has_copies) {
    add({{OpKind::kKeyMayExist, 5},
         {OpKind::kApproximateSize, 2},
         {OpKind::kSetDbOptions, 1},
         {OpKind::kCheckpoint, 1},
         {OpKind::kReadOnlyOpen, 1},
         {OpKind::kWaitIdle, 1}});
  }
  if (profile.has_pauses) {
    add({{OpKind::kPause, 1}, {OpKind::kContinue, 2}, {OpKind::kClockJump, 2}});
  }
  if (profile.has_crashes) add({{OpKind::kCrash, 3}});
  for (const auto& weight : weights_) total_weight_ += weight.second;
}

std::string TraceGenerator::Key() {
  if (random_.PercentTrue(60)) return pool_[random_.Uniform(pool_.size())];
  if (profile_.has_big_ones && random_.OneIn(400)) {
    return std::string(70000, 'k') + random_.Letters(1);
  }
  std::string key = DrawKey(&random_);
  // Neighbours: keys that differ in the last byte.
  if (random_.OneIn(4)) {
    key = pool_[random_.Uniform(pool_.size())];
    if (!key.empty()) key.back() = static_cast<char>(key.back() + (random_.OneIn(2) ? 1 : -1));
  }
  return key.substr(0, 2) == "sd" ? "x" + key : key;
}

// After a crash the generator does not know which of the earlier keys are live.
std::string TraceGenerator::SingleKey() {
  return "sd" + std::to_string(crashes_) + "_" + std::to_string(random_.Uniform(30));
}

ValueSpec TraceGenerator::Value() {
  static constexpr uint32_t kSizes[] = {0, 1, 100, 511, 512, 513, 4095, 4097, 32767, 32769};
  if (profile_.has_big_ones && random_.OneIn(300)) return {next_tag_++, 70000};
  uint32_t size = static_cast<uint32_t>(random_.Uniform(60));
  if (random_.OneIn(6)) size = kSizes[random_.Uniform(random_.OneIn(8) ? std::size(kSizes) : 6)];
  return {next_tag_++, std::min(size, profile_.max_value)};
}

int TraceGenerator::Family() { return families_[random_.Uniform(families_.size())]; }

// A put, delete, single-delete or delete-range that is legal now; some ranges are empty or
// reversed.
BatchPart TraceGenerator::Part() {
  BatchPart part;
  part.family = Family();
  if (random_.OneIn(24)) {
    part.kind = OpKind::kDeleteRange;
    part.key = random_.OneIn(8) ? "" : Key();
    part.end = random_.OneIn(8) ? part.key : random_.OneIn(8) ? "\xff\xff" : Key();
    if (part.end < part.key && !random_.OneIn(8)) std::swap(part.key, part.end);
    return part;
  }
  if (random_.OneIn(8)) {
    part.key = SingleKey();
    const auto id = std::make_pair(part.family, part.key);
    if (live_single_.erase(id) != 0) {
      part.kind = OpKind::kSingleDelete;
      return part;
    }
    live_single_.insert(id);
  } else {
    part.key = Key();
    if (random_.PercentTrue(30)) {
      part.kind = OpKind::kDelete;
      return part;
    }
  }
  const bool is_merge = profile_.has_merges && part.key.substr(0, 2) != "sd" && random_.OneIn(3);
  part.kind = is_merge ? OpKind::kMerge : OpKind::kPut;
  part.value = Value();
  return part;
}

void TraceGenerator::FillRead(TraceOp* op) {
  op->family = Family();
  const size_t count = op->kind == OpKind::kMultiGet ? 2 + random_.Skewed(6) % 39 : 1;
  for (size_t i = 0; i < count; ++i) {
    op->keys.push_back(random_.OneIn(8) ? SingleKey() : Key());
  }
  if (count > 1 && random_.OneIn(2)) op->keys.push_back(op->keys.front());
  if (!snapshots_.empty() && random_.OneIn(3)) {
    op->snapshot = snapshots_[random_.Uniform(snapshots_.size())];
  }
}

// Some keys occur twice, some in a family that does not have them; sometimes they are in order.
void TraceGenerator::FillReadOfFamilies(TraceOp* op) {
  const size_t count = 1 + random_.Skewed(6) % 50;
  for (size_t i = 0; i < count; ++i) {
    const bool repeats = i > 0 && random_.OneIn(6);
    op->parts.push_back({OpKind::kGet, Family(), repeats ? op->parts[i / 2].key : Key(), {}, {}});
  }
  if (random_.OneIn(3)) op->text = "sorted";
  if (!snapshots_.empty() && random_.OneIn(3)) {
    op->snapshot = snapshots_[random_.Uniform(snapshots_.size())];
  }
}

void TraceGenerator::FillPrefixScan(TraceOp* op) {
  op->family = Family();
  op->keys.push_back(Key());
  op->object = random_.OneIn(3) ? 1 : 0;
  op->text = random_.OneIn(2) ? "same" : "free";
  if (!snapshots_.empty() && random_.OneIn(3)) {
    op->snapshot = snapshots_[random_.Uniform(snapshots_.size())];
  }
}

void TraceGenerator::FillIter(TraceOp* op) {
  op->object = next_object_++;
  op->family = Family();
  if (!snapshots_.empty() && random_.OneIn(3)) {
    op->snapshot = snapshots_[random_.Uniform(snapshots_.size())];
  }
  if (random_.OneIn(4)) op->lower = Key();
  if (random_.OneIn(4)) op->upper = Key();
  op->is_tailing = op->snapshot < 0 && random_.OneIn(5);
  iterators_.push_back(op->object);
}

// Operations on iterators and snapshots; false if there is none.
bool TraceGenerator::FillObject(TraceOp* op) {
  std::vector<int>& objects = op->kind == OpKind::kRelease ? snapshots_ : iterators_;
  if (objects.empty()) return false;
  const size_t index = random_.Uniform(objects.size());
  op->object = objects[index];
  if (op->kind == OpKind::kRelease || op->kind == OpKind::kIterClose) {
    objects.erase(objects.begin() + static_cast<ptrdiff_t>(index));
  }
  if (op->kind == OpKind::kSeek || op->kind == OpKind::kSeekForPrev) op->keys.push_back(Key());
  return true;
}

bool TraceGenerator::FillFamilyChange(TraceOp* op) {
  if (op->kind == OpKind::kCreateFamily) {
    if (families_.size() >= kMaxFamilies) return false;
    op->family = next_family_++;
    families_.push_back(op->family);
    return true;
  }
  if (families_.size() < 2) return false;
  const size_t index = 1 + random_.Uniform(families_.size() - 1);
  op->family = families_[index];
  families_.erase(families_.begin() + static_cast<ptrdiff_t>(index));
  return true;
}

std::string TraceGenerator::SetOption() {
  const auto number = [](uint64_t n) { return std::to_string(n); };
  switch (random_.Uniform(12)) {
    case 0: return "write_buffer_size=" + number(4096u << random_.Uniform(6));
    case 1: return "target_file_size_base=" + number(1024u << random_.Uniform(6));
    case 2: return "max_bytes_for_level_base=" + number(4096u << random_.Uniform(6));
    case 3: return "level0_file_num_compaction_trigger=" + number(1 + random_.Uniform(5));
    case 4: return "max_write_buffer_number=" + number(2 + random_.Uniform(4));
    case 5: return "max_bytes_for_level_multiplier=" + number(2 + random_.Uniform(9));
    case 6: return "target_file_size_multiplier=" + number(1 + random_.Uniform(3));
    case 7: return "max_compaction_bytes=" + number(random_.OneIn(2) ? 0 : 20000);
    case 8: return "arena_block_size=" + number(1024u << random_.Uniform(4));
    case 9: return "compression=kNoCompression";
    case 10: return "soft_pending_compaction_bytes_limit=" + number(random_.OneIn(2) ? 0 : 30000);
    default:
      return random_.OneIn(2) ? "disable_auto_compactions=true" : "disable_auto_compactions=false";
  }
}

std::string TraceGenerator::SetDbOption() {
  const auto number = [](uint64_t n) { return std::to_string(n); };
  switch (random_.Uniform(6)) {
    case 0: return "max_background_jobs=" + number(1 + random_.Uniform(5));
    case 1: return "max_total_wal_size=" + number(random_.OneIn(2) ? 0 : 10000);
    case 2: return "compaction_readahead_size=" + number(random_.OneIn(2) ? 0 : 100000);
    case 3: return "max_subcompactions=" + number(1 + random_.Uniform(4));
    case 4: return "delete_obsolete_files_period_micros=" + number(random_.Uniform(3) * 1000);
    default: return "delayed_write_rate=" + number(1000000 + random_.Uniform(1 << 20));
  }
}

void TraceGenerator::ForgetObjects() {
  iterators_.clear();
  snapshots_.clear();
}

TraceOp TraceGenerator::Next() {
  TraceOp op;
  do {
    op = TraceOp();
    uint64_t ticket = random_.Uniform(total_weight_);
    size_t i = 0;
    while (ticket >= weights_[i].second) ticket -= weights_[i++].second;
    op.kind = weights_[i].first;
  } while (!Fill(&op));
  if (op.IsWrite()) {
    op.disable_wal = random_.PercentTrue(profile_.no_wal_percent);
    op.sync = !op.disable_wal && random_.PercentTrue(profile_.sync_percent);
  }
  return op;
}

// False: not possible now.
bool TraceGenerator::Fill(TraceOp* op) {
  switch (op->kind) {
    case OpKind::kPut:
    case OpKind::kDelete:
    case OpKind::kSingleDelete:
    case OpKind::kDeleteRange: {
      const BatchPart part = Part();
      op->kind = part.kind;
      op->family = part.family;
      op->keys = {part.key};
      if (part.kind == OpKind::kDeleteRange) op->keys.push_back(part.end);
      op->value = part.value;
      return true;
    }
    case OpKind::kMerge:
      op->family = Family();
      op->keys = {random_.OneIn(6) ? pool_.front() : Key()};
      op->value = Value();
      return true;
    case OpKind::kBatch:
      for (uint64_t n = 1 + random_.Skewed(5); n > 0; --n) op->parts.push_back(Part());
      if (profile_.has_hidden_failures && random_.OneIn(6)) {
        op->parts.push_back({OpKind::kFailingMerge, Family(), Key(), {}, {}});
      }
      return true;
    case OpKind::kGet:
    case OpKind::kKeyMayExist:
    case OpKind::kMultiGet: FillRead(op); return true;
    case OpKind::kMultiGetFamilies: FillReadOfFamilies(op); return true;
    case OpKind::kPrefixScan: FillPrefixScan(op); return true;
    case OpKind::kFailingMerge:
      op->family = Family();
      op->keys = {"fails" + Key()};
      op->text = std::to_string(random_.Uniform(16));
      return true;
    case OpKind::kIter:
      if (iterators_.size() >= kMaxObjects) return false;
      FillIter(op);
      return true;
    case OpKind::kSnapshot:
      if (snapshots_.size() >= kMaxObjects) return false;
      op->object = next_object_++;
      snapshots_.push_back(op->object);
      return true;
    case OpKind::kCreateFamily:
    case OpKind::kDropFamily: return FillFamilyChange(op);
    case OpKind::kIterClose:
    case OpKind::kSeek:
    case OpKind::kSeekForPrev:
    case OpKind::kFirst:
    case OpKind::kLast:
    case OpKind::kNext:
    case OpKind::kPrev:
    case OpKind::kRefresh:
    case OpKind::kRelease: return FillObject(op);
    default: FillStructure(op); return true;
  }
}

void TraceGenerator::FillStructure(TraceOp* op) {
  switch (op->kind) {
    case OpKind::kFlush: op->family = Family(); break;
    case OpKind::kCompact:
    case OpKind::kApproximateSize:
      op->family = Family();
      if (random_.OneIn(2)) op->lower = Key();
      if (random_.OneIn(2)) op->upper = Key();
      break;
    case OpKind::kSetOptions:
      op->family = Family();
      op->text = SetOption();
      break;
    case OpKind::kSetDbOptions: op->text = SetDbOption(); break;
    case OpKind::kReopen:
      ForgetObjects();
      if (profile_.has_copies && random_.OneIn(2)) op->text = std::to_string(random_.Next32());
      break;
    case OpKind::kCrash:
      ForgetObjects();
      ++crashes_;
      live_single_.clear();
      op->text = std::to_string(random_.Uniform(kCrashPolicyCount)) + "," +
                 std::to_string(random_.Next32());
      break;
    case OpKind::kClockJump:
      op->text =
          std::to_string(static_cast<int64_t>(random_.Skewed(26)) * (random_.OneIn(2) ? 1 : -1));
      break;
    default: break;
  }
}

}  // namespace ashlar
