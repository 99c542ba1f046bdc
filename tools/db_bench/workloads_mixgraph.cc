// SPDX-License-Identifier: Apache-2.0
//
// mixgraph: reads, writes and scans as mix_model.h says, at a rate that may follow a sine.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "ashlar/iterator.h"
#include "tools/db_bench/mix_model.h"
#include "tools/db_bench/workloads.h"

DEFINE_double(mix_get_ratio, 1.0, "share of reads in mixgraph");
DEFINE_double(mix_put_ratio, 0.0, "share of writes in mixgraph");
DEFINE_double(mix_seek_ratio, 0.0, "share of scans in mixgraph");
DEFINE_int64(mix_max_scan_len, 10000, "scans of mixgraph are shorter");
DEFINE_int64(mix_max_value_size, 1024, "values of mixgraph are shorter");
DEFINE_int64(mix_accesses, -1, "operations of mixgraph; negative: as --reads or --num say");
DEFINE_double(keyrange_dist_a, 0.0, "hotness of key ranges: a e^(b x) + c e^(d x)");
DEFINE_double(keyrange_dist_b, 0.0, "b of it");
DEFINE_double(keyrange_dist_c, 0.0, "c of it");
DEFINE_double(keyrange_dist_d, 0.0, "d of it");
DEFINE_int64(keyrange_num, 1, "key ranges");
DEFINE_double(key_dist_a, 0.0, "hotness of keys in a range: a x^b");
DEFINE_double(key_dist_b, 0.0, "b of it");
DEFINE_double(value_theta, 0.0, "sizes of values: location of a generalized Pareto distribution");
DEFINE_double(value_k, 0.2615, "its shape");
DEFINE_double(value_sigma, 25.45, "its scale");
DEFINE_double(iter_theta, 0.0, "lengths of scans: location of a generalized Pareto distribution");
DEFINE_double(iter_k, 2.517, "its shape");
DEFINE_double(iter_sigma, 14.236, "its scale");
DEFINE_bool(sine_mix_rate, false,
            "operations a second of mixgraph: A sin(B x + C) + D, x in seconds");
DEFINE_uint64(sine_mix_rate_interval_milliseconds, 10000, "how often that is computed");
DEFINE_double(sine_mix_rate_noise, 0.0,
              "a random part of the rate is added or taken away, up to this");

namespace ashlar {
namespace bench {
namespace {

MixParameters ParametersOfFlags() {
  return {.keys = static_cast<uint64_t>(FLAGS_num),
          .ranges = static_cast<uint64_t>(std::max<int64_t>(1, FLAGS_keyrange_num)),
          .range_a = FLAGS_keyrange_dist_a,
          .range_b = FLAGS_keyrange_dist_b,
          .range_c = FLAGS_keyrange_dist_c,
          .range_d = FLAGS_keyrange_dist_d,
          .key_a = FLAGS_key_dist_a,
          .key_b = FLAGS_key_dist_b};
}

// A number of the distribution that is below `limit`.
int64_t Below(int64_t limit, double drawn, int64_t if_negative) {
  if (!(drawn >= 0)) return if_negative;
  if (drawn < static_cast<double>(limit)) return static_cast<int64_t>(drawn);
  return static_cast<int64_t>(std::fmod(drawn, static_cast<double>(std::max<int64_t>(1, limit))));
}

// One thread of mixgraph.
class Mix {
 public:
  explicit Mix(ThreadContext* thread)
      : thread_(thread),
        model_(ParametersOfFlags()),
        key_(ShapeOfKeys()),
        values_(thread->random(), FLAGS_compression_ratio,
                static_cast<int>(std::max<int64_t>(1, FLAGS_mix_max_value_size))) {
    if (!FLAGS_sine_mix_rate) return;
    const auto rate_at = [this](double seconds) {
      return SineRate(seconds) * (1 + FLAGS_sine_mix_rate_noise * (2 * Drawn() - 1));
    };
    sine_ = std::make_unique<Pace>(rate_at, FLAGS_sine_mix_rate_interval_milliseconds * 1000);
  }

  void Run();

 private:
  double Drawn() {  // above 0, at most 1
    return (static_cast<double>(thread_->random() >> 11) + 1) / 9007199254740992.0;
  }
  void Get(const Slice& key);
  void Put(const Slice& key);
  void Scan(const Slice& key);

