// SPDX-License-Identifier: Apache-2.0
//
// mixgraph: reads, writes and scans with a model of the frequencies of keys, of the sizes of values
// and of the lengths of scans, at a rate that may follow a sine over the day. The model is that of
// Cao, Dong, Vemuri and Du, "Characterizing, Modeling, and Benchmarking RocksDB Key-Value Workloads
// at Facebook" (FAST 2020).
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/iterator.h"
#include "tools/db_bench/workloads.h"

// The shares of the three kinds of operations need not add up to 1; only their ratio counts.
DEFINE_double(mix_get_ratio, 1.0, "share of reads in mixgraph");
DEFINE_double(mix_put_ratio, 0.0, "share of writes in mixgraph");
DEFINE_double(mix_seek_ratio, 0.0, "share of scans in mixgraph");
DEFINE_int64(mix_max_scan_len, 10000, "scans of mixgraph have fewer entries than this");
DEFINE_int64(mix_max_value_size, 1024, "values of mixgraph have fewer bytes than this");
DEFINE_int64(mix_accesses, -1,
             "operations of mixgraph; negative: the number of --reads, --writes or --num");
DEFINE_double(keyrange_dist_a, 0.0, "frequency of key ranges: a in a e^(b x) + c e^(d x)");
DEFINE_double(keyrange_dist_b, 0.0, "b in this formula");
DEFINE_double(keyrange_dist_c, 0.0, "c in this formula");
DEFINE_double(keyrange_dist_d, 0.0, "d in this formula");
DEFINE_int64(keyrange_num, 1, "number of key ranges");
DEFINE_double(key_dist_a, 0.0, "frequency of keys in a range: a in a x^b");
DEFINE_double(key_dist_b, 0.0, "b in this formula");
DEFINE_double(value_theta, 0.0, "sizes of values: location of a generalized Pareto distribution");
DEFINE_double(value_k, 0.2615, "shape of this distribution");
DEFINE_double(value_sigma, 25.45, "scale of this distribution");
DEFINE_double(iter_theta, 0.0, "lengths of scans: location of a generalized Pareto distribution");
DEFINE_double(iter_k, 2.517, "shape of this distribution");
DEFINE_double(iter_sigma, 14.236, "scale of this distribution");
DEFINE_bool(sine_mix_rate, false,
            "limit mixgraph to A sin(B x + C) + D operations per second of all threads together, "
            "where x is the time in seconds");
DEFINE_uint64(sine_mix_rate_interval_milliseconds, 10000,
              "milliseconds between two computations of this rate");
DEFINE_double(sine_mix_rate_noise, 0.0,
              "largest share of the rate that is randomly added or subtracted");

namespace ashlar {
namespace bench {
namespace {

// The x with F(x) = 1 - u, where F is the generalized Pareto distribution with location theta,
// shape k and scale sigma.
double ParetoAt(double u, double theta, double k, double sigma) {
  if (k == 0) return theta - sigma * std::log(u);
  return theta + sigma * (std::pow(u, -k) - 1) / k;
}

// The x with a x^b = u.
double PowerAt(double u, double a, double b) { return std::pow(u / a, 1 / b); }

struct MixParameters {
  uint64_t keys = 1;
  uint64_t ranges = 1;
  // Frequency of range x: a e^(b x) + c e^(d x). All 0: all ranges are equally frequent.
  double range_a = 0, range_b = 0, range_c = 0, range_d = 0;
  // Frequency of keys within a range: a x^b. If one of them is 0, all keys are equally frequent.
  double key_a = 0, key_b = 0;
};

// The distribution of keys. Immutable after construction; any number of threads.
//
// Each range has a share of the numbers below `keys`, and a random number in that share selects the
// range. The positions of ranges among the keys are shuffled, so that frequent ranges are not
// neighbours.
class MixModel {
 public:
  explicit MixModel(const MixParameters& parameters);

