"""Checks of the documents that need no build: links, width, length, reading ease, phrases, and what must be explained.

    python3 tests/documents/guide_test.py
"""
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GUIDE = sorted((DOCS / "guide").glob("*.md"))
FRONT = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", DOCS / "index.md", ROOT / "examples" / "README.md",
         ROOT / "bench" / "results" / "README.md"]
NOTES = [page for page in sorted(DOCS.rglob("*.md")) if page not in GUIDE and page != DOCS / "index.md"]
GENERATED = {"commands.md", "examples.md", "algorithms.md", "cpp.md", "c.md", "python-reference.md"}  # by scripts/update_guide
README_WORDS, GUIDE_WORDS, READING_EASE, COLUMNS = 500, 20000, 55, 100
FORBIDDEN = [r"\btold\b", r"\blies? there\b", r"with the same leave", r"started with other words", r"\bto be had\b", r"\bcan(?:not)? be had\b",
             r"\bcannot be[;:]", r"\bby (?:itself|themselves)\b", r"\bas many(?: levels)? as pay\b", r"\bmade anew\b", r"\bwhat is typed\b",
             r"\bleave [^;.]* to auto\b", r"\bno regular file\b", r"\bmakes? the products?\b"]
PAPERS = r"(?<!PBM )(?<!starts with ')\bP[0-4]\b"  # a paper is named by its authors; P4 begins a PBM file


def without_fences(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def literals(path):
    """(line, text) of what stands between quotes in a source: messages, and names that are none."""
    text = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.M)
    for found in re.finditer(r'"((?:[^"\\\n]|\\.)*)"', text):
        yield text[:found.start()].count("\n") + 1, found[1]


def words(text):
    return [word for word in text.split() if re.search(r"\w", word)]


def prose(text):
    """Paragraphs and list items: no code, no tables, no headings, no link targets, no comments."""
    text = re.sub(r"<!--.*?-->", "", without_fences(text), flags=re.S)
    text = re.sub(r"^(#.*|\|.*|!\[.*|\s*:::.*|!!!.*)$", "", text, flags=re.M)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^\s*([-*]|\d+\.)\s+", "", text, flags=re.M)
    return re.sub(r"`[^`]*`", "code", re.sub(r"[*_]", "", text))


def syllables(word):
    word = re.sub(r"[^a-z]", "", word.lower())
    if len(word) <= 3:
        return 1
    word = re.sub(r"(?:[^laeiouy]es|[^td]ed|[^l]e)$", lambda m: m[0][0], word)
    return max(1, len(re.findall(r"[aeiouy]+", word)))


def reading_ease(text):
    """Flesch's formula: 206.835 - 1.015 words per sentence - 84.6 syllables per word."""
    sentences = [s for s in re.split(r"[.!?:](?:\s|$)|\n\s*\n", prose(text)) if len(words(s)) > 1]
    counted = [w for s in sentences for w in words(s) if re.search(r"[A-Za-z]", w)]
    return 206.835 - 1.015 * len(counted) / len(sentences) - 84.6 * sum(map(syllables, counted)) / len(counted)


def slug(heading):
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading.strip().lower()))


def anchors(path):
    return {slug(h) for h in re.findall(r"^#+ (.*)$", without_fences(path.read_text()), re.M)}


