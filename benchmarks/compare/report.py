# SPDX-License-Identifier: Apache-2.0
#
# Tables and charts of the measurements of compare.py. A row is a dict: kind, name, ours, peer
# (medians), ratio, low and high (range of the per-round ratios), the spreads in percent, bytes
# (whether it is a size).
import html

HEADS = ["", "ours", "peer", "ratio", "rounds", "spread ours/peer"]


def number(value, is_bytes):
    return f"{value / 2**20:,.1f} MiB" if is_bytes else f"{value:,.0f}"


def cells(row):
    name = row["name"] if row["kind"] == "ops/sec" else f"{row['kind']}, {row['name']}"
    return [name, number(row["ours"], row["bytes"]), number(row["peer"], row["bytes"]),
            f"{row['ratio']:.2f}", f"{row['low']:.2f} .. {row['high']:.2f}",
            f"{row['ours_spread']:.0f} % / {row['peer_spread']:.0f} %"]


def text_table(rows):
    table = [HEADS] + [cells(row) for row in rows]
    widths = [max(len(line[i]) for line in table) for i in range(len(HEADS))]
    lines = ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                       for i, (cell, width) in enumerate(zip(line, widths))) for line in table]
    return "\n".join([lines[0], "-" * len(lines[0])] + lines[1:])


def markdown_table(rows):
    lines = ["| " + " | ".join(HEADS) + " |", "|---" + "|---:" * (len(HEADS) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(cells(row)) + " |" for row in rows]) + "\n"


def svg(rows):
    """Bars of ours/peer with a whisker for the range over rounds, and a line at 1.0."""
    rows = [row for row in rows if row["kind"] == "ops/sec"]
    label, plot, step = 110, 560, 28
    top = max([row["high"] for row in rows] + [2.0]) * 1.05
    height = step * len(rows) + 40
    x = lambda ratio: label + plot * ratio / top
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{label + plot + 60}" height="{height}"'
           ' font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>']
    tick = 0.5 if top < 6 else 2.0
    for i in range(int(top / tick) + 1):
        at = x(i * tick)
        out.append(f'<line x1="{at:.1f}" y1="8" x2="{at:.1f}" y2="{height - 26}" stroke="#ddd"/>')
        out.append(f'<text x="{at:.1f}" y="{height - 10}" text-anchor="middle">{i * tick:g}x</text>')
    for i, row in enumerate(rows):
        y = 12 + i * step
        color = "#2a7f62" if row["ratio"] >= 1 else "#b5482f"
        out.append(f'<text x="{label - 8}" y="{y + 14}" text-anchor="end">{row["name"]}</text>')
        out.append(f'<rect x="{label}" y="{y}" width="{x(row["ratio"]) - label:.1f}" height="18"'
                   f' fill="{color}"/>')
        out.append(f'<line x1="{x(row["low"]):.1f}" y1="{y + 9}" x2="{x(row["high"]):.1f}"'
                   f' y2="{y + 9}" stroke="black" stroke-width="2"/>')
        out.append(f'<text x="{x(max(row["high"], row["ratio"])) + 6:.1f}" y="{y + 14}">'
                   f'{row["ratio"]:.2f}</text>')
    out.append(f'<line x1="{x(1):.1f}" y1="6" x2="{x(1):.1f}" y2="{height - 26}" stroke="black"/>')
    return "\n".join(out + ["</svg>"]) + "\n"


def write_svg(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write(svg(rows))


def write_html(path, head, rows):
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells(row)) + "</tr>\n"
                   for row in rows)
    heads = "".join(f"<th>{cell}</th>" for cell in HEADS)
    with open(path, "w", encoding="utf-8") as file:
        file.write("<!doctype html><meta charset='utf-8'><title>db_bench, side by side</title>\n"
                   "<style>body{font-family:sans-serif;margin:2em}td,th{padding:.2em .8em;"
                   "text-align:right;border-bottom:1px solid #ddd}td:first-child{text-align:left}"
                   "</style>\n<h1>db_bench, side by side</h1>\n"
                   + "".join(f"<p><code>{html.escape(line)}</code></p>\n" for line in head)
                   + svg(rows) + f"<table><tr>{heads}</tr>\n{body}</table>\n")