  // The number of the key that `random_number` selects.
  uint64_t KeyOf(uint64_t random_number) const;

 private:
  bool HasRanges() const { return !ends_.empty(); }

  struct Range {
    uint64_t end;       // of its share of random numbers
    uint64_t position;  // among the ranges, in key order
  };
  const MixParameters parameters_;
  const uint64_t range_keys_;
  std::vector<Range> ends_;  // ascending by end
};

// Divides the keys into ranges of different popularity. With all parameters 0 all keys are equally
// popular.
MixModel::MixModel(const MixParameters& parameters)
    : parameters_(parameters),
      range_keys_(
          std::max<uint64_t>(1, parameters.keys / std::max<uint64_t>(1, parameters.ranges))) {
  const bool is_even = parameters.range_a == 0 && parameters.range_b == 0 &&
                       parameters.range_c == 0 && parameters.range_d == 0;
  if (is_even || parameters.ranges < 2) return;
  std::vector<double> frequencies;
  double sum = 0;
  for (uint64_t i = 1; i <= parameters.ranges; i++) {
    const auto x = static_cast<double>(i);
    const double frequency = parameters.range_a * std::exp(parameters.range_b * x) +
                             parameters.range_c * std::exp(parameters.range_d * x);
    frequencies.push_back(std::max(frequency, 0.0));
    sum += frequencies.back();
  }
  std::vector<uint64_t> positions(parameters.ranges);
  for (uint64_t i = 0; i < positions.size(); i++) positions[i] = i;
  Random shuffler(parameters.ranges);  // the same in every thread and run
  std::shuffle(positions.begin(), positions.end(), shuffler);
  double before = 0;
  for (size_t i = 0; i < frequencies.size(); i++) {
    before += sum > 0 ? frequencies[i] / sum : 1.0 / static_cast<double>(frequencies.size());
    const double end = before * static_cast<double>(parameters.keys);
    ends_.push_back(
        {std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(end))), positions[i]});
  }
  // Rounding may have left the last end a little short, and a random number must always find a
  // range.
  ends_.back().end = parameters.keys;
}

// Maps a uniform random number to a key: first to a range, in proportion to its popularity, then to
// a key of this range.
uint64_t MixModel::KeyOf(uint64_t random_number) const {
  uint64_t first = 0, size = parameters_.keys;
  if (HasRanges()) {
    const uint64_t share = random_number % parameters_.keys;
    const auto range = std::upper_bound(ends_.begin(), ends_.end(), share,
                                        [](uint64_t at, const Range& r) { return at < r.end; });
    assert(range != ends_.end());
    first = range->position * range_keys_;
    size = range_keys_;
  }
  uint64_t offset = random_number % size;
  if (parameters_.key_a != 0 && parameters_.key_b != 0) {
    const double u = (static_cast<double>(offset) + 1) / static_cast<double>(size);
    const double rank = std::ceil(PowerAt(u, parameters_.key_a, parameters_.key_b));
    // Any key may have this rank, but always the same one.
    constexpr double kMaxRank = 9e18;
    Random of_rank(static_cast<uint64_t>(std::min(rank, kMaxRank)));
    offset = of_rank() % size;
  }
  return std::min(first + offset, parameters_.keys - 1);
}

MixParameters ParametersFromFlags() {
  return {.keys = static_cast<uint64_t>(FLAGS_num),
          .ranges = static_cast<uint64_t>(std::max<int64_t>(1, FLAGS_keyrange_num)),
          .range_a = FLAGS_keyrange_dist_a,
          .range_b = FLAGS_keyrange_dist_b,
          .range_c = FLAGS_keyrange_dist_c,
          .range_d = FLAGS_keyrange_dist_d,
          .key_a = FLAGS_key_dist_a,
          .key_b = FLAGS_key_dist_b};
}

// `sample` as an integer below `limit`.
int64_t Below(int64_t limit, double sample, int64_t if_negative) {
  // Written so that NaN counts as negative.
  if (!(sample >= 0)) return if_negative;
  if (sample < static_cast<double>(limit)) return static_cast<int64_t>(sample);
  return static_cast<int64_t>(std::fmod(sample, static_cast<double>(std::max<int64_t>(1, limit))));
}

// Random, above 0, at most 1.
double UniformFrom(Random* random) {
  return (static_cast<double>((*random)() >> 11) + 1) / 9007199254740992.0;
}

// One thread of mixgraph.
class Mix {
 public:
  explicit Mix(ThreadContext* thread)
      : thread_(thread),
        model_(ParametersFromFlags()),
        key_(ShapeOfKeys()),
        values_(thread->random(), FLAGS_compression_ratio,
                static_cast<int>(std::max<int64_t>(1, FLAGS_mix_max_value_size))) {}

