// SPDX-License-Identifier: Apache-2.0
//
// Every change of the memtables, the version or the options ends in PublishSuperVersion().
#include "db/column_family/column_family_data.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/memtablerep.h"
#include "db/compaction/compaction_picker.h"
#include "db/options/bare_factories.h"
#include "db/options/memtable_factories.h"
#include "db/options/options_check.h"
#include "db/write/write_stall.h"
#include "memtable/empty_ranges.h"
#include "util/invariants.h"
#include "util/scope_exit.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {

namespace {

using Representation = MemTableOptions::Representation;

Representation RepresentationFor(const ColumnFamilyOptions& options) {
  switch (MemtableKindOf(options.memtable_factory.get())) {
    case MemtableKind::kSkipList: return Representation::kBlinkTree;
    case MemtableKind::kVector: return Representation::kVector;
    case MemtableKind::kOfProgram: return Representation::kOfProgram;
    case MemtableKind::kHash: break;
  }
  return options.prefix_extractor != nullptr ? Representation::kHash : Representation::kBlinkTree;
}

// Large memtables allocate blocks of the size of a huge page (see Arena), unless arena_block_size
// is set.
size_t ArenaBlockBytes(const ColumnFamilyOptions& options) {
  constexpr size_t kHugeWriteBuffer = 8 * Arena::kHugePageBytes;
  const size_t automatic = AutomaticArenaBlockBytes(options.write_buffer_size);
  const bool is_automatic = options.arena_block_size == 0 || options.arena_block_size == automatic;
  if (!is_automatic) return options.arena_block_size;
  return options.write_buffer_size >= kHugeWriteBuffer ? Arena::kHugePageBytes
                                                       : std::max<size_t>(automatic, 4096);
}

}  // namespace

// The options of a new memtable. The common prefix of the keys of the previous memtable is a guess
// for those of the new one. The Bloom filter takes a quarter of the memtable's memory at most.
MemTableOptions MemTableOptionsFrom(const ColumnFamilyOptions& options, const MemTable* previous) {
  MemTableOptions result;
  result.representation = RepresentationFor(options);
  if (result.representation == Representation::kHash) {
    result.hash = HashShapeOf(*options.memtable_factory);
  } else if (result.representation == Representation::kOfProgram) {
    result.factory = options.memtable_factory;
    result.hint_prefixes = options.memtable_insert_with_hint_prefix_extractor;
  }
  result.prefixes = options.prefix_extractor;
  result.arena_block_bytes = ArenaBlockBytes(options);
  if (previous != nullptr) result.common_prefix = previous->CommonPrefix();
  constexpr double kMaxBloomShare = 0.25;
  const double bloom_bytes =
      std::clamp(options.memtable_prefix_bloom_size_ratio, 0.0, kMaxBloomShare) *
      static_cast<double>(options.write_buffer_size);
  result.bloom_bits = static_cast<uint64_t>(bloom_bytes) * 8;
  result.bloom_whole_keys = options.memtable_whole_key_filtering;
  result.bloom_prefixes = options.prefix_extractor;
  result.updates_in_place = options.inplace_update_support;
  result.in_place_locks = options.inplace_update_num_locks;
  result.in_place_callback = options.inplace_callback;
  result.checks.checksum_bytes = static_cast<uint8_t>(options.memtable_protection_bytes_per_key);
  result.checks.order = options.paranoid_memory_checks;
  result.checks.neighbour_checksums = options.memtable_verify_per_key_checksum_on_seek;
  return result;
}

