"""Opens a page in a headless Chromium and checks it, at the width of a phone and of a desktop:

- the console has no message;
- nothing is wider than the page;
- each plot has marks that are visible, and a title and a description; with --plots, there is a plot.

usage: check_page.py PAGE [--plots]
"""

import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile

WIDTHS = (390, 1280)
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--enable-logging=stderr", "--dump-dom",
]

# Runs in the page, and leaves its findings in an attribute that the dumped document has. The page is in a frame, because a
# window of Chromium has at least 500 px.
PROBE = """
<script>
addEventListener("load", () => {
  const root = document.documentElement;
  const plots = [...document.querySelectorAll("figure svg")];
  // Curves and the marks at medians are lines of width 2, which may be vertical.
  const marks = 'circle, rect, polyline[stroke-width="2"]';
  const visible = (mark) => {
    const box = mark.getBBox();
    return mark.tagName === "polyline" ? box.width + box.height > 0 : box.width * box.height > 0;
  };
  const found = {
    width: innerWidth,
    overflow: root.scrollWidth - root.clientWidth,
    plots: plots.length,
    empty: plots.filter((plot) => ![...plot.querySelectorAll(marks)].some(visible))
      .map((plot) => plot.querySelector("title")?.textContent ?? "without a title"),
    silent: plots.filter((plot) => !plot.querySelector("title") || !plot.querySelector("desc")).length,
    untabled: [...document.querySelectorAll("figure")].filter((f) => !f.querySelector("table")).length,
  };
  parent.document.documentElement.dataset.found = JSON.stringify(found);
});
</script>
"""


def look(text, width, folder):
    probe = folder / "probe.html"
    page = html.escape(text.replace("</head>", PROBE + "</head>", 1))
    style = f"border: 0; width: {width}px; height: 900px"
    probe.write_text(f'<!DOCTYPE html><iframe style="{style}" srcdoc="{page}"></iframe>')
    command = ["chromium", *FLAGS, "--window-size=1400,1000", f"--user-data-dir={folder}/profile"]
    done = subprocess.run(
        [*command, probe.as_uri()], capture_output=True, text=True, timeout=50, check=True
    )
    found = re.search(r'<html[^>]* data-found="([^"]*)"', done.stdout)
    if not found:
        sys.exit(f"error: the page did not load at {width} px: {done.stderr[-2000:]}")
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(found[1])), console


def main():
    page, needs_plots = pathlib.Path(sys.argv[1]), "--plots" in sys.argv[2:]
    text = page.read_text()
    faults = []
    for width in WIDTHS:
        with tempfile.TemporaryDirectory() as folder:
            found, console = look(text, width, pathlib.Path(folder))
        print(f"{page.name} at {width} px: {found['plots']} plots, {len(text) >> 10} KiB")
        if found["width"] != width:
            faults.append(f"the window is {found['width']} px wide instead of {width} px")
        if found["overflow"] > 0:
            faults.append(f"the page is {found['overflow']} px wider than {width} px")
        if needs_plots and not found["plots"]:
            faults.append("the page has no plot")
        for name in ("empty", "silent", "untabled"):
            if found[name]:
                faults.append(f"plots that are {name} at {width} px: {found[name]}")
        faults.extend(console)
    if faults:
        sys.exit("error: " + "\n".join(faults))


main()
