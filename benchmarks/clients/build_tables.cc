// SPDX-License-Identifier: Apache-2.0
//
// How fast are tables built from sorted keys? SstFileWriter with one thread: without a filter, with
// Bloom and Ribbon filters, and with each compression; half of each value repeats. Reports keys per
// second.
//
//   build_tables --db=FOLDER [--keys=4000000] [--value_bytes=100] [--threads=1]
//
// --threads is the number of compression threads.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"

#include "benchmarks/clients/client.h"

namespace {

using client::Clock;
using client::Flags;
using client::Require;

constexpr size_t kValues = 64;

std::vector<std::string> Values(size_t bytes) {
  client::Random random(301);
  std::vector<std::string> values(kValues, std::string(bytes, 'x'));
  for (std::string& value : values) {
    for (size_t i = 0; i < bytes / 2; i++) value[i] = static_cast<char>(random.Next());
  }
  return values;
}

void Build(const Flags& flags, const char* what, const rocksdb::FilterPolicy* filter,
           rocksdb::CompressionType compression, uint32_t dictionary_bytes) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(filter);
  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = compression;
  options.compression_opts.max_dict_bytes = dictionary_bytes;
  options.compression_opts.parallel_threads = static_cast<uint32_t>(flags["threads"]);
  const std::vector<std::string> values = Values(flags["value_bytes"]);
  const std::string path = flags.db() + "/built.sst";
  const uint64_t keys = flags["keys"];
  char key[17];
  const Clock::time_point begin = Clock::now();
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  Require(writer.Open(path), "open a table");
  for (uint64_t i = 0; i < keys; i++) {
    // A fast conversion to sixteen digits, so that the table is measured and not the conversion.
    uint64_t rest = i;
    for (int digit = 15; digit >= 0; digit--) {
      key[digit] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    }
    Require(writer.Put(rocksdb::Slice(key, 16), values[i % kValues]), "add");
  }
  Require(writer.Finish(), "finish");
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::filesystem::remove(path);
  client::Report(what, static_cast<double>(keys) / seconds, "keys/sec");
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags({{"keys", 4000000}, {"value_bytes", 100}, {"threads", 1}}, argc, argv);
  using rocksdb::NewBloomFilterPolicy;
  using rocksdb::NewRibbonFilterPolicy;
  Build(flags, "no filter", nullptr, rocksdb::kNoCompression, 0);
  Build(flags, "Bloom", NewBloomFilterPolicy(10), rocksdb::kNoCompression, 0);
  Build(flags, "Ribbon", NewRibbonFilterPolicy(10), rocksdb::kNoCompression, 0);
  Build(flags, "Bloom, lz4", NewBloomFilterPolicy(10), rocksdb::kLZ4Compression, 0);
  Build(flags, "Bloom, zstd", NewBloomFilterPolicy(10), rocksdb::kZSTD, 0);
  Build(flags, "Bloom, zstd, dictionary", NewBloomFilterPolicy(10), rocksdb::kZSTD, 16384);
  return 0;
}
