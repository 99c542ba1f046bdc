// SPDX-License-Identifier: Apache-2.0
//
// Greedy: a change is kept if the case still fails, with whatever error.
#include "tests/model/shrink.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include "tests/support/suite.h"

namespace ashlar {
namespace {

constexpr unsigned kChildSeconds = 30;

std::string ReadAll(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(fd, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  return text;
}

[[noreturn]] void RunAsChild(const ModelCase& test, const CaseRunner& run, int fd) {
  // The parent prints the result.
  if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(3);
  const Outcome outcome = run(test);
  const std::string text = std::to_string(outcome.op) + " " + outcome.what;
  const bool is_written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  _exit(is_written ? 0 : 3);
}

class Shrinker {
 public:
  Shrinker(ModelCase test, const CaseRunner& run, double seconds)
      : test_(std::move(test)), run_(run), deadline_(SuiteClock() + seconds) {}

  ModelCase Run(size_t failed_op) {
    ModelCase cut = test_;
    cut.ops.resize(std::min(cut.ops.size(), failed_op + 1));
    Try(std::move(cut));
    DropOps();
    RunJobsAtOnce();
    ResetOptions();
    ShortenKeys();
    ShortenValues();
    DropOps();
    return test_;
  }

 private:
  bool Try(ModelCase candidate) {
    if (SuiteClock() > deadline_ || RunForked(candidate, run_).ok()) return false;
    test_ = std::move(candidate);
    return true;
  }

  void DropOps() {
    for (size_t chunk = std::max<size_t>(test_.ops.size() / 2, 1); chunk > 0; chunk /= 2) {
      for (size_t begin = 0; begin < test_.ops.size();) {
        ModelCase fewer = test_;
        const auto from = fewer.ops.begin() + static_cast<ptrdiff_t>(begin);
        fewer.ops.erase(from,
                        from + static_cast<ptrdiff_t>(std::min(chunk, test_.ops.size() - begin)));
        if (!Try(std::move(fewer))) begin += chunk;
      }
    }
    DropParts();
  }

  void DropParts() {
    for (size_t i = 0; i < test_.ops.size(); ++i) {
      for (size_t j = test_.ops[i].parts.size(); j-- > 0;) {
        ModelCase fewer = test_;
        fewer.ops[i].parts.erase(fewer.ops[i].parts.begin() + static_cast<ptrdiff_t>(j));
        Try(std::move(fewer));
      }
      for (size_t j = test_.ops[i].keys.size(); test_.ops[i].keys.size() > 1 && j-- > 0;) {
        ModelCase fewer = test_;
        fewer.ops[i].keys.erase(fewer.ops[i].keys.begin() + static_cast<ptrdiff_t>(j));
        Try(std::move(fewer));
      }
    }
  }

  void RunJobsAtOnce() {
    if (test_.machine != Machine::kSim) return;
    ModelCase eager = test_;
    eager.machine = Machine::kEager;
    Try(std::move(eager));
  }

  void ResetOptions() {
    const OptionSet plain;
    for (const std::string& name : test_.options.ChangedNames()) {
      ModelCase plainer = test_;
      plainer.options.Set(name, plain.Get(name));
      Try(std::move(plainer));
    }
  }

  template <typename Change>
  static void ForEachKey(ModelCase* test, const Change& change) {
    for (TraceOp& op : test->ops) {
      for (std::string& key : op.keys) change(&key);
      for (BatchPart& part : op.parts) change(&part.key);
      if (op.lower.has_value()) change(&*op.lower);
      if (op.upper.has_value()) change(&*op.upper);
    }
  }

  // All keys at once, in the same order.
  void ShortenKeys() {
    ModelCase renamed = test_;
    const Comparator* order = test_.options.comparator();
    std::set<std::string> distinct;
    ForEachKey(&renamed, [&](std::string* key) { distinct.insert(*key); });
    std::vector<std::string> keys(distinct.begin(), distinct.end());
    std::sort(keys.begin(), keys.end(), [order](const std::string& a, const std::string& b) {
      return order->Compare(a, b) < 0;
    });
    std::vector<std::string> names;
    for (size_t i = 0; i < keys.size(); ++i) {
      std::string name;
      for (size_t rest = i, n = keys.size(); n > 0; n /= 26, rest /= 26) {
        name.insert(name.begin(), static_cast<char>('a' + rest % 26));
      }
      names.push_back(name);
    }
    std::sort(names.begin(), names.end(), [order](const std::string& a, const std::string& b) {
      return order->Compare(a, b) < 0;
    });
    std::map<std::string, std::string> name_of;
    for (size_t i = 0; i < keys.size(); ++i) name_of[keys[i]] = names[i];
    ForEachKey(&renamed, [&](std::string* key) { *key = name_of[*key]; });
    Try(std::move(renamed));
  }

  void ShortenValues() {
    ModelCase all = test_;
    for (TraceOp& op : all.ops) {
      op.value.size = std::min(op.value.size, 3u);
      for (BatchPart& part : op.parts) part.value.size = std::min(part.value.size, 3u);
    }
    if (Try(std::move(all))) return;
    for (size_t i = 0; i < test_.ops.size(); ++i) {
      if (test_.ops[i].value.size <= 3) continue;
      ModelCase one = test_;
      one.ops[i].value.size = 3;
      Try(std::move(one));
    }
  }

  ModelCase test_;
  const CaseRunner& run_;
  const double deadline_;
};

}  // namespace

Outcome RunForked(const ModelCase& test, const CaseRunner& run) {
  int ends[2];
  if (pipe(ends) != 0) return {0, "no pipe for a child"};
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    alarm(kChildSeconds);
    RunAsChild(test, run, ends[1]);
  }
  close(ends[1]);
  const std::string text = child < 0 ? "" : ReadAll(ends[0]);
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return {0, "no child"};
  if (WIFSIGNALED(status)) {
    return {test.ops.size(), "ends with signal " + std::to_string(WTERMSIG(status))};
  }
  const size_t space = text.find(' ');
  if (space == std::string::npos) return {test.ops.size(), "a child without answer"};
  return {std::strtoull(text.c_str(), nullptr, 10), text.substr(space + 1)};
}

ModelCase Shrink(ModelCase test, size_t failed_op, const CaseRunner& run, double seconds) {
  return Shrinker(std::move(test), run, seconds).Run(failed_op);
}

}  // namespace ashlar
