// SPDX-License-Identifier: Apache-2.0
//
// What the snippets of docs/guide stand on: the headers that docs/guide/README.md names, Require(),
// and a list of pages. page.py makes a file of C++ of each page; the program guide_snippets holds
// them all. Threads: one.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/write_batch.h"

// As in docs/guide/first-steps.md.
inline void Require(const ashlar::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

namespace guide {

using Snippet = void (*)(std::unique_ptr<ashlar::DB>& db, const std::string& path);

struct Page {
  Page(const char* page_name, std::vector<Snippet> page_snippets);

  const char* name;
  std::vector<Snippet> snippets;
};

}  // namespace guide
