// SPDX-License-Identifier: Apache-2.0
//
// Workloads that write.
#include <algorithm>
#include <cstdio>
#include <string>

#include "ashlar/write_batch.h"
#include "tools/db_bench/workloads.h"

namespace ashlar {
namespace bench {
namespace {

struct FillPlan {
  NumberSource::Order order = NumberSource::Order::kAscending;
  int64_t operations = 0;
  int64_t batch_size = 1;
  bool sync = false;
};

WriteOptions MakeWriteOptions(bool sync) {
  WriteOptions options;
  options.sync = sync;
  options.disableWAL = FLAGS_disable_wal;
  return options;
}

uint64_t SeedOf(ThreadContext* thread) { return thread->random(); }

void Fill(ThreadContext* thread, const FillPlan& plan) {
  if (plan.operations != FLAGS_num) {
    thread->stats.AddMessage("(" + std::to_string(plan.operations) + " ops)");
  }
  const WriteOptions options = MakeWriteOptions(plan.sync);
  ValueSource values(SeedOf(thread), FLAGS_compression_ratio, FLAGS_value_size);
  NumberSource numbers(plan.order, static_cast<uint64_t>(FLAGS_num), &thread->random);
  KeyBuffer key(FLAGS_key_size);
  WriteBatch batch;
  const bool is_timed = plan.order == NumberSource::Order::kRandom;
  Duration duration(is_timed ? FLAGS_duration : 0, plan.operations);
  while (!duration.Done(plan.batch_size)) {
    batch.Clear();
    uint64_t bytes = 0;
    for (int64_t i = 0; i < plan.batch_size; i++) {
      const Slice value = values.Next();
      RequireOk(batch.Put(key.Set(numbers.Next()), value), "put");
      bytes += static_cast<uint64_t>(FLAGS_key_size) + value.size();
    }
    RequireOk(thread->db->Write(options, &batch), "write");
    thread->stats.Finished(Operation::kWrite, static_cast<uint64_t>(plan.batch_size), bytes);
  }
}

void Delete(ThreadContext* thread, NumberSource::Order order) {
  const WriteOptions options = MakeWriteOptions(FLAGS_sync);
  NumberSource numbers(order, static_cast<uint64_t>(FLAGS_num), &thread->random);
  KeyBuffer key(FLAGS_key_size);
  WriteBatch batch;
  const bool is_timed = order == NumberSource::Order::kRandom;
  Duration duration(is_timed ? FLAGS_duration : 0, DeleteCount());
  while (!duration.Done(FLAGS_batch_size)) {
    batch.Clear();
    for (int64_t i = 0; i < FLAGS_batch_size; i++) {
      RequireOk(batch.Delete(key.Set(numbers.Next())), "delete");
    }
    RequireOk(thread->db->Write(options, &batch), "write");
    thread->stats.Finished(Operation::kDelete, static_cast<uint64_t>(FLAGS_batch_size), 0);
  }
}

FillPlan PlanOf(NumberSource::Order order) {
  return {.order = order,
          .operations = WriteCount(),
          .batch_size = FLAGS_batch_size,
          .sync = FLAGS_sync};
}

}  // namespace

void FillSequential(ThreadContext* thread) {
  Fill(thread, PlanOf(NumberSource::Order::kAscending));
}

void FillRandom(ThreadContext* thread) { Fill(thread, PlanOf(NumberSource::Order::kRandom)); }

void FillUniqueRandom(ThreadContext* thread) {
  Fill(thread, PlanOf(NumberSource::Order::kPermutation));
}

void FillSync(ThreadContext* thread) {
  FillPlan plan = PlanOf(NumberSource::Order::kRandom);
  plan.operations = std::max<int64_t>(1, plan.operations / 1000);
  plan.sync = true;
  Fill(thread, plan);
}

void FillBatch(ThreadContext* thread) {
  constexpr int64_t kDefaultBatchSize = 1000;
  FillPlan plan = PlanOf(NumberSource::Order::kAscending);
  if (FLAGS_batch_size == 1) plan.batch_size = kDefaultBatchSize;
  Fill(thread, plan);
}

void DeleteSequential(ThreadContext* thread) { Delete(thread, NumberSource::Order::kAscending); }

void DeleteRandom(ThreadContext* thread) { Delete(thread, NumberSource::Order::kRandom); }

void WriteWhileReading(ThreadContext* thread) {
  thread->stats.Exclude();
  const WriteOptions options = MakeWriteOptions(FLAGS_sync);
  ValueSource values(SeedOf(thread), FLAGS_compression_ratio, FLAGS_value_size);
  KeyBuffer key(FLAGS_key_size);
  while (thread->threads_reading->load(std::memory_order_relaxed) > 0) {
    const uint64_t number = thread->random() % static_cast<uint64_t>(FLAGS_num);
    RequireOk(thread->db->Put(options, key.Set(number), values.Next()), "put");
    thread->stats.Finished(Operation::kWrite, 1, 0);
  }
}

}  // namespace bench
}  // namespace ashlar