ColumnFamilyData::ColumnFamilyData(FamilyVersions* family,
                                   std::shared_ptr<const ColumnFamilyOptions> options,
                                   VersionSet* versions, FamilyHost* host)
    : settled_options(options),
      work(options->num_levels),
      id_(family->id),
      name_(family->name),
      comparator_(family->comparator),
      merge_operator_(options->merge_operator),
      takes_writes_(!options->disallow_memtable_writes),
      bare_format_(BareFormatOfFactory(options->table_factory.get())),
      is_plain_(comparator_.stamp_bytes() == 0 && !bare_format_.is_bare()),
      family_(family->shared_from_this()),
      versions_(versions),
      host_(host),
      options_(std::move(options)),
      write_buffer_bytes_(options_->write_buffer_size),
      max_range_deletes_(options_->memtable_max_range_deletions),
      paced_bytes_(options_->write_buffer_size),
      max_successive_merges_(options_->max_successive_merges),
      mem_(nullptr),
      active_log_(family->log_number) {
  assert(versions_ != nullptr);
  assert(host_ != nullptr);
  // If keys have timestamps, the newest entry of a key does not show which of its entries are
  // visible.
  if (comparator_.user_comparator()->timestamp_size() == 0) {
    known_empty_ = std::make_unique<EmptyRanges>(comparator_);
    empty_ranges_ = known_empty_.get();
  }
  mem_.store(NewMemTable(/*previous=*/nullptr), std::memory_order_release);
  assert(mem()->IsEmpty());
  assert(mem()->id() == 1);
}

ColumnFamilyData::~ColumnFamilyData() {
  assert(refs_.load(std::memory_order_relaxed) == 0);
  if (SuperVersion* last = super_version_.exchange(nullptr, std::memory_order_acq_rel)) {
    SuperVersion::Retire(last);
  }
  mem()->Unref();
  for (const ImmutableMemTable& immutable : immutables_) immutable.mem->Unref();
}

