// SPDX-License-Identifier: Apache-2.0
//
// Slice, OptSlice, PinnableSlice and the cleanups of the last.
#include "ashlar/slice.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace ashlar {

namespace {

int Sign(int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

void Increment(void* counter, void*) { ++*static_cast<int*>(counter); }

}  // namespace

TEST(Slice, ComparesBytesAsUnsigned) {
  EXPECT_LT(Slice("\x7f").compare("\x80"), 0);
  EXPECT_LT(Slice("aaaaaaaa\x7f").compare("aaaaaaaa\xff"), 0);
  EXPECT_LT(Slice("\x7f"
                  "aaaaaaaa")
                .compare("\x80"
                         "aaaaaaaa"),
            0);
}

TEST(Slice, DifferenceOffsetIsWhereTwoFirstDiffer) {
  for (size_t length = 0; length < 40; ++length) {
    const std::string a(length, 'a');
    EXPECT_EQ(Slice(a).difference_offset(a), length);
    EXPECT_EQ(Slice(a).difference_offset(a + "more"), length);
    EXPECT_EQ(Slice(a + "more").difference_offset(a), length);
    for (size_t i = 0; i < length; ++i) {
      std::string b = a;
      b.back() = '\x80';  // another difference behind it
      b[i] = '\xff';
      EXPECT_EQ(Slice(a).difference_offset(b), i) << length;
      EXPECT_EQ(Slice(b).difference_offset(a), i) << length;
    }
  }
}

TEST(Slice, PrefixComesFirst) {
  EXPECT_LT(Slice("abc").compare("abcd"), 0);
  EXPECT_LT(Slice("").compare(Slice("\0", 1)), 0);
  EXPECT_LT(Slice("12345678").compare("123456789"), 0);
}

TEST(Slice, CompareAgreesWithStringOnRandomBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string strings[2];
    for (std::string& s : strings) {
      s.resize(random() % 20);
      for (char& c : s) c = static_cast<char>(random() % 3 == 0 ? 0xff : random() % 3);
    }
    const std::string &a = strings[0], &b = strings[1];
    ASSERT_EQ(Sign(Slice(a).compare(b)), Sign(a.compare(b))) << Slice(a).ToString(true);
    ASSERT_EQ(Slice(a) == Slice(b), a == b);
  }
}

TEST(Slice, ConvertsFromStrings) {
  EXPECT_EQ(Slice(std::string("a\0b", 3)).size(), 3u);
  EXPECT_EQ(Slice(std::string_view("ab")).ToString(), "ab");
  EXPECT_EQ(Slice(static_cast<const char*>(nullptr)).size(), 0u);
}

TEST(Slice, JoinsParts) {
  const Slice parts[] = {"a", "", "bc"};
  std::string buffer = "old";
  EXPECT_EQ(Slice(SliceParts(parts, 3), &buffer), Slice("abc"));
  EXPECT_EQ(buffer, "abc");
}

TEST(Slice, HexGoesForthAndBack) {
  const std::string bytes("\x00\x7f\xff", 3);
  const std::string hex = Slice(bytes).ToString(true);
  EXPECT_EQ(hex, "007FFF");
  std::string decoded;
  EXPECT_TRUE(Slice(hex).DecodeHex(&decoded));
  EXPECT_EQ(decoded, bytes);
  EXPECT_TRUE(Slice("7fff").DecodeHex(&decoded));
  EXPECT_FALSE(Slice("7ff").DecodeHex(&decoded));
  EXPECT_FALSE(Slice("7g").DecodeHex(&decoded));
}

TEST(Slice, StartsAndEnds) {
  EXPECT_TRUE(Slice("abc").starts_with("ab"));
  EXPECT_FALSE(Slice("a").starts_with("ab"));
  EXPECT_TRUE(Slice("abc").ends_with("bc"));
  EXPECT_FALSE(Slice("c").ends_with("bc"));
}

TEST(Slice, DifferenceOffsetStopsAtShorterEnd) {
  EXPECT_EQ(Slice("abx").difference_offset("aby"), 2u);
  EXPECT_EQ(Slice("ab").difference_offset("abc"), 2u);
}

TEST(OptSlice, TellsEmptyFromAbsent) {
  EXPECT_FALSE(OptSlice().has_value());
  EXPECT_FALSE(OptSlice(nullptr).has_value());
  EXPECT_TRUE(OptSlice("").has_value());
  EXPECT_EQ(OptSlice().AsPtr(), nullptr);
  const Slice key("k");
  EXPECT_EQ(*OptSlice::CopyFromPtr(&key), key);
  EXPECT_FALSE(OptSlice::CopyFromPtr(nullptr).has_value());
}

