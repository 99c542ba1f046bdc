// SPDX-License-Identifier: Apache-2.0
//
// Listeners: the database notifies the program of background work. This listener counts flushes and
// compactions; a real program would update its metrics, or raise an alarm in OnBackgroundError().
//
//   example_listener FOLDER
//
// Prints:
//   flushes: 3, entries in their tables: 300
//   compactions: 1, files in: 3, files out: 1
//   background errors: 0
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/listener.h"
#include "ashlar/options.h"

namespace {

void Require(const ashlar::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

// Called by threads of the database, several at the same time, so the members are atomic. Callbacks
// must be quick and must not throw; longer work belongs into a thread of the program.
class Counts final : public ashlar::EventListener {
 public:
  void OnFlushCompleted(ashlar::DB*, const ashlar::FlushJobInfo& info) override {
    flushes_.fetch_add(1, std::memory_order_relaxed);
    flushed_entries_.fetch_add(info.table_properties.num_entries, std::memory_order_relaxed);
  }
  void OnCompactionCompleted(ashlar::DB*, const ashlar::CompactionJobInfo& info) override {
    if (!info.status.ok()) return;
    compactions_.fetch_add(1, std::memory_order_relaxed);
    files_in_.fetch_add(info.input_files.size(), std::memory_order_relaxed);
    files_out_.fetch_add(info.output_files.size(), std::memory_order_relaxed);
  }
  void OnBackgroundError(ashlar::BackgroundErrorReason, ashlar::Status* error) override {
    errors_.fetch_add(1, std::memory_order_relaxed);
    std::fprintf(stderr, "background error: %s\n", error->ToString().c_str());
  }

  void Print() const {
    std::printf("flushes: %d, entries in their tables: %llu\n", flushes_.load(),
                static_cast<unsigned long long>(flushed_entries_.load()));
    std::printf("compactions: %d, files in: %zu, files out: %zu\n", compactions_.load(),
                files_in_.load(), files_out_.load());
    std::printf("background errors: %d\n", errors_.load());
  }

 private:
  std::atomic<int> flushes_{0}, compactions_{0}, errors_{0};
  std::atomic<uint64_t> flushed_entries_{0};
  std::atomic<size_t> files_in_{0}, files_out_{0};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const auto counts = std::make_shared<Counts>();
  ashlar::Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;  // only CompactRange() below compacts
  options.listeners.push_back(counts);
  std::unique_ptr<ashlar::DB> db;
  Require(ashlar::DB::Open(options, argv[1], &db));
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 100; i++) {
      Require(db->Put(ashlar::WriteOptions(), "key" + std::to_string(i), std::to_string(round)));
    }
    Require(db->Flush(ashlar::FlushOptions()));
  }
  Require(db->CompactRange(ashlar::CompactRangeOptions(), nullptr, nullptr));
  Require(db->Close());  // when it returns, no callback is running
  counts->Print();
  return 0;
}
