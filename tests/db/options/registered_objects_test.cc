// SPDX-License-Identifier: Apache-2.0
//
// ObjectRegistry, and classes of a program that option texts and OPTIONS files name.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/compaction_filter.h"
#include "ashlar/comparator.h"
#include "ashlar/convenience.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/listener.h"
#include "ashlar/merge_operator.h"
#include "ashlar/slice_transform.h"
#include "ashlar/utilities/object_registry.h"
#include "ashlar/utilities/options_type.h"
#include "ashlar/utilities/options_util.h"
#include "ashlar/wal_filter.h"
#include "tests/support/status_matchers.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

using PatternEntry = ObjectLibrary::PatternEntry;

ConfigOptions StrictRegistry() {
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  return config;
}

struct LimitOptions {
  static const char* kName() { return "LimitOptions"; }
  int limit = 7;
  std::string unit = "bytes";
};

const std::unordered_map<std::string, OptionTypeInfo>& LimitTypes() {
  static const std::unordered_map<std::string, OptionTypeInfo> types = {
      {"limit", {offsetof(struct LimitOptions, limit), OptionType::kInt}},
      {"unit", {offsetof(struct LimitOptions, unit), OptionType::kString}},
  };
  return types;
}

// A merge operator of the program with options: the value is the sum up to a limit, in decimals.
class LimitedSum final : public AssociativeMergeOperator {
 public:
  LimitedSum() { RegisterOptions(&options_, &LimitTypes()); }
  const char* Name() const override { return "LimitedSum"; }
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             Logger*) const override {
    const int sum =
        (existing == nullptr ? 0 : std::stoi(existing->ToString())) + std::stoi(value.ToString());
    *result = std::to_string(std::min(sum, options_.limit));
    return true;
  }

 private:
  LimitOptions options_;
};

