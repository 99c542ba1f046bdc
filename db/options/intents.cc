// SPDX-License-Identifier: Apache-2.0
//
// Options::for_intent(). Everything follows from the memory and the number of jobs.
#include <algorithm>
#include <cstdint>
#include <thread>

#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "env/machine_memory.h"

namespace ashlar {
namespace {

constexpr uint64_t kIntentMiB = uint64_t{1} << 20;

// Half of the machine's memory; the other half is for the page cache and the rest of the program.
uint64_t MemoryOfServer() {
  constexpr uint64_t kIfUnknown = 1024 * kIntentMiB;
  constexpr uint64_t kLeast = 64 * kIntentMiB;
  const uint64_t machine = MachineMemoryBytes();
  return machine == 0 ? kIfUnknown : std::max(machine / 2, kLeast);
}

// A memtable of 64 MiB or an eighth of the memory; a base level of four of them, and tables that
// are neither so small that there are too many, nor so large that a compaction takes long.
void SetSizes(uint64_t memory, Options* options) {
  const uint64_t memtable = std::min(memory / 8, 64 * kIntentMiB);
  options->memory_limit = static_cast<size_t>(memory);
  options->write_buffer_size = static_cast<size_t>(memtable);
  options->max_bytes_for_level_base = std::max(4 * memtable, 32 * kIntentMiB);
  options->target_file_size_base = std::max(memtable, 4 * kIntentMiB);
}

BlockBasedTableOptions FilteredTable() {
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  return table;
}

// Indexes and filters in parts of one block, because even those of one table may be large compared
// with the memory.
BlockBasedTableOptions PartitionedTable() {
  BlockBasedTableOptions table = FilteredTable();
  table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.metadata_block_size = 4096;
  return table;
}

// The first load does not compact and does not wait: level 0 grows until the program calls
// DB::CompactRange().
void SetForLoad(Options* options) {
  constexpr int kNever = 1 << 30;
  options->disable_auto_compactions = true;
  options->level0_file_num_compaction_trigger = kNever;
  options->level0_slowdown_writes_trigger = kNever;
  options->level0_stop_writes_trigger = kNever;
  options->soft_pending_compaction_bytes_limit = 0;
  options->hard_pending_compaction_bytes_limit = 0;
  options->max_write_buffer_number = 4;
}

void SetForLowMemory(Options* options) {
  options->max_open_files = 64;
  options->max_total_wal_size = 8 * kIntentMiB;
  options->compaction_readahead_size = 256 << 10;
  options->writable_file_max_buffer_size = 64 << 10;
  options->max_manifest_file_size = 4 * kIntentMiB;
  options->manifest_preallocation_size = 64 << 10;
}

}  // namespace

Options Options::for_intent(Intent intent) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const bool is_small = intent == kEmbedded || intent == kLowMemory;
  Options options;
  if (intent == kEmbedded) {
    SetSizes(64 * kIntentMiB, &options);
    options.max_open_files = 500;
  } else if (intent == kLowMemory) {
    SetSizes(16 * kIntentMiB, &options);
    SetForLowMemory(&options);
  } else {
    SetSizes(MemoryOfServer(), &options);
    options.bytes_per_sync = kIntentMiB;
  }
  options.max_background_jobs = is_small ? 2 : std::max(2, cores);
  options.table_factory.reset(
      NewBlockBasedTableFactory(intent == kLowMemory ? PartitionedTable() : FilteredTable()));
  if (intent == kBulkLoad) SetForLoad(&options);
  return options;
}

}  // namespace ashlar
