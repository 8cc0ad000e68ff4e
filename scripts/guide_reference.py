"""The reference pages of the guide: names of the public headers and of the Python package, with their own comments.

A header is read line by line: a comment (`///`, `/* */`) belongs to the declaration after it, `///<` to the one before.
What a page shows of a comment is its first sentence for functions, all of it for fields. The headers have the rest.
"""
import ast
import re
import textwrap

CPP_HEADERS = ["heptad.hpp", "check.hpp", "bits.hpp", "files.hpp", "cuda.hpp", "cluster.hpp"]
OPENING = re.compile(r"^(enum class|struct|class)\s+(?:HEPTAD_API\s+)?(\w+)")


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").strip()


def code(text):
    return "`" + text.replace("|", "\\|") + "`"


def first_sentence(comment):
    found = re.match(r"(.+?[.?])(?=\s+[A-Z`]|$)", comment, re.S)
    return found[1] if found else comment


def intro_of(text):
    """The comment that opens a header, up to its first code line or empty line."""
    lines = []
    for line in text.split("\n"):
        line = re.sub(r"^(//|/\*| \*)\s?", "", line)
        if not line.strip() or line.startswith(("  ", "#")):
            break
        lines.append(line.strip())
    return " ".join(lines)


class Declaration:
    def __init__(self, name, text, comment, owner):
        self.name, self.text, self.comment, self.owner = name, text, comment, owner


class HeaderReader:
    """Declarations of a header in their order: types, and with their owner fields, enumerators and functions."""

    def __init__(self, text):
        self.text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
        self.at, self.found = 0, []
        self.scope(None, False)

    def comment_before(self):
        """Skips white space and comments; gives the last run of /// lines, and notes `public:` and `private:`."""
        said = []
        while True:
            found = re.compile(r"[ \t]*(?:///(?!<)([^\n]*)\n|//[^\n]*\n|\n|(public:|private:))").match(self.text, self.at)
            if not found:
                return " ".join(said)
            if found[2]:
                self.hidden = found[2] == "private:"
            said = said + [found[1].strip()] if found[1] is not None else []
            self.at = found.end()

    def comment_after(self):
        found = re.compile(r"[ \t]*//(?:/<)? ([^\n]*)").match(self.text, self.at)
        if not found:
            return ""
        self.at = found.end()
        return found[1].strip()

    def skip_braces(self):
        depth = 0
        while True:
            depth += {"{": 1, "}": -1}.get(self.text[self.at], 0)
            self.at += 1
            if depth == 0:
                return

    def statement(self):
        """Up to its ';' or '{', or in an enum ','; gives the text and what ended it."""
        begin, parentheses = self.at, 0
        while self.at < len(self.text):
            letter = self.text[self.at]
            parentheses += {"(": 1, ")": -1}.get(letter, 0)
            if parentheses == 0 and letter == "{" and self.text[begin:self.at].rstrip().endswith("="):
                self.skip_braces()
                continue
            if parentheses == 0 and (letter in ";{}" or letter == "," and self.enum):
                return " ".join(self.text[begin:self.at].split()), letter
            self.at += 1
        return "", ""

    def scope(self, owner, enum):
        self.hidden, self.enum = False, enum
        while self.at < len(self.text):
            comment = self.comment_before()
            text, end = self.statement()
            if end in ("}", ""):
                if enum and text:
                    self.note(text, comment, owner)
                self.at += 1
                return
            opening = OPENING.match(re.sub(r"^template ?<[^>]*> ?", "", text))
            if end == "{" and re.match(r"namespace|extern", text):
                self.at += 1
                self.scope(owner, False)
            elif end == "{" and opening and not owner:
                self.at += 1
                if "TypeOf" not in text:
                    self.found.append(Declaration(opening[2], text, comment, None))
                before = len(self.found)
                self.scope(opening[2], opening[1].startswith("enum"))
                if "TypeOf" in text:
                    del self.found[before:]
                self.hidden, self.enum = False, False
                self.at = self.text.index(";", self.at - 1) + 1
            else:
                if end == "{":
                    self.skip_braces()
                else:
                    self.at += 1
                after = self.comment_after()
                if not self.hidden:
                    self.note(text, " ".join(filter(None, [comment, after])), owner)

    def note(self, text, comment, owner):
        text = re.sub(r"^template ?<[^>]*> ?|\b(HEPTAD_API|inline|static|explicit) ", "", text)
        if re.search(r"Impl\b|operator|~|^friend|^template|= default|^struct \w+$", text):
            return
        text = re.sub(r"\brequires\s*\([^()]*(?:\([^()]*\))?[^()]*\) ?", "", text)
        call = re.match(r"[^=(]*?(\w+) ?\(", text)
        if call and call[1] != owner:
            self.found.append(Declaration(call[1] + "()", text, comment, owner))
        elif not call and text.startswith("using "):
            self.found.append(Declaration(text.split()[1], text, comment, owner))
        elif not call:
            for part in re.sub(r"=[^,]*", "", text).split(","):
                self.found.append(Declaration(part.split()[-1].strip("*&"), text, comment, owner))


