# SPDX-License-Identifier: Apache-2.0
#
# The page of steadiness.py: a table of both runs, and charts over time with the same axes for both
# programs. The page is one file without references to others.
import html
import math

STYLE = """
:root { --ink: #1d2430; --dim: #5d6878; --paper: #f6f7f9; --card: #fff; --line: #dfe3e9;
  --ours: #3b76c4; --peer: #dd8a2e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --dim: #9aa5b4; --paper: #14181e;
  --card: #1c222a; --line: #323a45; --ours: #5b95e0; --peer: #e29a4b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 24px; margin: 0; } h2 { font-size: 16px; margin: 0; }
p { margin: 4px 0 10px; color: var(--dim); max-width: 90ch; overflow-wrap: anywhere; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 14px 18px; margin-top: 16px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--dim); font-size: 11px; font-variant-numeric: tabular-nums; }
.grid { stroke: var(--line); stroke-width: 1; }
polyline { fill: none; stroke-width: 1.4; stroke-linejoin: round; }
polyline.ours { stroke: var(--ours); } polyline.peer { stroke: var(--peer); }
.legend i { display: inline-block; width: 14px; height: 3px; margin: 0 6px 3px 14px; vertical-align: middle; }
i.ours { background: var(--ours); } i.peer { background: var(--peer); }
"""
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 960, 200, 78, 14, 8, 26

CHARTS = [  # title, text, column, scale, unit, logarithmic
    ("Throughput", "Operations completed in each second.", "operations", 1, "/s", False),
    ("Late", "Operations that should have begun and have not, for example during a stall.", "late", 1, "", False),
    ("Latency, median", "From the scheduled begin of an operation.", "p50", 1, "us", True),
    ("Latency, 99 %", "", "p99", 1, "us", True),
    ("Latency, 99.9 %", "", "p999", 1, "us", True),
    ("Latency, maximum", "", "max", 1, "us", True),
    ("Write stalls", "As counted by the library, over all threads.", "stalled", 1e-3, "ms", False),
    ("Files of level 0", "", "level0", 1, "", False),
    ("Compaction debt", "Bytes that compactions have yet to write, as estimated by the library.", "pending", 2**-20, "MiB", False),
    ("Memtables", "", "memtables", 2**-20, "MiB", False),
    ("Resident memory", "Without pages of files.", "resident", 2**-20, "MiB", False),
    ("Space", "Of all files of the database.", "disk", 2**-20, "MiB", False),
    ("Logs", "", "logs", 2**-20, "MiB", False),
]


def step_of(top):
    power = 10 ** math.floor(math.log10(top / 4))
    return power * next(factor for factor in (1, 2, 5, 10) if top / 4 <= factor * power * 1.0001)


def short(value):
    for limit, suffix in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            return f"{value / (limit if limit > 1e4 else 1e3):g}{suffix}"
    return f"{value:g}"


class Axis:
    """Values to heights: linear from 0, or by powers of ten."""

    def __init__(self, values, logarithmic):
        self.logarithmic = logarithmic
        top = max(values + [1])
        if logarithmic:
            low = min([value for value in values if value > 0] + [top])
            self.low = 10 ** math.floor(math.log10(low))
            self.top = 10 ** math.ceil(math.log10(max(top, self.low * 10)))
            count = round(math.log10(self.top / self.low))
            self.ticks = [self.low * 10 ** i for i in range(count + 1)]
        else:
            step = step_of(top)
            self.low, self.top = 0, math.ceil(top / step) * step
            self.ticks = [i * step for i in range(round(self.top / step) + 1)]

    def y(self, value):
        if self.logarithmic:
            share = math.log10(max(value, self.low) / self.low) / math.log10(self.top / self.low)
        else:
            share = value / self.top
        return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)


def thinned(values, most=900):
    """Points as (second, value); if there are too many, the largest value of each interval."""
    if len(values) <= most:
        return list(enumerate(values, 1))
    points = []
    for i in range(most):
        begin, end = i * len(values) // most, (i + 1) * len(values) // most
        points.append((end, max(values[begin:end])))
    return points


def line_chart(title, unit, series, logarithmic):
    """`series`: {name: values}."""
    seconds = max(len(values) for values in series.values())
    axis = Axis([value for values in series.values() for value in values], logarithmic)
    x = lambda second: LEFT + (WIDTH - LEFT - RIGHT) * second / max(seconds, 1)
    out = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(title)}">']
    for tick in axis.ticks:
        out.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{axis.y(tick):.1f}" '
                   f'y2="{axis.y(tick):.1f}"/><text x="{LEFT - 6}" y="{axis.y(tick) + 4:.1f}" '
                   f'text-anchor="end">{short(tick)} {unit}</text>')
    step = max(1, step_of(seconds))
    for i in range(int(seconds / step) + 1):
        out.append(f'<text x="{x(i * step):.1f}" y="{HEIGHT - 8}" text-anchor="middle">{i * step:g} s</text>')
    for name, values in series.items():
        points = " ".join(f"{x(second):.1f},{axis.y(value):.1f}" for second, value in thinned(values))
        out.append(f'<polyline class="{name}" points="{points}"><title>{name}</title></polyline>')
    return "\n".join(out + ["</svg>"]) + "\n"


def level_charts(runs):
    """A chart for each level below level 0 that one of the programs uses."""
    sizes = {name: [[int(size) / 2**20 for size in row["levels"].split(":")] for row in rows]
             for name, (rows, _) in runs.items()}
    for level in range(7):
        series = {name: [row[level] for row in rows] for name, rows in sizes.items()}
        if any(max(values) > 0 for values in series.values()):
            yield f"Level {level}", series


def build(rate, flags, runs):
    """`runs`: {"ours" | "peer": (rows, facts)}."""
    legend = '<p class="legend"><i class="ours"></i>ours<i class="peer"></i>peer</p>\n'
    out = ["<!doctype html><html lang='en'><meta charset='utf-8'><title>Steadiness</title>"
           "<meta name='viewport' content='width=device-width'>"
           f"<style>{STYLE}</style><main><h1>Steadiness at {rate:,} operations a second</h1>"
           "<p>Operations begin when they should, whatever became of those before; latencies count from then. "
           f"Flags of both: <code>{html.escape(flags)}</code></p>\n"
           "<section><table><tr><th></th><th>ours</th><th>peer</th><th>ours / peer</th></tr>\n"]
    for name, (value, text) in runs["ours"][1].items():
        other, other_text = runs["peer"][1].get(name, (0, "-"))
        ratio = f"{value / other:.2f}" if other else "-"
        out.append(f"<tr><td>{html.escape(name)}</td><td>{text}</td><td>{other_text}</td><td>{ratio}</td></tr>\n")
    out.append("</table></section>\n")
    for title, text, column, scale, unit, logarithmic in CHARTS:
        series = {name: [int(row[column]) * scale for row in rows] for name, (rows, _) in runs.items()}
        out.append(f"<section><h2>{title}</h2><p>{text}</p>{legend}"
                   + line_chart(title, unit, series, logarithmic) + "</section>\n")
    for title, series in level_charts(runs):
        out.append(f"<section><h2>{title}</h2><p>Bytes of its tables.</p>{legend}"
                   + line_chart(title, "MiB", series, False) + "</section>\n")
    return "".join(out) + "</main></html>\n"
