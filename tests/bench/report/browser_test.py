"""Pages of results in Chromium: on a phone, a tablet and a desk, light, dark and printed. Skipped (77) without one.

    browser_test.py HEPTAD RESULTS [SCREENSHOTS]"""
import json
import os
import subprocess
import sys
import tempfile

import browser

WIDTHS = (320, 390, 768, 1150, 1160, 1280, 1366, 1440, 1920)
PAGES = {
    "residues": ["h200-residues.json"],
    "gpu": ["h200.json"],
    "side-by-side": ["h200-residues.json", "h200.json", "neoverse-v1-2-cores.json", "xeon-avx512-2-threads-bits.json"],
    "files": ["studies/h200-files-65536.json", "trace"],
    "variants": ["studies/h200-p3.json"],
    "cluster": ["studies/neoverse-v1-4-hosts-1gbit-p4.json"],
}
TRACE = """{"traceEvents": [{"name": "DR", "ph": "X", "ts": 0, "dur": 5e5}, {"name": "MM", "ph": "X", "ts": 4e5, "dur": 9e5}]}"""

# Texts of pictures that cover each other or stick out, and elements that are wider than what holds them.
FAULTS = """(() => {
  const faults = [];
  const root = document.scrollingElement;
  if (root.scrollWidth > innerWidth) faults.push(`the page is ${root.scrollWidth} wide`);
  for (const picture of document.querySelectorAll("figure svg")) {
    const frame = picture.getBoundingClientRect();
    const boxes = [...picture.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
    boxes.forEach(([text, box], i) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1 || box.top < frame.top - 1)
        faults.push(`'${text}' sticks out of '${picture.getAttribute("aria-label")}'`);
      for (const [other, place] of boxes.slice(i + 1))
        // The boxes of two lines may touch: letters do not fill them.
        if (box.left < place.right - 1 && place.left < box.right - 1 && box.top < place.bottom - 4 && place.top < box.bottom - 4)
          faults.push(`'${text}' and '${other}' overlap in '${picture.getAttribute("aria-label")}'`);
    });
  }
  for (const element of document.querySelectorAll("td, th, h1, h2, h3, h4, figcaption, .bars span, .bars b, .tile, .chip, .card, p, summary"))
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0)
      faults.push(`${element.tagName} '${element.textContent.slice(0, 60)}' is clipped`);
  return faults.slice(0, 5);
})()"""

# Contrast of texts with the page: WCAG asks for 4.5.
CONTRAST = """(() => {
  const light = colour => {
    const parts = colour.match(/[0-9.]+/g).slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2];
  };
  const page = light(getComputedStyle(document.body).backgroundColor);
  const poor = [];
  for (const element of document.querySelectorAll("h1, small, .note, .kicker, td, .tile b, a, svg text")) {
    const style = getComputedStyle(element);
    const own = light(element instanceof SVGElement ? style.fill : style.color);
    const ratio = (Math.max(own, page) + .05) / (Math.min(own, page) + .05);
    if (ratio < 4.5) poor.push(`${element.tagName} ${ratio.toFixed(2)}`);
  }
  return poor.slice(0, 5);
})()"""

COLUMN = """(() => { const table = document.querySelector("table"), heads = [...table.tHead.rows[0].cells];
  const at = heads.findIndex(head => head.textContent.trim() === "speed");
  return [...table.tBodies[0].rows].map(row => Number(row.cells[at].dataset.v)); })()"""
CLICK = """[...document.querySelectorAll("table")[0].tHead.rows[0].cells]
  .find(head => head.textContent.trim() === "speed").querySelector("button").click()"""