def wrapped(text):
    return textwrap.fill(text.replace("\\|", "|"), 100, break_on_hyphens=False, break_long_words=False)


def rows_of(items):
    """A table of what has a comment, and a line that names the rest."""
    said = {}
    for d in items:
        sentence = first_sentence(d.comment) if d.name.endswith("()") else d.comment
        if sentence not in said.setdefault(d.name, ""):
            said[d.name] = f"{said[d.name]} {sentence}".strip()
    explained = [f"| {code(name)} | {cell(text)} |" for name, text in said.items() if text]
    parts = ["\n".join(["| name | meaning |", "| --- | --- |"] + explained)] if explained else []
    bare = [code(name) for name, text in said.items() if not text]
    if bare:
        parts.append(wrapped(("Also: " if explained else "Members: ") + ", ".join(bare) + "."))
    return "\n\n".join(parts)


def cpp_page(root):
    parts = ["# C++ reference", "<!-- Written by scripts/update_guide from include/heptad/. -->",
             "All names are in `namespace heptad`. Every function throws `heptad::Error`, with a code and a\n"
             "message. The headers have the full comments and signatures."]
    for header in CPP_HEADERS:
        text = (root / "include" / "heptad" / header).read_text()
        found = HeaderReader(text).found
        parts += [f"## heptad/{header}", wrapped(cell(intro_of(text)))]
        functions = [d for d in found if d.owner is None and d.name.endswith("()")]
        if functions:
            parts.append(rows_of(functions))
        for kind in [d for d in found if d.owner is None and not d.name.endswith("()")]:
            members = [d for d in found if d.owner == kind.name]
            if not members and not kind.comment:
                continue
            parts.append(f"### {kind.name}")
            parts += [wrapped(cell(first_sentence(kind.comment)))] if kind.comment else []
            if members:
                parts.append(rows_of(members))
    return "\n\n".join(parts) + "\n"


def c_page(root):
    text = (root / "include" / "heptad" / "heptad.h").read_text().partition("#endif")[2]  # the macro of visibility
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    rows, comment, used = [], "", 0
    for block in re.finditer(r"/\*(.*?)\*/|(HEPTAD_C_API[^;]*;)|(typedef[^;{]*(?:\{[^}]*\})?[^;]*;)", text, re.S):
        if block[1] is not None:
            if block.start() < used:
                continue  # it belongs to the declaration before it
            comment = " ".join(block[1].split()).strip("* ")
            continue
        statement = " ".join((block[2] or block[3]).split())
        trailing = re.match(r"[^\n]*?/\* ([^*]*) \*/", text[block.end():])
        name = re.search(r"\(\*(\w+)\)", statement) or re.search(r"(\w+)\s*\(", statement) if block[2] or "(*" in statement else \
            re.search(r"(\w+);$", statement)
        said = trailing[1] if trailing and block[3] else comment
        used = block.end() + (trailing.end() if trailing and block[3] else 0)
        rows.append(Declaration(name[1] + ("()" if block[2] else ""), statement, first_sentence(said), None))
        for field, meaning in re.findall(r"(\w+);\s*/\* (.*?) \*/", block[3] or "", re.S):
            rows.append(Declaration(f"{name[1]}.{field}", "", " ".join(meaning.split()), None))
        comment = ""
    return "\n\n".join([
        "# C reference", "<!-- Written by scripts/update_guide from include/heptad/heptad.h. -->",
        "`#include <heptad/heptad.h>`. Functions return a `heptad_status`, whose numbers are the exit codes\n"
        "of the program. `heptad_last_error()` returns the message of the calling thread's last failure.",
        rows_of(rows)]) + "\n"


