#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# steadiness.py with two programs that only pretend: the rate it finds, the facts it tells, the page it
# writes. And the real program, where the drop-in is built: its rows are whole, its latencies count from
# the moment at which an operation should have begun.
import os
import re
import stat
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ.get("ASHLAR_SOURCE_DIR", os.path.join(os.path.dirname(__file__), "../.."))
sys.path[:0] = [os.path.join(SOURCE, "benchmarks/steadiness"), os.path.join(SOURCE, "tests/support")]
import page
import steadiness
from skips import needs

SCRIPT = os.path.join(SOURCE, "benchmarks/steadiness/steadiness.py")
PROGRAM = os.path.join(os.environ.get("ASHLAR_BUILD_DIR", "build/test"), "steadiness")
# Ten seconds; in the fifth one nothing happens, and then much at once.
PRETENDER = """#!/usr/bin/env python3
import sys
flags = dict(f[2:].split("=") for f in sys.argv[1:])
rate = int(flags["rate"])
print("second,operations,p50,p99,p999,max,late,level0,levels,pending,stalled,memtables,resident,disk,logs")
for second in range(1, 11):
    count = %d if rate == 0 else rate
    stalled = 0
    if second == %d:
        count, stalled = count // 10, 900000
    print(f"{second},{count},8,20,{%d * 100},5000,0,2,1:2:0:0:0:0:3,7,{stalled},9,1048576,4194304,11")
print("latency p50: 8.0 micros\\nlatency p99: 20.0 micros\\nlatency p99.9: %d.0 micros")
print("longest: 5000.0 micros\\nmost space: 30.0 MiB\\nlive data: 20.0 MiB\\nwrite amplification: 7.5 bytes/byte")
"""


class SteadinessTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def pretender(self, name, rate, bad_second, p999):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(PRETENDER % (rate, bad_second, p999, p999))
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return path

    def test_both_get_a_share_of_what_the_peer_sustains(self):
        ours, peer = self.pretender("ours", 9000, 99, 40), self.pretender("peer", 1000, 5, 80)
        out = os.path.join(self.folder, "page.html")
        done = subprocess.run([sys.executable, SCRIPT, "--ours", ours, "--peer", peer, "--out", out],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the peer sustains 1,000 operations/s; the load is 700", done.stdout)
        rows = dict(re.findall(r"^\| ([^|]+) \| (.*) \|$", done.stdout, re.M))
        self.assertEqual(rows["median rate, operations/s"], "700 | 700 | 1.00")
        self.assertEqual(rows["worst second / median"], "1.00 | 0.10 | 10.00")
        self.assertEqual(rows["seconds with a stall"], "0 | 1 | 0.00")
        self.assertEqual(rows["latency p99.9, micros"], "40 | 80 | 0.50")
        self.assertEqual(rows["most space / live data"], "1.50 | 1.50 | 1.00")
        self.assertEqual(rows["write amplification"], "7.50 | 7.50 | 1.00")
        with open(out, encoding="utf-8") as file:
            text = file.read()
        for outside in ("http:", "https:", "src=", "<link", "@import", "url("):
            self.assertNotIn(outside, text)
        self.assertEqual(text.count("<polyline"), 2 * (len(page.CHARTS) + 3))  # three levels are in use
        self.assertTrue(os.path.exists(out + ".peer.csv"))

    def test_a_program_that_fails_ends_the_script(self):
        done = subprocess.run([sys.executable, SCRIPT, "--ours", "/bin/false", "--peer", "/bin/false", "--rate", "5"],
                              capture_output=True, text=True, timeout=60, check=False, cwd=self.folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/bin/false", done.stderr)

    def test_axes_hold_what_is_drawn(self):
        for values in ([0], [1], [0.5, 3], [999, 1000, 1001], [5_000_000]):
            for logarithmic in (False, True):
                axis = page.Axis(values, logarithmic)
                self.assertGreaterEqual(axis.top, max(values))
                for value in values:
                    self.assertTrue(page.TOP - 0.01 <= axis.y(value) <= page.HEIGHT - page.BOTTOM + 0.01)
        self.assertEqual(page.thinned([1, 2, 3]), [(1, 1), (2, 2), (3, 3)])
        many = page.thinned([0] * 5000 + [7] + [0] * 5000)
        self.assertEqual(max(value for _, value in many), 7)  # no peak is lost

    def program(self, *flags):
        done = subprocess.run([PROGRAM, "--db=" + os.path.join(self.folder, "db"), "--keys=2000", "--seconds=2",
                               "--threads=2", "--memtable_mb=1", *flags],
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return steadiness.read_run(done.stdout)

    @needs(os.path.exists(PROGRAM), "the drop-in in this build")
    def test_the_program_begins_operations_when_they_are_due(self):
        rows, sums = self.program("--rate=200", "--read_percent=50")
        self.assertEqual([row["second"] for row in rows], ["1", "2"])
        total = sum(int(row["operations"]) for row in rows)
        self.assertLessEqual(total, 402)  # never more than are due
        self.assertGreater(total, 0)
        for row in rows:
            self.assertLessEqual(int(row["p50"]), int(row["p99"]))
            self.assertLessEqual(int(row["p99"]), int(row["max"]))
            self.assertEqual(len(row["levels"].split(":")), 7)
            self.assertGreater(int(row["resident"]), 0)
            self.assertGreater(int(row["disk"]), 0)
        self.assertGreater(sums["live data"], 0)

    @needs(os.path.exists(PROGRAM), "the drop-in in this build")
    def test_what_cannot_keep_up_is_late(self):
        rows, sums = self.program("--rate=100000000", "--final_compaction=0")
        self.assertGreater(int(rows[-1]["late"]), 1_000_000)
        # The last operations should have begun at the start.
        self.assertGreater(sums["longest"], 1_000_000)
        self.assertNotIn("live data", sums)


if __name__ == "__main__":
    unittest.main()