  ThreadContext* const thread_;
  const MixModel model_;
  KeyBuffer key_;
  ValueSource values_;
  PinnableSlice value_;
  std::unique_ptr<Pace> sine_;  // of this thread alone; null: as fast as it can
  int64_t gets_ = 0, puts_ = 0, seeks_ = 0, reads_ = 0, found_ = 0;
  int64_t value_bytes_ = 0, scanned_ = 0;
};

void Mix::Get(const Slice& key) {
  thread_->PaceReads(1);
  value_.Reset();
  const Status status =
      thread_->db->Get(MakeReadOptions(), thread_->db->DefaultColumnFamily(), key, &value_);
  if (!status.IsNotFound()) RequireOk(status, "get");
  gets_++;
  reads_++;
  found_ += status.ok();
  thread_->stats.Finished(Operation::kRead, 1, status.ok() ? key.size() + value_.size() : 0);
}

void Mix::Put(const Slice& key) {
  const double drawn = ParetoAt(Drawn(), FLAGS_value_theta, FLAGS_value_k, FLAGS_value_sigma);
  const int64_t size = Below(FLAGS_mix_max_value_size, drawn,
                             /*if_negative=*/std::min<int64_t>(10, FLAGS_mix_max_value_size));
  const Slice value(values_.Next().data(), static_cast<size_t>(size));
  thread_->PaceWrites(key.size() + value.size());
  RequireOk(thread_->db->Put(MakeWriteOptions(FLAGS_sync), key, value), "put");
  puts_++;
  value_bytes_ += size;
  thread_->stats.Finished(Operation::kWrite, 1, key.size() + value.size());
}

void Mix::Scan(const Slice& key) {
  thread_->PaceReads(1);
  const double drawn = ParetoAt(Drawn(), FLAGS_iter_theta, FLAGS_iter_k, FLAGS_iter_sigma);
  const int64_t length = Below(FLAGS_mix_max_scan_len, drawn, /*if_negative=*/0);
  const std::unique_ptr<Iterator> it(thread_->db->NewIterator(MakeReadOptions()));
  it->Seek(key);
  seeks_++;
  reads_++;
  found_ += it->Valid() && it->key() == key;
  uint64_t bytes = 0;
  int64_t steps = 0;
  for (; steps < length && it->Valid(); steps++, it->Next()) {
    bytes += it->key().size() + it->value().size();
  }
  RequireOk(it->status(), "iterate");
  scanned_ += steps;
  thread_->stats.Finished(Operation::kSeek, 1, bytes);
}

void Mix::Run() {
  const double sum = FLAGS_mix_get_ratio + FLAGS_mix_put_ratio + FLAGS_mix_seek_ratio;
  Duration duration(FLAGS_duration,
                    FLAGS_mix_accesses >= 0 ? FLAGS_mix_accesses : ReadOrWriteCount());
  while (!duration.Done(1)) {
    thread_->WaitFor(sine_.get(), 1);
    const Slice key = key_.Set(model_.KeyOf(thread_->random() % static_cast<uint64_t>(FLAGS_num)));
    const double ticket = Drawn() * sum;
    if (ticket <= FLAGS_mix_get_ratio) {
      Get(key);
    } else if (ticket <= FLAGS_mix_get_ratio + FLAGS_mix_put_ratio) {
      Put(key);
    } else {
      Scan(key);
    }
  }
  const auto average = [](int64_t all, int64_t count) {
    return count == 0 ? 0.0 : static_cast<double>(all) / static_cast<double>(count);
  };
  char text[256];
  std::snprintf(text, sizeof(text),
                "( Gets:%lld Puts:%lld Seek:%lld, reads %lld in %lld found, avg size: %.1f value, "
                "%.1f scan)\n",
                static_cast<long long>(gets_), static_cast<long long>(puts_),
                static_cast<long long>(seeks_), static_cast<long long>(found_),
                static_cast<long long>(reads_), average(value_bytes_, puts_),
                average(scanned_, seeks_));
  thread_->stats.AddMessage(text);
}

}  // namespace

void MixGraph(ThreadContext* thread) { Mix(thread).Run(); }

bool AreMixRatiosValid() {
  const double ratios[] = {FLAGS_mix_get_ratio, FLAGS_mix_put_ratio, FLAGS_mix_seek_ratio};
  double sum = 0;
  for (const double ratio : ratios) {
    if (!(ratio >= 0)) return false;
    sum += ratio;
  }
  return sum > 0;
}

}  // namespace bench
}  // namespace ashlar