bool ColumnFamilyData::Unref() {
  assert(refs_.load(std::memory_order_relaxed) > 0);
  if (refs_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  delete this;
  return true;
}

MemTable* ColumnFamilyData::NewMemTable(const MemTable* previous) {
  assert(previous == nullptr || previous->id() < next_memtable_id_);
  MemTableOptions options = MemTableOptionsFrom(*options_, previous);
  options.memory_manager = host_->MemoryManager();
  options.blocks = {.spare = host_->SpareMemory(), .limit_bytes = options_->write_buffer_size};
  options.empty_ranges = empty_ranges();
  options.clock = host_->Clock();
  options.family = id_;
  return new MemTable(comparator_, options, next_memtable_id_++);
}

void ColumnFamilyData::BeginExternalChange() {
  if (known_empty_ != nullptr) known_empty_->Suspend();
}

void ColumnFamilyData::EndExternalChange() {
  if (known_empty_ != nullptr) known_empty_->Resume(last_external_change);
}

bool ColumnFamilyData::HasNoExternalChangeSince(const SuperVersion& super_version) const {
  return !is_ingesting && super_version.version()->number() >= last_external_change;
}

ReadView ColumnFamilyData::AcquireViewFor(const Snapshot* snapshot) {
  assert(super_version() != nullptr);  // it was published before any thread could find the family
  EpochGuard guard;
  SuperVersion* const held = snapshot == nullptr ? nullptr : host_->HeldBy(snapshot, *this);
  SuperVersionRef pinned(held != nullptr ? held : super_version());
  const SequenceNumber seqno = std::min(host_->VisibleSeqno(), pinned->newest_seqno());
  return ReadView(this, std::move(pinned), seqno);
}

// Readers see the new options with the super version that is published here. The three numbers in
// atomics are copies for writers, which read them without the mutex. The new options may allow
// fewer memtables, so that a flush may be due at once.
void ColumnFamilyData::SetOptions(std::shared_ptr<const ColumnFamilyOptions> options) {
  assert(options != nullptr);
  assert(!is_dropped());
  options_ = std::move(options);
  assessed_version_ = 0;
  write_buffer_bytes_.store(options_->write_buffer_size, std::memory_order_relaxed);
  max_successive_merges_.store(options_->max_successive_merges, std::memory_order_relaxed);
  max_range_deletes_.store(options_->memtable_max_range_deletions, std::memory_order_relaxed);
  UpdatePace();
  PublishSuperVersion();
  if (UntakenMemTables() >= MemTablesToMerge()) RequireFlush();
}

// The last free buffer does not become immutable, so at most max_write_buffer_number - 1 memtables
// wait to be merged.
size_t ColumnFamilyData::MemTablesToMerge() const {
  const int most = std::max(options_->max_write_buffer_number - 1, 1);
  return static_cast<size_t>(std::clamp(options_->min_write_buffer_number_to_merge, 1, most));
}

size_t ColumnFamilyData::UntakenMemTables() const {
  const auto first =
      std::find_if(immutables_.begin(), immutables_.end(),
                   [](const ImmutableMemTable& immutable) { return !immutable.is_flushing; });
  return static_cast<size_t>(immutables_.end() - first);
}

// Reports the memtables as immutable only now: before a flush is due, no writer should wait for
// their memory to be freed.
void ColumnFamilyData::RequireFlush() {
  if (UntakenMemTables() == 0) return;
  is_flush_due_ = true;
  for (ImmutableMemTable& immutable : immutables_) immutable.mem->ReportImmutable();
}

void ColumnFamilyData::KeepImmutables() {
  for (const ImmutableMemTable& immutable : immutables_) {
    immutable.mem->ReportImmutable();
    immutable.mem->ReportKept();
  }
}

// All older memtables are flushed with the last one, because flushes are installed in order.
void ColumnFamilyData::RequireFlushTogether() {
  if (UntakenMemTables() == 0) return;
  immutables_.back().awaits_others = true;
  RequireFlush();
}

bool ColumnFamilyData::AwaitsOthers() const {
  return std::any_of(immutables_.begin(), immutables_.end(),
                     [](const ImmutableMemTable& immutable) {
                       return immutable.awaits_others && !immutable.is_flushing;
                     });
}

namespace {

// FileNumber::None() if the memtable needs no log for a prepare section.
FileNumber PreparedLogOf(const MemTable& memtable) {
  const FileNumber log = memtable.prepared_log();
  return log == 0 ? FileNumber::None() : log;
}

}  // namespace

FileNumber ColumnFamilyData::OldestLogNotDue() const {
  const bool waits = !is_flush_due_ && UntakenMemTables() > 0;
  if (waits) {
    const ImmutableMemTable& oldest = immutables_[immutables_.size() - UntakenMemTables()];
    return std::min(oldest.first_log_number, PreparedLogOf(*oldest.mem));
  }
  if (mem()->num_entries() == 0) return FileNumber::None();
  return std::min(active_log_, PreparedLogOf(*mem()));
}

void ColumnFamilyData::SwitchMemTable(FileNumber new_log_number, FlushReason reason) {
  immutables_.reserve(immutables_.size() + 1);
  MemTable* const full = mem();
  MemTable* const fresh = NewMemTable(full);
  const bool is_small = full->ApproximateMemoryUsage() < write_buffer_bytes();
  if (reason == FlushReason::kWriteBufferFull && is_small && HasFullMemTable()) {
    reason = FlushReason::kMemtableMaxRangeDeletions;
  }
  immutables_.push_back({.mem = full,
                         .first_log_number = active_log_,
                         .next_log_number = new_log_number,
                         .reason = reason});
  mem_.store(fresh, std::memory_order_release);
  // Readers must always see the memtable into which writers insert, so a failed allocation undoes
  // the switch.
  ScopeExit undo([&]() REQUIRES(db_mutex) {
    mem_.store(full, std::memory_order_release);
    immutables_.pop_back();
    fresh->Unref();
  });
  PublishSuperVersion();
  undo.Cancel();
  full->Seal();
  full->ReportMemory();
  active_log_ = new_log_number;
  before_active_ = host_->VisibleSeqno();
  const bool may_wait =
      reason == FlushReason::kWriteBufferFull || reason == FlushReason::kMemtableMaxRangeDeletions;
  if (!may_wait || UntakenMemTables() >= MemTablesToMerge()) RequireFlush();
  UpdatePace();
  if constexpr (kChecksInvariants) StopUnless(CheckInvariants());
}

MemTableInfo ColumnFamilyData::ActiveMemTableInfo() const {
  const MemTableCounters counters = mem()->counters();
  MemTableInfo info;
  info.cf_name = name_;
  info.first_seqno = counters.entries > 0 ? counters.smallest_seqno : 0;
  info.earliest_seqno = before_active_;
  info.num_entries = counters.entries;
  info.num_deletes = counters.deletes;
  assert(counters.entries == 0 || info.first_seqno > info.earliest_seqno);
  return info;
}

// The number of immutable memtables, from the oldest on, that belong to the scope.
size_t ColumnFamilyData::CountIn(FlushScope scope) const {
  size_t alone = immutables_.size(), together = 0;
  for (size_t i = 0; i < immutables_.size(); ++i) {
    if (!immutables_[i].awaits_others) continue;
    alone = std::min(alone, i);
    together = i + 1;
  }
  return scope == FlushScope::kAll     ? immutables_.size()
         : scope == FlushScope::kAlone ? alone
                                       : together;
}

// Flushes of one family are installed in the order of its memtables, so younger memtables wait
// while a job has older ones.
std::vector<MemTable*> ColumnFamilyData::TakeForFlush(FlushScope scope) {
  assert(std::is_sorted(immutables_.begin(), immutables_.end(),
                        [](const auto& a, const auto& b) { return a.mem->id() < b.mem->id(); }));
  std::vector<MemTable*> taken;
  for (const ImmutableMemTable& immutable : immutables_) {
    if (immutable.is_flushing) return {};
  }
  for (size_t i = 0; i < CountIn(scope); ++i) {
    immutables_[i].is_flushing = true;
    immutables_[i].mem->ReportImmutable();
    taken.push_back(immutables_[i].mem);
  }
  is_flush_due_ = is_flush_due_ && UntakenMemTables() > 0;
  flush_progress_.reset();
  if constexpr (kChecksInvariants) StopUnless(CheckInvariants());
  return taken;
}

void ColumnFamilyData::NoteFlushProgress(double progress) {
  assert(progress >= 0);
  assert(progress <= 1);
  flush_progress_ = progress;
  UpdatePace();
}

// A flush that has not begun to write does not slow down writers: a listener that is notified of it
// may write itself.
void ColumnFamilyData::UpdatePace() {
  assert(!flush_progress_ || (*flush_progress_ >= 0 && *flush_progress_ <= 1));
  const bool is_flushing =
      !immutables_.empty() && immutables_.front().is_flushing && flush_progress_;
  const uint64_t bytes = is_flushing
                             ? PacedMemTableBytes(static_cast<int>(immutables_.size()),
                                                  *flush_progress_, *options_, mem()->EmptyBytes())
                             : options_->write_buffer_size;
  paced_bytes_.store(bytes, std::memory_order_relaxed);
}

// The flush of these memtables has failed: they become available to a later flush, which is
// requested at once.
void ColumnFamilyData::ReturnFromFlush(const std::vector<MemTable*>& memtables) {
  assert(memtables.size() <= immutables_.size());
  for (ImmutableMemTable& immutable : immutables_) {
    if (std::find(memtables.begin(), memtables.end(), immutable.mem) != memtables.end()) {
      assert(immutable.is_flushing);
      immutable.is_flushing = false;
    }
  }
  RequireFlush();
  UpdatePace();
  if constexpr (kChecksInvariants) StopUnless(CheckInvariants());
}

void ColumnFamilyData::RemoveFlushed(const std::vector<MemTable*>& memtables) {
  assert(memtables.size() <= immutables_.size());
  const auto flushed_end = immutables_.begin() + static_cast<ptrdiff_t>(memtables.size());
  std::vector<ImmutableMemTable> flushed(immutables_.begin(), flushed_end);
  immutables_.erase(immutables_.begin(), flushed_end);
  assert(std::equal(memtables.begin(), memtables.end(), flushed.begin(),
                    [](MemTable* taken, const ImmutableMemTable& oldest) {
                      return oldest.is_flushing && oldest.mem == taken;
                    }));
  UpdatePace();
  PublishSuperVersion();
  if constexpr (kChecksInvariants) StopUnless(CheckInvariants());
  const std::shared_ptr<SpareBlocks>& spare = host_->SpareMemory();
  if (spare != nullptr && mem()->IsEmpty()) spare->Rest();
  // A reader's older super version has its own references.
  for (const ImmutableMemTable& immutable : flushed) {
    immutable.mem->ReportKept();
    immutable.mem->Unref();
  }
}

FileNumber ColumnFamilyData::LogNumberAfter(const std::vector<MemTable*>& memtables) const {
  assert(!memtables.empty());
  FileNumber log_number = 0;
  for (const ImmutableMemTable& immutable : immutables_) {
    if (std::find(memtables.begin(), memtables.end(), immutable.mem) == memtables.end()) continue;
    log_number = std::max(log_number, immutable.next_log_number);
  }
  assert(log_number >= family_->log_number);
  return log_number;
}

FileNumber ColumnFamilyData::OldestLogNeeded(FileNumber current_log) const {
  assert(active_log_ <= current_log);
  if (!immutables_.empty()) return family_->log_number;
  return std::max(family_->log_number, mem()->IsEmpty() ? current_log : active_log_);
}

FileNumber ColumnFamilyData::OldestPreparedLog(const std::vector<MemTable*>& flushed) const {
  FileNumber oldest = PreparedLogOf(*mem());
  for (const ImmutableMemTable& immutable : immutables_) {
    if (std::find(flushed.begin(), flushed.end(), immutable.mem) != flushed.end()) continue;
    oldest = std::min(oldest, PreparedLogOf(*immutable.mem));
  }
  return oldest;
}

uint64_t ColumnFamilyData::PendingCompactionBytes() {
  const Version& version = last_version();
  if (assessed_version_ != version.number()) {
    pending_compaction_bytes_ = AssessCompaction(version, *options_, family_->claims).pending_bytes;
    assessed_version_ = version.number();
  }
  return pending_compaction_bytes_;
}

SequenceNumber ColumnFamilyData::OldestUnflushed() const {
  SequenceNumber oldest = mem()->counters().smallest_seqno;
  for (const ImmutableMemTable& immutable : immutables_) {
    oldest = std::min(oldest, immutable.mem->counters().smallest_seqno);
  }
  return oldest;
}

uint64_t ColumnFamilyData::MemTableBytes() const {
  uint64_t bytes = mem()->ApproximateMemoryUsage();
  for (const ImmutableMemTable& immutable : immutables_)
    bytes += immutable.mem->ApproximateMemoryUsage();
  return bytes;
}

// Room in the list is made first, so that nothing can fail after the new memtable is visible. An
// empty memtable is dropped, because a flush of it would write nothing.
void ColumnFamilyData::StartMemTable(FileNumber log_number) {
  assert(log_number >= active_log_);
  immutables_.reserve(immutables_.size() + 1);
  MemTable* const last = mem();
  mem_.store(NewMemTable(last), std::memory_order_release);
  if (last->IsEmpty()) {
    last->Unref();
  } else {
    last->Seal();
    last->ReportMemory();
    immutables_.push_back(
        {.mem = last, .first_log_number = active_log_, .next_log_number = active_log_.Next()});
  }
  active_log_ = log_number;
}

// Drops the memtables whose data is only in logs below `log_number`: all of it is in tables
// already. No flush may be running on them.
void ColumnFamilyData::DropMemTablesBelow(FileNumber log_number) {
  std::erase_if(immutables_, [log_number](const ImmutableMemTable& immutable) {
    assert(!immutable.is_flushing);
    if (immutable.next_log_number > log_number) return false;
    immutable.mem->Unref();
    return true;
  });
  if (active_log_ >= log_number) return;
  if (mem()->IsEmpty()) {
    active_log_ = log_number;
    return;
  }
  MemTable* const last = mem();
  mem_.store(NewMemTable(last), std::memory_order_release);
  last->Unref();
  active_log_ = log_number;
}

void ColumnFamilyData::PublishSuperVersion() {
  assert(family_->current != nullptr);  // nothing is published for a dropped family
  SuperVersion::Parts parts;
  parts.mem = mem();
  for (auto it = immutables_.rbegin(); it != immutables_.rend(); ++it)
    parts.immutables.push_back(it->mem);
  parts.version = family_->current;
  parts.options = options_;
  parts.number = ++super_version_number_;
  parts.newest_seqno = newest_seqno_;
  parts.full_history_ts_low = family_->full_history_ts_low.value_or("");
  auto* fresh = new SuperVersion(std::move(parts), versions_);
  SuperVersion* old = super_version_.exchange(fresh, std::memory_order_acq_rel);
  assert(old == nullptr || old->number() < fresh->number());
  if (old != nullptr) SuperVersion::Retire(old);
}

Status ColumnFamilyData::CheckInvariants() const {
  const auto broken = [this](const char* what) REQUIRES(db_mutex) {
    return Status::Corruption(StrCat(what, ":\n", DebugString()));
  };
  uint64_t next_id = mem()->id();
  FileNumber next_log = FileNumber::None();
  bool younger_is_flushing = false;
  for (auto immutable = immutables_.rbegin(); immutable != immutables_.rend(); ++immutable) {
    if (immutable->mem->id() >= next_id)
      return broken("memtables are not in the order of their ids");
    if (immutable->next_log_number > next_log) return broken("logs of memtables are out of order");
    // Flushes are installed in order, so the memtables that a job has taken are the oldest ones.
    if (younger_is_flushing && !immutable->is_flushing) return broken("a flush has passed another");
    if (immutable->first_log_number > immutable->next_log_number) {
      return broken("a memtable begins behind the logs it needs");
    }
    next_id = immutable->mem->id();
    next_log = immutable->next_log_number;
    younger_is_flushing = immutable->is_flushing;
  }
  if (is_flush_due_ && UntakenMemTables() == 0) return broken("a flush is due of nothing");
  const SuperVersion* seen = super_version();
  if (seen == nullptr) return Status::OK();  // not open yet
  if (seen->mem() != mem()) return broken("readers see another memtable than writers fill");
  if (!is_dropped() && seen->version() != current()) return broken("readers see an old version");
  const bool same_immutables = std::equal(
      immutables_.rbegin(), immutables_.rend(), seen->immutables().begin(),
      seen->immutables().end(),
      [](const ImmutableMemTable& immutable, const MemTable* m) { return immutable.mem == m; });
  return same_immutables ? Status::OK() : broken("readers see other immutable memtables");
}

std::string ColumnFamilyData::DebugString() const {
  std::string out = StrCat("family ", id_, " ", name_, is_dropped() ? " (dropped)" : "", "\n");
  StrAppend(&out, "memtable ", mem()->id(), ": ", mem()->num_entries(), " entries\n");
  for (auto immutable = immutables_.rbegin(); immutable != immutables_.rend(); ++immutable) {
    StrAppend(&out, "memtable ", immutable->mem->id(), ": ", immutable->mem->num_entries(),
              " entries, ends before log ", immutable->next_log_number,
              immutable->is_flushing ? ", flushing" : "", "\n");
  }
  if (!is_dropped()) out += current()->DebugString();
  return out;
}

}  // namespace ashlar
