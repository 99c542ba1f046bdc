// SPDX-License-Identifier: Apache-2.0
//
// A realistic workload: stores the package index of this machine (in Debian's control file format)
// in a database, together with a second index by section that is written in the same batches.
//
//   example_package_index load FILE FOLDER      store every package
//   example_package_index check FILE FOLDER     read every package back, by key and by range
//   example_package_index crash FOLDER          write until the process kills itself during a write
//   example_package_index recover FOLDER COUNT  check that COUNT acknowledged writes are there
//   example_package_index compact FOLDER        compact everything
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/filter_policy.h"
#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "ashlar/write_batch.h"

namespace {

void Require(const ashlar::Status& status, const std::string& what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", what.c_str(), status.ToString().c_str());
  std::exit(1);
}

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Package {
  std::string name, version, section, text;
};

std::string FieldOf(const std::string& line, const char* field) {
  const std::string head = std::string(field) + ": ";
  return line.compare(0, head.size(), head) == 0 ? line.substr(head.size()) : "";
}

// Calls `visit` for each paragraph of the file that describes a package.
void ForEachPackage(const std::string& path, const std::function<void(const Package&)>& visit) {
  std::ifstream file(path);
  if (!file) Fail("cannot read " + path);
  Package package;
  const auto finish = [&] {
    if (!package.name.empty()) visit(package);
    package = Package();
  };
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) {
      finish();
      continue;
    }
    package.text += line + "\n";
    if (package.name.empty()) package.name = FieldOf(line, "Package");
    if (package.version.empty()) package.version = FieldOf(line, "Version");
    if (package.section.empty()) package.section = FieldOf(line, "Section");
  }
  finish();
}

std::string PackageKey(const Package& package) {
  return "package/" + package.name + "/" + package.version;
}

std::string SectionKey(const Package& package) {
  return "section/" + (package.section.empty() ? "none" : package.section) + "/" + package.name +
         "/" + package.version;
}

std::unique_ptr<ashlar::DB> OpenDatabase(const std::string& path) {
  ashlar::BlockBasedTableOptions table;
  table.filter_policy.reset(ashlar::NewBloomFilterPolicy(10));
  ashlar::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 8 << 20;  // small, so that flushes and compactions occur
  options.target_file_size_base = 8 << 20;
  options.write_compatible_with = "7.8";
  options.table_factory.reset(ashlar::NewBlockBasedTableFactory(table));
  std::unique_ptr<ashlar::DB> db;
  Require(ashlar::DB::Open(options, path, &db), "open " + path);
  return db;
}

void Load(const std::string& file, const std::string& path) {
  std::unique_ptr<ashlar::DB> db = OpenDatabase(path);
  const Stopwatch watch;
  ashlar::WriteBatch batch;
  size_t count = 0, bytes = 0;
  const auto write = [&] {
    Require(db->Write(ashlar::WriteOptions(), &batch), "write");
    batch.Clear();
    if (::isatty(STDOUT_FILENO)) std::printf("\r  %zu packages", count);
    std::fflush(stdout);
  };
  ForEachPackage(file, [&](const Package& package) {
    Require(batch.Put(PackageKey(package), package.text), "batch");
    Require(batch.Put(SectionKey(package), package.version), "batch");
    count++;
    bytes += package.text.size();
    if (batch.Count() >= 500) write();
  });
  write();
  Require(db->Flush(ashlar::FlushOptions()), "flush");
  std::printf("\r  %zu packages, %.1f MB, stored in %.2f s\n", count,
              static_cast<double>(bytes) / 1e6, watch.Seconds());
}

void CheckPoints(ashlar::DB* db, const std::string& file) {
  const Stopwatch watch;
  size_t count = 0;
  std::string value;
  ForEachPackage(file, [&](const Package& package) {
    Require(db->Get(ashlar::ReadOptions(), PackageKey(package), &value), package.name);
    if (value != package.text) Fail(package.name + ": the value read is not the one written");
    count++;
  });
  std::printf("  %zu packages read back by key and compared in %.2f s\n", count, watch.Seconds());
}