TEST(PinnableSlice, RunsCleanupOnReset) {
  int cleanups = 0;
  PinnableSlice slice;
  slice.PinSlice("value", Increment, &cleanups, nullptr);
  EXPECT_TRUE(slice.IsPinned());
  EXPECT_EQ(slice, Slice("value"));
  slice.Reset();
  EXPECT_EQ(cleanups, 1);
  EXPECT_FALSE(slice.IsPinned());
  EXPECT_TRUE(slice.empty());
  slice.Reset();
  EXPECT_EQ(cleanups, 1);
}

TEST(PinnableSlice, TakesOverCleanups) {
  int cleanups = 0;
  {
    PinnableSlice slice;
    {
      Cleanable source;
      source.RegisterCleanup(Increment, &cleanups, nullptr);
      source.RegisterCleanup(Increment, &cleanups, nullptr);
      source.RegisterCleanup(Increment, &cleanups, nullptr);
      slice.PinSlice("value", &source);
    }
    EXPECT_EQ(cleanups, 0);
  }
  EXPECT_EQ(cleanups, 3);
}

TEST(PinnableSlice, KeepsItsBufferAcrossResets) {
  PinnableSlice slice;
  slice.PinSelf(std::string(1000, 'x'));
  const char* buffer = slice.data();
  slice.Reset();
  slice.PinSelf(std::string(900, 'y'));
  EXPECT_EQ(slice.data(), buffer);
}

TEST(PinnableSlice, CopiesIntoCallersString) {
  std::string target;
  PinnableSlice slice(&target);
  slice.PinSelf("value");
  EXPECT_EQ(target, "value");
  EXPECT_EQ(slice.data(), target.data());
}

TEST(PinnableSlice, RemovesFromBothEnds) {
  PinnableSlice copied;
  copied.PinSelf("abcd");
  copied.remove_prefix(1);
  copied.remove_suffix(1);
  EXPECT_EQ(copied, Slice("bc"));
  PinnableSlice pinned;
  pinned.PinSlice("abcd", nullptr);
  pinned.remove_prefix(1);
  pinned.remove_suffix(1);
  EXPECT_EQ(pinned, Slice("bc"));
}

TEST(PinnableSlice, MovesShortAndLongCopies) {
  for (const size_t bytes : {size_t{0}, size_t{3}, size_t{1000}}) {
    PinnableSlice source;
    source.PinSelf(std::string(bytes, 'v'));
    PinnableSlice target(std::move(source));
    EXPECT_EQ(target, Slice(std::string(bytes, 'v')));
    EXPECT_EQ(target.data(), target.GetSelf()->data());
    source = PinnableSlice();  // NOLINT: a moved-from slice may be used again
    source.PinSelf("again");
    EXPECT_EQ(source, Slice("again"));
  }
}

TEST(PinnableSlice, MovesPinAndCallersString) {
  int cleanups = 0;
  {
    PinnableSlice source;
    source.PinSlice("pinned", Increment, &cleanups, nullptr);
    PinnableSlice target;
    target.PinSlice("old", Increment, &cleanups, nullptr);
    target = std::move(source);
    EXPECT_EQ(cleanups, 1);  // of "old"
    EXPECT_TRUE(target.IsPinned());
    EXPECT_EQ(target, Slice("pinned"));
  }
  EXPECT_EQ(cleanups, 2);
  std::string caller;
  PinnableSlice source(&caller);
  source.PinSelf("copied");
  PinnableSlice target(std::move(source));
  EXPECT_EQ(target.data(), caller.data());
}

TEST(Cleanable, MoveLeavesNothingBehind) {
  int cleanups = 0;
  Cleanable source;
  source.RegisterCleanup(Increment, &cleanups, nullptr);
  Cleanable target(std::move(source));
  EXPECT_FALSE(source.HasCleanups());  // NOLINT: the promise under test
  target.Reset();
  EXPECT_EQ(cleanups, 1);
}

TEST(SharedCleanablePtr, RunsCleanupsWhenLastReferenceGoes) {
  int cleanups = 0;
  PinnableSlice slices[2];
  {
    SharedCleanablePtr shared;
    shared.Allocate();
    shared->RegisterCleanup(Increment, &cleanups, nullptr);
    SharedCleanablePtr copy(shared);
    shared.RegisterCopyWith(&slices[0]);
    copy.MoveAsCleanupTo(&slices[1]);
    EXPECT_EQ(copy.get(), nullptr);
  }
  slices[0].Reset();
  EXPECT_EQ(cleanups, 0);
  slices[1].Reset();
  EXPECT_EQ(cleanups, 1);
}

}  // namespace ashlar