class OwnOrder final : public Comparator {
 public:
  const char* Name() const override { return "OwnOrder"; }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class KeepAll final : public CompactionFilter {
 public:
  const char* Name() const override { return "KeepAll"; }
};
class KeepAllFactory final : public CompactionFilterFactory {
 public:
  const char* Name() const override { return "KeepAllFactory"; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context&) override {
    return std::make_unique<KeepAll>();
  }
};
class OwnListener final : public EventListener {
 public:
  const char* Name() const override { return "OwnListener"; }
};

template <typename T>
FactoryFunc<T> Guarded(T* (*make)()) {
  return [make](const std::string&, std::unique_ptr<T>* guard, std::string*) {
    guard->reset(make());
    return guard->get();
  };
}

int AddAll(ObjectLibrary& library, const std::string&) {
  library.AddFactory<MergeOperator>(
      "LimitedSum", Guarded<MergeOperator>([]() -> MergeOperator* { return new LimitedSum; }));
  library.AddFactory<const Comparator>(
      "OwnOrder", [](const std::string&, std::unique_ptr<const Comparator>*, std::string*) {
        static const OwnOrder order;
        return &order;
      });
  library.AddFactory<const CompactionFilter>(
      "KeepAll", [](const std::string&, std::unique_ptr<const CompactionFilter>*, std::string*) {
        static const KeepAll filter;
        return &filter;
      });
  library.AddFactory<CompactionFilterFactory>(
      "KeepAllFactory", Guarded<CompactionFilterFactory>(
                            []() -> CompactionFilterFactory* { return new KeepAllFactory; }));
  library.AddFactory<EventListener>(
      "OwnListener", Guarded<EventListener>([]() -> EventListener* { return new OwnListener; }));
  size_t types = 0;
  return static_cast<int>(library.GetFactoryCount(&types));
}

TEST(PatternEntries, MatchNamesAndTheirParts) {
  EXPECT_TRUE(PatternEntry("abc").Matches("abc"));
  EXPECT_FALSE(PatternEntry("abc").Matches("abcd"));
  EXPECT_FALSE(PatternEntry("abc").Matches("ab"));
  PatternEntry two("abc", /*optional=*/false);
  two.AnotherName("xyz").AddNumber(":");
  EXPECT_TRUE(two.Matches("abc:12"));
  EXPECT_TRUE(two.Matches("xyz:0"));
  for (const char* other : {"abc", "abc:", "abc:1a", "abc:1.5", "abc12", "xyz:-1"}) {
    EXPECT_FALSE(two.Matches(other)) << other;
  }
  EXPECT_TRUE(two.SetOptional(true).Matches("abc"));
  PatternEntry parts("file", false);
  parts.AddSeparator("://", false).AddSuffix("@").AddNumber("", false);
  EXPECT_TRUE(parts.Matches("file://@1.5"));
  EXPECT_TRUE(parts.Matches("file://a@b@2.25"));
  EXPECT_FALSE(parts.Matches("file://a@2"));
  EXPECT_TRUE(PatternEntry::AsIndividualId("C").Matches("C@0x7f#12"));
  EXPECT_FALSE(PatternEntry::AsIndividualId("C").Matches("C@#12"));
}

TEST(ObjectRegistries, SearchTheNewestLibraryThenTheParent) {
  const auto parent = ObjectRegistry::NewInstance();
  const auto child = ObjectRegistry::NewInstance(parent);
  const auto add = [](ObjectRegistry* registry, const char* library) {
    registry->AddLibrary(library)->AddFactory<MergeOperator>(
        "shared",
        [library](const std::string&, std::unique_ptr<MergeOperator>*,
                  std::string* message) -> MergeOperator* {
          *message = library;
          return nullptr;
        });
  };
  const auto found = [&] {
    std::shared_ptr<MergeOperator> made;
    return child->NewSharedObject<MergeOperator>("shared", &made).ToString();
  };
  EXPECT_NE(found().find("Not implemented"), std::string::npos) << found();
  add(parent.get(), "of the parent");
  EXPECT_NE(found().find("of the parent"), std::string::npos);
  add(child.get(), "older");
  add(child.get(), "newer");
  EXPECT_NE(found().find("newer"), std::string::npos);
  EXPECT_EQ(child->GetFactoryCount(MergeOperator::Type()), 3u);
  EXPECT_EQ(parent->GetFactoryCount(MergeOperator::Type()), 1u);
  std::unordered_set<std::string> types;
  child->GetFactoryTypes(&types);
  EXPECT_EQ(types.count(MergeOperator::Type()), 1u);
}

TEST(ObjectRegistries, OwnershipMustFitTheCall) {
  ObjectRegistry registry(std::make_shared<ObjectLibrary>("l"));
  EXPECT_EQ(registry.RegisterPlugin("", &AddAll), -1);
  EXPECT_EQ(registry.RegisterPlugin("p", nullptr), -1);
  EXPECT_EQ(registry.RegisterPlugin("p", &AddAll), 5);
  MergeOperator* raw = nullptr;
  EXPECT_TRUE(registry.NewStaticObject<MergeOperator>("LimitedSum", &raw).IsInvalidArgument());
  std::unique_ptr<MergeOperator> unique;
  EXPECT_OK(registry.NewUniqueObject<MergeOperator>("LimitedSum", &unique));
  std::shared_ptr<const Comparator> shared;
  EXPECT_TRUE(registry.NewSharedObject<const Comparator>("OwnOrder", &shared).IsInvalidArgument());
  const Comparator* order = nullptr;
  EXPECT_OK(registry.NewStaticObject<const Comparator>("OwnOrder", &order));
  EXPECT_TRUE(registry.NewUniqueObject<MergeOperator>("OwnOrder", &unique).IsNotSupported());
}

TEST(ObjectRegistries, ManagedObjectsLiveAsLongAsSomebodyHoldsThem) {
  const auto parent = ObjectRegistry::NewInstance();
  parent->RegisterPlugin("p", &AddAll);
  const auto child = ObjectRegistry::NewInstance(parent);
  std::shared_ptr<MergeOperator> first = std::make_shared<LimitedSum>();
  ASSERT_OK(parent->SetManagedObject<MergeOperator>("one", first));
  EXPECT_OK(child->SetManagedObject<MergeOperator>("one", first));
  EXPECT_EQ(child->GetManagedObject<MergeOperator>("one"), first);
  EXPECT_EQ(child->GetManagedObject<MergeOperator>("two"), nullptr);
  EXPECT_TRUE(child->SetManagedObject<MergeOperator>("one", std::make_shared<LimitedSum>())
                  .IsInvalidArgument());
  std::vector<std::shared_ptr<MergeOperator>> all;
  ASSERT_OK(child->ListManagedObjects(&all));
  EXPECT_EQ(all.size(), 1u);
  ASSERT_OK(child->ListManagedObjects("LimitedSum", &all));
  EXPECT_EQ(all.size(), 1u);
  ASSERT_OK(child->ListManagedObjects("Other", &all));
  EXPECT_EQ(all.size(), 0u);
  first.reset();
  EXPECT_EQ(child->GetManagedObject<MergeOperator>("one"), nullptr);
  // An id that is only the name of a class gives a new object each time.
  std::shared_ptr<MergeOperator> a, b;
  ASSERT_OK(child->GetOrCreateManagedObject<MergeOperator>("LimitedSum", &a));
  ASSERT_OK(child->GetOrCreateManagedObject<MergeOperator>("LimitedSum", &b));
  EXPECT_NE(a, b);
  parent->AddLibrary("n")->AddFactory<MergeOperator>(
      PatternEntry("Sum").AddNumber(":"),
      Guarded<MergeOperator>([]() -> MergeOperator* { return new LimitedSum; }));
  int configured = 0;
  const auto configure = [&](MergeOperator*) {
    ++configured;
    return Status::OK();
  };
  ASSERT_OK(child->GetOrCreateManagedObject<MergeOperator>("Sum:1", &a, configure));
  ASSERT_OK(child->GetOrCreateManagedObject<MergeOperator>("Sum:1", &b, configure));
  EXPECT_EQ(a, b);
  EXPECT_EQ(configured, 1);
}

TEST(RegisteredObjects, OptionTextsNameThem) {
  const ConfigOptions config = StrictRegistry();
  ColumnFamilyOptions options;
  const std::string text =
      "comparator=OwnOrder;compaction_filter=KeepAll;compaction_filter_factory=KeepAllFactory;"
      "merge_operator={id=LimitedSum;limit=3;unit=stones;}";
  EXPECT_FALSE(GetColumnFamilyOptionsFromString(config, options, text, &options).ok());
  config.registry->RegisterPlugin("p", &AddAll);
  ASSERT_OK(GetColumnFamilyOptionsFromString(config, options, text, &options));
  EXPECT_STREQ(options.comparator->Name(), "OwnOrder");
  EXPECT_STREQ(options.compaction_filter->Name(), "KeepAll");
  EXPECT_STREQ(options.compaction_filter_factory->Name(), "KeepAllFactory");
  ASSERT_NE(options.merge_operator, nullptr);
  EXPECT_EQ(options.merge_operator->GetOptions<LimitOptions>()->limit, 3);
  EXPECT_EQ(options.merge_operator->GetOptions<LimitOptions>()->unit, "stones");
  DBOptions db_options;
  ASSERT_OK(GetDBOptionsFromString(config, db_options, "listeners=OwnListener", &db_options));
  ASSERT_EQ(db_options.listeners.size(), 1u);
}

TEST(RegisteredObjects, BadOptionsLeaveTheObjectAsItWas) {
  const ConfigOptions config;
  LimitedSum sum;
  EXPECT_FALSE(sum.ConfigureFromString(config, "unit=x;limit=many").ok());
  EXPECT_FALSE(sum.ConfigureFromString(config, "limit=1;other=2").ok());
  EXPECT_EQ(sum.GetOptions<LimitOptions>()->unit, "bytes");
  LimitedSum same, different;
  ASSERT_OK(different.ConfigureFromString(config, "limit=9"));
  std::string mismatch;
  EXPECT_TRUE(same.AreEquivalent(config, &sum, &mismatch) || mismatch == "limit");
  EXPECT_FALSE(same.AreEquivalent(config, &different, &mismatch));
  EXPECT_EQ(mismatch, "limit");
  std::string value;
  ASSERT_OK(different.GetOption(config, "limit", &value));
  EXPECT_EQ(value, "9");
}

TEST(RegisteredObjects, ARegisteredNameGoesBeforeABuiltInOne) {
  const ConfigOptions config = StrictRegistry();
  config.registry->AddLibrary("l")->AddFactory<MergeOperator>(
      "put", Guarded<MergeOperator>([]() -> MergeOperator* { return new LimitedSum; }));
  std::shared_ptr<MergeOperator> made;
  ASSERT_OK(MergeOperator::CreateFromString(config, "put", &made));
  EXPECT_STREQ(made->Name(), "LimitedSum");
  ASSERT_OK(MergeOperator::CreateFromString(StrictRegistry(), "put", &made));
  EXPECT_STREQ(made->Name(), "PutOperator");
  ConfigOptions without;
  without.registry = nullptr;
  ASSERT_OK(MergeOperator::CreateFromString(without, "max", &made));
}

class RegisteredInFiles : public DbTest {};

TEST_F(RegisteredInFiles, OptionsFilesBringThemBack) {
  auto sum = std::make_shared<LimitedSum>();
  ASSERT_OK(sum->ConfigureFromString(ConfigOptions(), "limit=5"));
  options_.merge_operator = sum;
  const OwnOrder order;
  options_.comparator = &order;
  Open();
  Merge("k", "3");
  Close();
  ConfigOptions config = StrictRegistry();
  config.env = env_.get();
  config.registry->RegisterPlugin("p", &AddAll);
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  ASSERT_OK(LoadLatestOptions(config, dir_, &db_options, &families));
  options_.merge_operator = families.at(0).options.merge_operator;
  options_.comparator = families.at(0).options.comparator;
  Open();
  Merge("k", "4");
  EXPECT_EQ(Get("k"), "5");
}

}  // namespace
}  // namespace ashlar