// Counts the packages of each section with one range scan, and compares the counts with the file.
void CheckRanges(ashlar::DB* db, const std::string& file) {
  std::map<std::string, size_t> expected;
  ForEachPackage(file, [&](const Package& package) { expected[SectionKey(package)]++; });
  const Stopwatch watch;
  std::map<std::string, size_t> sections;
  size_t entries = 0;
  std::unique_ptr<ashlar::Iterator> it(db->NewIterator(ashlar::ReadOptions()));
  for (it->Seek("section/"); it->Valid() && it->key().starts_with("section/"); it->Next()) {
    const std::string key = it->key().ToString();
    if (expected.count(key) == 0) Fail(key + ": nobody wrote this");
    const std::string rest = key.substr(8);
    sections[rest.substr(0, rest.find('/'))]++;
    entries++;
  }
  Require(it->status(), "scan");
  if (entries != expected.size()) Fail("the scan missed entries");
  std::printf("  %zu entries of %zu sections read by range in %.2f s, for example", entries,
              sections.size(), watch.Seconds());
  size_t shown = 0;
  for (const auto& [section, count] : sections) {
    if (count * sections.size() > entries && shown++ < 4) {
      std::printf(" %s: %zu", section.c_str(), count);
    }
  }
  std::printf("\n");
}

std::string CrashKey(int i) {
  char key[32];
  std::snprintf(key, sizeof(key), "crash/%08d", i);
  return key;
}

// Prints a line for each acknowledged write. An alarm kills the process at an arbitrary moment,
// most likely during a write.
void Crash(const std::string& path) {
  std::unique_ptr<ashlar::DB> db = OpenDatabase(path);
  ::signal(SIGALRM, [](int) { ::kill(::getpid(), SIGKILL); });
  ::ualarm(700000, 0);
  const std::string padding(1000, 'x');
  for (int i = 0;; i++) {
    Require(db->Put(ashlar::WriteOptions(), CrashKey(i), padding + CrashKey(i)), "put");
    const std::string line = std::to_string(i + 1) + "\n";
    if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) std::exit(1);
  }
}

void Recover(const std::string& path, int acknowledged) {
  const Stopwatch watch;
  std::unique_ptr<ashlar::DB> db = OpenDatabase(path);
  std::printf("  reopened in %.3f s\n", watch.Seconds());
  const std::string padding(1000, 'x');
  std::string value;
  for (int i = 0; i < acknowledged; i++) {
    Require(db->Get(ashlar::ReadOptions(), CrashKey(i), &value), CrashKey(i));
    if (value != padding + CrashKey(i)) Fail(CrashKey(i) + ": wrong value after the crash");
  }
  std::printf("  all %d acknowledged writes are there\n", acknowledged);
}

void Compact(const std::string& path) {
  std::unique_ptr<ashlar::DB> db = OpenDatabase(path);
  const Stopwatch watch;
  Require(db->CompactRange(ashlar::CompactRangeOptions(), nullptr, nullptr), "compact");
  std::string levels;
  if (!db->GetProperty("rocksdb.levelstats", &levels)) Fail("no level statistics");
  std::printf("  compacted in %.2f s\n%s", watch.Seconds(), levels.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "load" && argc == 4) {
    Load(argv[2], argv[3]);
  } else if (command == "check" && argc == 4) {
    std::unique_ptr<ashlar::DB> db = OpenDatabase(argv[3]);
    CheckPoints(db.get(), argv[2]);
    CheckRanges(db.get(), argv[2]);
  } else if (command == "crash" && argc == 3) {
    Crash(argv[2]);
  } else if (command == "recover" && argc == 4) {
    Recover(argv[2], std::atoi(argv[3]));
  } else if (command == "compact" && argc == 3) {
    Compact(argv[2]);
  } else {
    std::fprintf(stderr, "usage: see the head of examples/package_index.cc\n");
    return 2;
  }
  return 0;
}