def signature(node):
    """name(argument, argument=default, *, ...), as a caller writes it."""
    def written(arguments, defaults):
        values = [None] * (len(arguments) - len(defaults)) + list(defaults)
        return [a.arg + (f"={ast.unparse(value)}" if value is not None else "") for a, value in zip(arguments, values)
                if a.arg not in ("self", "cls")]
    arguments = written(node.args.args, node.args.defaults)
    if node.args.kwonlyargs:
        arguments += ["*"] + written(node.args.kwonlyargs, node.args.kw_defaults)
    if node.args.kwarg:
        arguments.append("**" + node.args.kwarg.arg)
    return f"{node.name}({', '.join(arguments)})".replace("'", '"')


def docstring(node):
    return " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())


def arguments_said(node):
    """What a docstring says about arguments, such as `levels: ...` or `a, b: ...`, as a list."""
    names = "|".join(a.arg for a in node.args.args + node.args.kwonlyargs if a.arg not in ("self", "cls")) or "-"
    rest = " ".join(" ".join((ast.get_docstring(node) or "").split("\n\n")[1:]).split())
    found = list(re.finditer(rf"(?:^|(?<=[.?] ))((?:{names})(?:, (?:{names}))*): ", rest))
    ends = [f.start() for f in found[1:]] + [len(rest)]
    said = [(f[1], rest[f.end():end].strip()) for f, end in zip(found, ends)]
    if said:  # the last one ends with its sentence
        said[-1] = (said[-1][0], re.split(r"(?<=\.) (?=[A-Z])", said[-1][1])[0])
    return "\n".join(textwrap.fill(f"- `{name}`: {cell(text)}", 100, subsequent_indent="  ", break_on_hyphens=False,
                                   break_long_words=False) for name, text in said)


def module_nodes(package, initial):
    """{exported name: node}, each from the module that `initial` imports it from, or from `initial` itself."""
    def tree(name):
        path = next(p for p in (package / f"{name}.py", package / f"{name}.pyi") if p.exists())
        return ast.parse(path.read_text())
    def declared(body):
        return {n.name: n for n in body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    nodes = {}
    for statement in initial.body:
        if isinstance(statement, ast.ImportFrom) and statement.level == 1 and statement.module:
            there = declared(tree(statement.module).body)
            nodes |= {alias.asname or alias.name: there[alias.name] for alias in statement.names if alias.name in there}
    return nodes | declared(initial.body)


def exported_names(initial):
    found = next(s for s in initial.body if isinstance(s, ast.Assign) and s.targets[0].id == "__all__")
    return [name for name in ast.literal_eval(found.value) if not name.startswith("__")]


def python_entry(title, node):
    parts = [f"## {title}"]
    if isinstance(node, ast.FunctionDef):
        call = signature(node)
        parts.append(code(call) if len(call) < 98 else "```text\n" + textwrap.fill(
            call, 96, subsequent_indent=" " * (len(node.name) + 1), break_on_hyphens=False) + "\n```")
    parts += [wrapped(cell(docstring(node)))] if docstring(node) else []
    if isinstance(node, ast.FunctionDef):
        return parts + list(filter(None, [arguments_said(node)]))
    rows = []
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
            is_value = any(getattr(d, "id", "") == "property" for d in member.decorator_list)
            shown = member.name if is_value else signature(member)
            rows.append(Declaration(shown, "", first_sentence(docstring(member)), None))
        elif isinstance(member, ast.AnnAssign):
            rows.append(Declaration(member.target.id, "", "", None))
    run = next((m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "run"), None)
    return parts + ([rows_of(rows)] if rows else []) + list(filter(None, [arguments_said(run) if run else ""]))


def python_page(root):
    package = root / "python" / "heptad"
    parts = ["# Python reference", "<!-- Written by scripts/update_guide from python/heptad/. -->",
             "`import heptad`. [Heptad in Python](../python.md) explains types, layouts and exceptions."]
    for name, file in (("heptad", "__init__.py"), ("heptad.torch", "torch.py"), ("heptad.jax", "jax.py")):
        initial = ast.parse((package / file).read_text())
        nodes = module_nodes(package, initial)
        functions_first = sorted(exported_names(initial), key=lambda e: isinstance(nodes[e], ast.ClassDef))
        for exported in functions_first:
            parts += python_entry(f"{name}.{exported}", nodes[exported])
    return "\n\n".join(parts) + "\n"
