// SPDX-License-Identifier: Apache-2.0
//
// What does encryption cost? The same fill and the same reads with and without it, by AES in
// counter mode with the instructions of the processor. Reports the rates and, as a percentage, how
// much longer encryption takes. Reads go to files, because decrypted blocks would be in the cache:
// the block cache is small and the system's page cache holds the files.
//
//   encryption --db=FOLDER [--keys=1000000] [--reads=300000] [--value_bytes=400]
#include <wmmintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/env_encryption.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"

#include "benchmarks/clients/client.h"

namespace {

using client::Clock;
using client::Flags;
using client::KeyOf;
using client::Require;

// AES-128. The key is a constant: this is a benchmark.
class Aes final : public rocksdb::BlockCipher {
 public:
  Aes() { Expand(); }
  const char* Name() const override { return "BenchmarkAes"; }
  size_t BlockSize() override { return 16; }
  __attribute__((target("aes,sse2"))) rocksdb::Status Encrypt(char* data) override {
    __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
    block = _mm_xor_si128(block, keys_[0]);
    for (int round = 1; round < 10; round++) block = _mm_aesenc_si128(block, keys_[round]);
    block = _mm_aesenclast_si128(block, keys_[10]);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(data), block);
    return rocksdb::Status::OK();
  }
  // Counter mode only encrypts.
  rocksdb::Status Decrypt(char*) override { return rocksdb::Status::NotSupported("Decrypt"); }

 private:
  template <int kConstant>
  __attribute__((target("aes,sse2"))) void NextKey(int round) {
    __m128i key = keys_[round - 1];
    __m128i mix = _mm_aeskeygenassist_si128(key, kConstant);
    mix = _mm_shuffle_epi32(mix, 0xff);
    for (int i = 0; i < 3; i++) key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
    keys_[round] = _mm_xor_si128(key, mix);
  }
  __attribute__((target("aes,sse2"))) void Expand() {
    static constexpr char kKey[] = "benchmark key 16";
    std::memcpy(&keys_[0], kKey, 16);
    NextKey<0x01>(1), NextKey<0x02>(2), NextKey<0x04>(3), NextKey<0x08>(4), NextKey<0x10>(5);
    NextKey<0x20>(6), NextKey<0x40>(7), NextKey<0x80>(8), NextKey<0x1b>(9), NextKey<0x36>(10);
  }

  __m128i keys_[11];
};

struct Times {
  double fill = 0, gets = 0, scan = 0;  // microseconds for each operation
};

double MicrosPer(Clock::time_point begin, uint64_t count) {
  return static_cast<double>(client::Micros(Clock::now() - begin)) / static_cast<double>(count);
}

rocksdb::Options MakeOptions(rocksdb::Env* env) {
  rocksdb::Options options;
  options.env = env;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(1 << 20);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

Times Measure(const Flags& flags, const std::string& folder, rocksdb::Env* env) {
  const uint64_t keys = flags["keys"];
  rocksdb::DB* opened = nullptr;
  Require(rocksdb::DB::Open(MakeOptions(env), folder, &opened), "open");
  const std::unique_ptr<rocksdb::DB> db(opened);
  const std::string value(flags["value_bytes"], 'v');
  client::Random random(1);
  Times times;
  Clock::time_point begin = Clock::now();
  for (uint64_t i = 0; i < keys; i++) {
    Require(db->Put(rocksdb::WriteOptions(), KeyOf(random.Uniform(keys)), value), "put");
  }
  Require(db->Flush(rocksdb::FlushOptions()), "flush");
  Require(db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr), "compact");
  times.fill = MicrosPer(begin, keys);
  rocksdb::PinnableSlice found;
  begin = Clock::now();
  for (uint64_t i = 0; i < flags["reads"]; i++) {
    found.Reset();
    const rocksdb::Status status = db->Get(rocksdb::ReadOptions(), db->DefaultColumnFamily(),
                                           KeyOf(random.Uniform(keys)), &found);
    if (!status.ok() && !status.IsNotFound()) Require(status, "get");
  }
  times.gets = MicrosPer(begin, flags["reads"]);
  uint64_t rows = 0;
  begin = Clock::now();
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) rows++;
  Require(it->status(), "scan");
  times.scan = MicrosPer(begin, rows);
  return times;
}

void ReportBoth(const char* name, double plain, double encrypted) {
  const std::string what(name);
  client::Report((what + " plain").c_str(), 1000 * plain, "ns");
  client::Report((what + " encrypted").c_str(), 1000 * encrypted, "ns");
  client::Report((what + " longer by").c_str(), 100 * (encrypted / plain - 1), "%");
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags({{"keys", 1000000}, {"reads", 300000}, {"value_bytes", 400}}, argc, argv);
  const std::unique_ptr<rocksdb::Env> encrypted(rocksdb::NewEncryptedEnv(
      rocksdb::Env::Default(),
      rocksdb::EncryptionProvider::NewCTRProvider(std::make_shared<Aes>())));
  Require(rocksdb::Env::Default()->CreateDirIfMissing(flags.db()), "create the folder");
  const Times plain = Measure(flags, flags.db() + "/plain", rocksdb::Env::Default());
  const Times hidden = Measure(flags, flags.db() + "/encrypted", encrypted.get());
  ReportBoth("fill and compact", plain.fill, hidden.fill);
  ReportBoth("get", plain.gets, hidden.gets);
  ReportBoth("scan", plain.scan, hidden.scan);
  return 0;
}
