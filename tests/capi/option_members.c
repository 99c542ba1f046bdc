// SPDX-License-Identifier: Apache-2.0
//
// Every setter that has a getter: the members of a handle get different values, all of them before
// the first is read, so that functions of different members cannot share one.
#include "tests/capi/option_members.h"

#include "tests/capi/check.h"

void capi_test_option_members(const char* directory);

// Flags differ in at least one round, because their indexes differ in at least one of so many bits.
enum { ROUNDS = 9, MOST_MEMBERS = 1 << ROUNDS };

static unsigned char flag_value(unsigned index, unsigned round) {
  return (unsigned char)(index >> round & 1);
}
// Every enumeration has the values 0 and 1.
static int choice_value(unsigned index, unsigned round) { return flag_value(index, round); }
static unsigned char small_value(unsigned index, unsigned round) {
  return (unsigned char)((index + round) % 200 + 2);
}
static int number_value(unsigned index, unsigned round) { return (int)(1 + index * 100 + round); }
static double real_value(unsigned index, unsigned round) { return index + round / 16.0; }
static const char* text_value(unsigned index, unsigned round) {
  static char text[32];
  snprintf(text, sizeof(text), "text %u %u", index, round);
  return text;
}

#define SET(kind, setter, getter) setter(opt, kind##_value(index++, round));
#define CHECK_MEMBER(kind, setter, getter) CHECK_##kind(getter, kind##_value(index++, round))
#define CHECK_flag(getter, expected) CHECK(getter(opt) == expected);
#define CHECK_choice(getter, expected) CHECK(getter(opt) == expected);
#define CHECK_small(getter, expected) CHECK(getter(opt) == expected);
#define CHECK_number(getter, expected) CHECK((int)getter(opt) == expected);
#define CHECK_real(getter, expected) CHECK(getter(opt) == expected);
#define CHECK_text(getter, expected)                                          \
  do {                                                                        \
    const char* wanted = expected;                                            \
    size_t size = 0;                                                          \
    CHECK(strcmp(getter(opt, &size), wanted) == 0 && size == strlen(wanted)); \
  } while (0);

#define DEFINE_TEST(prefix, type, create, destroy)           \
  static void test_##prefix(void) {                          \
    type* opt = create;                                      \
    for (unsigned round = 0; round < ROUNDS; ++round) {      \
      unsigned index = 0;                                    \
      MEMBERS_OF_##prefix(SET) CHECK(index <= MOST_MEMBERS); \
      index = 0;                                             \
      MEMBERS_OF_##prefix(CHECK_MEMBER)                      \
    }                                                        \
    destroy(opt);                                            \
    destroy(NULL);                                           \
  }
HANDLES_WITH_MEMBERS(DEFINE_TEST)

#define RUN_TEST(prefix, type, create, destroy) test_##prefix();

void capi_test_option_members(const char* directory) {
  (void)directory;
  HANDLES_WITH_MEMBERS(RUN_TEST)
}