  void Run();

 private:
  double Uniform() { return UniformFrom(&thread_->random); }
  void Get(const Slice& key);
  void Put(const Slice& key);
  void Scan(const Slice& key);

  ThreadContext* const thread_;
  const MixModel model_;
  KeyBuffer key_;
  ValueSource values_;
  PinnableSlice value_;
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

// The size of the value follows a Pareto distribution, cut off at the largest size.
void Mix::Put(const Slice& key) {
  const double sample = ParetoAt(Uniform(), FLAGS_value_theta, FLAGS_value_k, FLAGS_value_sigma);
  const int64_t size = Below(FLAGS_mix_max_value_size, sample,
                             /*if_negative=*/std::min<int64_t>(10, FLAGS_mix_max_value_size));
  const Slice value(values_.Next().data(), static_cast<size_t>(size));
  thread_->PaceWrites(key.size() + value.size());
  RequireOk(thread_->db->Put(MakeWriteOptions(FLAGS_sync), key, value), "put");
  puts_++;
  value_bytes_ += size;
  thread_->stats.Finished(Operation::kWrite, 1, key.size() + value.size());
}

// Likewise the number of keys of a scan.
void Mix::Scan(const Slice& key) {
  thread_->PaceReads(1);
  const double sample = ParetoAt(Uniform(), FLAGS_iter_theta, FLAGS_iter_k, FLAGS_iter_sigma);
  const int64_t length = Below(FLAGS_mix_max_scan_len, sample, /*if_negative=*/0);
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

// Draws a key from the model and then one of three operations, with the ratios of the flags, until
// the time or the number of operations is used up. The ratios need not add up to 1.
void Mix::Run() {
  const double sum = FLAGS_mix_get_ratio + FLAGS_mix_put_ratio + FLAGS_mix_seek_ratio;
  Duration duration(FLAGS_duration,
                    FLAGS_mix_accesses >= 0 ? FLAGS_mix_accesses : ReadOrWriteCount());
  while (!duration.Done(1)) {
    thread_->WaitFor(thread_->mix_pace, 1);
    const Slice key = key_.Set(model_.KeyOf(thread_->random() % static_cast<uint64_t>(FLAGS_num)));
    const double choice = Uniform() * sum;
    if (choice <= FLAGS_mix_get_ratio) {
      Get(key);
    } else if (choice <= FLAGS_mix_get_ratio + FLAGS_mix_put_ratio) {
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

// The rate is that of all threads together. The function has random numbers of its own, because any
// thread may call it.
std::unique_ptr<Pace> MakeMixPace() {
  if (!FLAGS_sine_mix_rate) return nullptr;
  const auto rate_at = [random =
                            Random(static_cast<uint64_t>(FLAGS_seed))](double seconds) mutable {
    const double noise = FLAGS_sine_mix_rate_noise * (2 * UniformFrom(&random) - 1);
    return SineRate(seconds) * (1 + noise);
  };
  return std::make_unique<Pace>(rate_at, FLAGS_sine_mix_rate_interval_milliseconds * 1000);
}

// NaN fails the comparison and is refused, too.
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