FILTER = """(words => { const input = document.querySelector("input"); input.value = words;
  input.dispatchEvent(new Event("input")); const rows = [...document.querySelectorAll("table")[0].tBodies[0].rows];
  return [rows.filter(row => row.getClientRects().length).length, document.querySelector("output").textContent]; })"""


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def check_tables(chromium, page, records):
    count = len(records)
    odd = sum(record["type"] == "f64" and record["m"] == record["k"] == record["n"] and record["n"] % 2 == 1 for record in records)
    chromium.look(1440)
    chromium.open(page)
    before = chromium.evaluate(COLUMN)
    chromium.evaluate(CLICK)
    expect(chromium.evaluate(COLUMN) == sorted(before, reverse=True), "one click: the fastest first")
    chromium.evaluate(CLICK)
    expect(chromium.evaluate(COLUMN) == sorted(before), "another click: the slowest first")
    expect(chromium.evaluate("document.querySelectorAll('th[aria-sort=ascending]').length") == 1, "a reader is told the order")
    expect(chromium.evaluate(FILTER + "('f64 odd')") == [odd, f"{odd} of {count}"], "odd products of f64")
    expect(chromium.evaluate(FILTER + "('f64 nothing')") == [0, f"0 of {count}"], "no such product")
    expect(chromium.evaluate(FILTER + "('')") == [count, ""], "without words all are shown")
    expect(chromium.evaluate("(() => { const plan = document.querySelector('details.plan'), tree = plan.querySelector('ul');"
                             "const before = tree.checkVisibility(); plan.querySelector('summary').click();"
                             "return [before, tree.checkVisibility()]; })()") == [False, True], "a click opens the plan")


def check_width(chromium, page):
    chromium.look(1920)
    chromium.open(page)
    share = chromium.evaluate("""(() => { const tiles = [...document.querySelectorAll(".tile")].map(tile => tile.getBoundingClientRect());
      return (Math.max(...tiles.map(tile => tile.right)) - Math.min(...tiles.map(tile => tile.left))) / innerWidth; })()""")
    expect(share > 0.8, f"tiles take {share:.2f} of a wide screen")


def check_without_scripts(chromium, page):
    chromium.call("Emulation.setScriptExecutionDisabled", value=True)
    for width in (390, 1440):
        chromium.look(width)
        chromium.open(page)
        expect(chromium.evaluate(FAULTS) == [], f"without scripts at {width}")
        expect(chromium.evaluate("[...document.querySelectorAll('input, button')].filter(one => one.getClientRects().length).length") == 0,
               "nothing that would do nothing")
    chromium.call("Emulation.setScriptExecutionDisabled", value=False)


def main():
    program = browser.find()
    if program is None:
        print("skipped: no Chromium; on Debian: apt-get install chromium")
        return 77
    heptad, results = sys.argv[1:3]
    pictures = sys.argv[3] if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "trace"), "w", encoding="utf-8") as file:
            file.write(TRACE)
        chromium = browser.Browser(program)
        for name, files in PAGES.items():
            page = os.path.join(folder, name + ".html")
            paths = [os.path.join(folder if file == "trace" else results, file) for file in files]
            subprocess.run([heptad, "report", *paths, "-o", page], check=True, stdout=subprocess.DEVNULL)
            # Colours do not move anything: the dark scheme is tried at two widths.
            for scheme, widths in (("light", WIDTHS), ("dark", (390, 1440))):
                for width in widths:
                    chromium.look(width, scheme=scheme)
                    chromium.open(page)
                    faults = chromium.evaluate(FAULTS)
                    expect(faults == [], f"{name} at {width}: {faults}")
                    if pictures:
                        chromium.screenshot(os.path.join(pictures, f"{name}-{width}-{scheme}.png"))
                poor = chromium.evaluate(CONTRAST)
                expect(poor == [], f"{name}, {scheme}: {poor}")
            chromium.look(1000, media="print")
            chromium.open(page)
            faults = chromium.evaluate(FAULTS)
            expect(faults == [], f"{name} printed: {faults}")
            printed = os.path.join(pictures or folder, name + ".pdf")
            chromium.print(printed)
            expect(os.path.getsize(printed) > 5000, f"{name} printed is empty")
        with open(os.path.join(results, *PAGES["residues"]), encoding="utf-8") as file:
            records = json.load(file)["results"]
        check_tables(chromium, os.path.join(folder, "residues.html"), records)
        check_width(chromium, os.path.join(folder, "gpu.html"))
        check_without_scripts(chromium, os.path.join(folder, "residues.html"))
        expect(chromium.complaints == [], chromium.complaints)
        chromium.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
