"""The list of all error sentences, from the sources: which exit code each has, and which part of troubleshooting.md helps."""
import re

FOLDERS = ("src", "cli", "python/src")
CODES = {"usage": 2, "input": 3, "resource": 4, "verification": 5}  # `internal` and `cancelled` have one answer each
LITERALS = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')
CALL = re.compile(r"\b(?:fail|fail_if|Error)\(")


def arguments(text, begin):
    """What stands between the parenthesis that ends at `begin` and its partner."""
    depth, at, inside = 1, begin, False
    while at < len(text) and depth:
        letter = text[at]
        if inside:
            at += letter == "\\"
            inside = letter != '"'
        elif letter == '"':
            inside = True
        else:
            depth += {"(": 1, ")": -1}.get(letter, 0)
        at += 1
    return text[begin:at - 1]


def sentence_of(call):
    """The first text that is a sentence, values as `...`; nothing where another function makes it."""
    for found in LITERALS.finditer(call.partition("ErrorCode::")[2]):
        said = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', found[0])).replace('\\"', '"').replace("\\\\", "\\")
        said = re.sub(r"\{\{|\}\}", lambda m: m[0][0], re.sub(r"(?<!\{)\{[^{}]*\}(?!\})", "...", said))
        if len(re.findall(r"[A-Za-z]{2,}", said)) >= 4:
            return re.sub(r"(?:\.\.\.)+$", "...", said.strip())
    return ""


def sentences(root):
    """[(code, room, sentence)]: rooms are the folders that `covers` comments name."""
    found = set()
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".hpp", ".cu"):
                continue
            place = path.relative_to(root).parts
            room = "/".join(place[:2]) if place[0] == "src" else place[0]
            text = path.read_text()
            for call in CALL.finditer(text):
                inside = arguments(text, call.end())
                code = re.search(r"ErrorCode::(\w+)\s*,", inside)
                said = sentence_of(inside) if code and code[1] in CODES else ""
                if said:
                    found.add((code[1], room, said))
    return sorted(found, key=lambda one: (CODES[one[0]], one[2].lstrip("'. ").lower(), one))


def sections(page):
    """{(room, code): heading} of troubleshooting.md."""
    found, heading = {}, ""
    for line in page.split("\n"):
        if line.startswith("## "):
            heading = line[3:]
        covers = re.match(r"<!-- covers: (.*?): (.*?) -->", line)
        for room in covers[1].split() if covers else []:
            for code in covers[2].split(", "):
                found[room, code] = heading
    return found


def anchor(heading):
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading.lower()))


def shown(said):
    return "`" + said.replace("|", "\\|").replace("`", "'") + "`"


def page(root):
    headings = sections((root / "docs" / "guide" / "troubleshooting.md").read_text())
    parts = ["# Error messages", "<!-- Written by scripts/update_guide from the sources. -->",
             "Every message with which Heptad reports a failure, by exit code. `...` represents names and numbers.\n"
             "Most end with the way out. [Troubleshooting](guide/troubleshooting.md) says more, under the heading\n"
             "given beside each. Bugs in Heptad itself (exit code 1) are not listed."]
    for code, number in CODES.items():
        rows = {}
        for kind, room, said in sentences(root):
            if kind == code:
                heading = headings[room, code]
                rows.setdefault(said, f"[{re.sub(r' .code [0-9]+.$', '', heading)}](guide/troubleshooting.md#{anchor(heading)})")
        parts.append(f"## Exit code {number}")
        parts.append("\n".join(["| sentence | more |", "| --- | --- |"] + [f"| {shown(said)} | {link} |" for said, link in rows.items()]))
    return "\n\n".join(parts) + "\n"
