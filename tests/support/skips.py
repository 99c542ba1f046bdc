# SPDX-License-Identifier: Apache-2.0
#
# The only way for a script to skip a test because the machine lacks something. It prints a message, and
# the test fails if the thing must be there. The counterpart of skip.h.
import os
import sys
import unittest

MUST_HAVE_ALL = os.environ.get("ASHLAR_REQUIRE_ALL") == "1"


def say(word, what):
    print(f"{word}: {what}", flush=True)


def needs(is_there, what):
    """Decorates a test, or a class of tests, that needs `what`."""
    if is_there:
        return lambda test: test
    say("MISSING", what)

    def decorate(test):
        if not MUST_HAVE_ALL:
            return unittest.skip(what)(test)

        def fail(self, *_):
            self.fail(f"ASHLAR_REQUIRE_ALL is set, but there is no {what}")
        if isinstance(test, type):
            test.setUp = fail
            return test
        return fail
    return decorate


def skip_as_missing(test, what):
    """Skips or fails from inside a test."""
    if MUST_HAVE_ALL:
        test.fail(f"ASHLAR_REQUIRE_ALL is set, but there is no {what}")
    say("MISSING", what)
    test.skipTest(what)


def exit_as_missing(what):
    """Ends a script that is one test."""
    say("MISSING", what)
    sys.exit(1 if MUST_HAVE_ALL else 77)
