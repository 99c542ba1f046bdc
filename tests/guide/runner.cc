// SPDX-License-Identifier: Apache-2.0
//
//   guide_snippets PAGE
//
// runs the snippets of a page, in order, with a database in the folder "db" of the working folder.
// "@@" on a line of its own ends what each prints.
#include "tests/guide/runner.h"

#include <cstring>

namespace guide {
namespace {

std::vector<const Page*>& Pages() {
  static auto* pages = new std::vector<const Page*>();
  return *pages;
}

void Run(const Page& page) {
  const std::string path = "db";
  ashlar::Options options;
  options.create_if_missing = true;
  std::unique_ptr<ashlar::DB> db;
  Require(ashlar::DB::Open(options, path, &db));
  for (const Snippet snippet : page.snippets) {
    snippet(db, path);
    std::printf("@@\n");
    std::fflush(stdout);
  }
  if (db != nullptr) Require(db->Close());
}

}  // namespace

Page::Page(const char* page_name, std::vector<Snippet> page_snippets)
    : name(page_name), snippets(std::move(page_snippets)) {
  Pages().push_back(this);
}

}  // namespace guide

int main(int argc, char** argv) {
  for (const guide::Page* page : guide::Pages()) {
    if (argc != 2 || std::strcmp(page->name, argv[1]) != 0) continue;
    guide::Run(*page);
    return 0;
  }
  std::fprintf(stderr, "usage: guide_snippets PAGE\n");
  return 2;
}