def dead_links(path):
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_fences(path.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        place = (path.parent / file).resolve() if file else path
        if not place.exists() or anchor and place.suffix == ".md" and anchor not in anchors(place):
            dead.append(f"{path.relative_to(ROOT)}: {target}")
    return dead


def wide_lines(path):
    text = re.sub(r"^```.*?^```$", lambda m: "\n" * m[0].count("\n"), path.read_text(), flags=re.M | re.S)
    return [f"{path.relative_to(ROOT)}:{number}: {len(line)} columns" for number, line in enumerate(text.split("\n"), 1)
            if len(line) > COLUMNS and not line.lstrip().startswith(("|", "![")) and not line.startswith("    ")]


def sources(*suffixes, folders=("src", "cli", "python/src")):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes:
                yield path


class Documents(unittest.TestCase):
    def test_links_resolve(self):
        pages = FRONT + sorted(DOCS.rglob("*.md"))
        self.assertEqual([], [dead for page in pages for dead in dead_links(page)])

    def test_lines_are_at_most_100_columns(self):
        self.assertEqual([], [line for page in FRONT + GUIDE + NOTES
                              for line in wide_lines(page)])

    def test_tables_stand_on_lines_of_their_own(self):
        """A table that was wrapped like a paragraph is none."""
        broken = [f"{page.relative_to(ROOT)}: {m[0]}" for page in FRONT + GUIDE + NOTES
                  for m in re.finditer(r"^(?!\s*\|).*\|\s*:?---.*$|\| \|[ :]?---.*$", without_fences(page.read_text()), re.M)]
        self.assertEqual([], broken)

    def test_readme_and_guide_are_short(self):
        """As `wc -w` counts, marks of tables and code included."""
        self.assertLessEqual(len((ROOT / "README.md").read_text().split()), README_WORDS)
        self.assertLessEqual(sum(len(page.read_text().split()) for page in GUIDE), GUIDE_WORDS)

    def test_guide_reads_easily(self):
        ease = {page.name: reading_ease(page.read_text()) for page in GUIDE if page.name not in GENERATED}
        whole = reading_ease("\n\n".join(page.read_text() for page in GUIDE if page.name not in GENERATED))
        self.assertGreaterEqual(whole, READING_EASE, ease)

    def test_phrases_that_nobody_says_stay_out(self):
        found = []
        for page in FRONT + GUIDE + NOTES:
            text = without_fences(page.read_text())
            found += [f"{page.relative_to(ROOT)}: {m[0]}" for pattern in FORBIDDEN for m in re.finditer(pattern, text)]
        self.assertEqual([], found)

    def test_messages_keep_to_the_same_english_and_name_papers_by_their_authors(self):
        found = []
        for path in sources(".cpp", ".hpp", ".cu", ".cuh", ".py", folders=("src", "cli", "python", "bench", "papers")):
            for line, text in literals(path):
                magic = "PBM" in text or text.startswith("P4")  # the first bytes of such a file
                found += [f"{path.relative_to(ROOT)}:{line}: {text}" for pattern in FORBIDDEN + ([] if magic else [PAPERS])
                          if re.search(pattern, text)]
        self.assertEqual([], found)

    def test_papers_are_named_by_their_authors(self):
        """Two notes are about one paper each, and say in their first lines which."""
        found = [f"{page.relative_to(ROOT)}: {m[0]}" for page in FRONT + GUIDE + NOTES if page.name not in ("p0.md", "p1.md")
                 for m in re.finditer(PAPERS, page.read_text())]
        self.assertEqual([], found)
        for name, authors in (("p0.md", "J. Li, S. Ranka, S. Sahni"), ("p1.md", "E. Baraw, T. Bennur")):
            self.assertIn(authors, " ".join((DOCS / name).read_text()[:400].split()))

    def test_every_page_is_in_the_navigation(self):
        navigation = (ROOT / "mkdocs.yml").read_text()
        pages = [str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")]
        self.assertEqual([], [page for page in pages if f" {page}\n" not in navigation])

    def test_references_have_every_exported_name(self):
        missing = []
        for header in sorted((ROOT / "include" / "heptad").glob("*.h*")):
            page = (DOCS / "guide" / ("c.md" if header.suffix == ".h" else "cpp.md")).read_text()
            text = re.sub(r"^\s*(#|//|/?\*).*$", "", header.read_text(), flags=re.M)
            names = re.findall(r"HEPTAD_(?:C_)?API\s[^;{(]*?(\w+)\s*\(", text) + re.findall(r"^(?:struct|class|enum class)\s+(?:HEPTAD_API )?(\w+)(?= [:{])", text, re.M)
            missing += [f"{header.name}: {name}" for name in names if name != "operator" and f"`{name}" not in page and f"### {name}" not in page]
        self.assertEqual([], missing)

    def test_every_environment_variable_is_in_its_table(self):
        table = (DOCS / "guide" / "environment.md").read_text()
        read = {name for path in sources(".cpp", ".hpp", ".cu") for name in re.findall(r'"(HEPTAD_[A-Z_0-9]+)"', path.read_text())}
        self.assertEqual([], sorted(name for name in read if f"`{name}`" not in table))

    def test_troubleshooting_covers_every_place_that_fails(self):
        """Each group of sentences names the folders and codes that it is about: <!-- covers: src/io input, resource -->"""
        page = (DOCS / "guide" / "troubleshooting.md").read_text()
        covered = set()
        for folders, codes in re.findall(r"<!-- covers: (.*?): (.*?) -->", page):
            covered |= {(folder, code) for folder in folders.split() for code in codes.split(", ")}
        missing = set()
        for path in sources(".cpp", ".hpp", ".cu"):
            room = "/".join(path.relative_to(ROOT).parts[:2]) if path.is_relative_to(ROOT / "src") else path.relative_to(ROOT).parts[0]
            for code in re.findall(r"(?:(?:fail|Error)\(\s*|fail_if\([^;]*?)ErrorCode::(\w+)\s*,", path.read_text()):
                if (room, code) not in covered:
                    missing.add((room, code))
        self.assertEqual([], sorted(missing))


    def test_every_error_sentence_is_on_its_page_under_a_heading_that_helps(self):
        sys.path.insert(0, str(ROOT / "scripts"))
        import guide_messages
        page, troubleshooting = (DOCS / "messages.md").read_text(), DOCS / "guide" / "troubleshooting.md"
        listed = guide_messages.sentences(ROOT)
        self.assertGreater(len(listed), 400)
        self.assertEqual([], [said for _, _, said in listed if guide_messages.shown(said) not in page])
        headings = guide_messages.sections(troubleshooting.read_text())
        self.assertEqual([], [heading for heading in headings.values() if guide_messages.anchor(heading) not in anchors(troubleshooting)])

    def test_troubleshooting_quotes_sentences_that_exist(self):
        said = "\n".join("".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', chain)) for path in sources(".cpp", ".hpp", ".cu")
                         for chain in re.findall(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', path.read_text()))
        page = (DOCS / "guide" / "troubleshooting.md").read_text()
        quoted = [part.strip(" ,;") for row in re.findall(r"^\| (`[^|]*) \|", page, re.M) for quote in re.findall(r"`([^`]*)`", row)
                  for part in quote.split("...")]
        self.assertEqual([], [part for part in quoted if len(part) > 8 and part.strip(" :") not in said])


class Formulas(unittest.TestCase):
    """The checks themselves can fail."""

    def test_short_words_read_more_easily_than_long_ones(self):
        self.assertGreater(reading_ease("The cat sat on the mat. It was glad of it."), 100)
        self.assertLess(reading_ease("Multiplicative considerations necessitate extraordinarily sophisticated deliberations."), 0)

    def test_code_tables_and_links_are_no_prose(self):
        self.assertEqual("See this page.", prose("# Title\n\n| a | b |\n```sh\nrun\n```\nSee [this page](x.md).\n").strip())

    def test_a_dead_link_and_a_wide_line_are_found(self):
        import tempfile
        with tempfile.TemporaryDirectory(dir=ROOT / "tests" / "documents") as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text("# A title\n[good](#a-title) [bad](#b) [gone](gone.md)\n" + "x" * 101 + "\n| " + "y" * 200 + "\n")
            self.assertEqual(["#b", "gone.md"], [dead.split(": ")[1] for dead in dead_links(page)])
            self.assertEqual(1, len(wide_lines(page)))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
