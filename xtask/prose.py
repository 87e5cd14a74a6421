#!/usr/bin/env python3
"""Lists sentences that are probably hard to read: in comments, docstrings, messages, Markdown pages and scenarios.

    prose.py                            each hit as FILE:LINE: PATTERN: sentence
    prose.py --count                    totals by pattern and folder
    prose.py --only so-many,fronted-of  these patterns only
    prose.py --sample 40 --seed 1       random hits, to judge the patterns by eye
    prose.py --sentences 40 --seed 1    random sentences, hits or not, for a reader from outside the project

The script reads Rust code (comments, and string literals of five words or more), Python code (comments and docstrings),
scenarios (comments) and Markdown pages. The script skips code blocks, `inline code`, examples in docstrings, images,
names with an underscore, and generated regions. A generated region begins with a comment "<!-- ..." that has "Written
from" or "written from", and ends with a comment "<!-- End of". In tables, the script checks only the length of cells.

A hit is a suspicion: the writer decides. `xtask/prose-exceptions.txt` lists the hits that stay, each with its reason; a
line of this list that excuses nothing is an error. Exit status: 1 if there are hits, or lines that excuse nothing,
otherwise 0.
"""
import argparse, collections, fnmatch, io, pathlib, random, re, subprocess, sys, tokenize

# The largest accepted numbers of words per sentence, paragraph and table cell, and of semicolons and relative clauses
# per sentence.
SENTENCE, PARAGRAPH, CELL, SEMICOLONS, RELATIVES = 35, 90, 60, 2, 3
COLUMNS = {".rs": 100, ".md": 120, ".py": 120, ".toml": 120}
EXCEPTIONS = pathlib.Path(__file__).with_name("prose-exceptions.txt")
BE = r"(?:is|are|was|were|be|been|being)"
# For each pattern's name: strings separated by `|`, and the regular expression. Each hit has at least one of the
# strings, so most sentences need only a fast search for them. In the sentences that are tested, each character of code
# is replaced by `N`.
PATTERNS = {
    "fronted-of": ("Of |: of |; of ", r"(?:^|[:;] )[Oo]f (?!course\b|(?:these,? |those,? |the |its |our |all )*(?:\d|two\b.*,))(?=.{8})"),
    "inversion": ("ed |then |First |Last ", r"^(?:Refused|Supplied|Compared|Kept|Counted|Measured|Not imitated)(?: now)?(?:,[^,]*,)? (?:is|are)\b"
                  r"|^Refused now:|\bthen (?:follows?|comes?) (?:the|a|that|those|what)\b|^(?:First|Last) (?:come|went|goes|comes)\b"),
    "which-there-is": (" there ", r"(?:,|\bof) which there (?:is|are)\b(?! none)|\bwhich there are\b(?= *[.,;:)]|$)|\bthat there (?:is|are) not\b"),
    "so-many": ("so |So ", r"\b[Ss]o (?:many|few)\b(?! (?:[a-z]+ )?(?:that|as)\b)"
                rf"|\b(?:{BE}|for|in|of|by|with|says?) so (?:long|much|large|short|far)\b(?!,? (?:that|as)\b| [a-z]+ that\b)"),
    "pronoun-same": ("he same", r"(?:^|[:;] )[Tt]he same(?: (?:with|for|of|in(?! (?:any|both|all|every))|where|without|if|at|from|between)\b|[.,;:]|$)"),
    "predicate-of": (" of ", rf"\b{BE} of (?!course|interest|no |use\b|the (?:order|form|same)|order)(?=\w)"),
    "talking-code": ("told|tell|hear|heed|want|know|say|said|ask", rf"\b{BE} told\b(?! apart| from)|\btells?\b(?![^.,;:]{{0,25}} (?:apart|from)\b)"
                     r"|\bhea(?:rs?|rd) (?:of|nothing)\b|\bheeds?\b|\bwants? (?:it|them|to|a|the)\b|\bknows? (?:of|no)\b|\bsays? (?:nothing|it|of)\b"
                     r"|\b(?:are|is) said(?: so)?\b|\bha(?:s|ve) (?:a|no) say\b|\b(?:can|could) (?:tell|say)\b|\basks? (?:whether|nothing|of|how)\b"),
    "what-heading": ("# ", r"^# (?:What|How|Which|Where|Who|Whether|When)\b(?!.*\?)"),
    "what-doc": ("What |; what ", r"^What\b[^?]*$|; what [a-z ]{3,40} (?:is|are|has|have|counts?)\b"),
    "nobody": ("body|hoever|Who |who ", r"\b(?:[Nn]obody|[Ss]omebody|[Ww]hoever)\b(?! else)|\bfor who\b"
               r"|(?:^|[,;:] )(?:for )?[Ww]ho (?!else)[a-z]+s\b(?=[^,?]* [a-z]+s\b)"),
    "odd-word": ("anew|n place of|than|mean|same|one's|seldom| not|but for|words|that| no ", r"\banew\b|\b[Ii]n place of\b|\botherwise than\b"
                 r"|\bin the mean\b|\ball the same\b|\bone's own\b|\bseldom\b|\bha(?:s|ve) not(?=[.,;:)]| and\b)|\bbut for\b|\bfor all that\b"
                 r"|\b(?:in|of) words\b(?!,? (?:per|of)\b)|(?<!here )\b(?:is|are|was) no (?!longer|more|less|fewer|different|such|need|way|reason|[a-z]+er\b)"),
    "beside": ("eside ", r"\b[Bb]eside\b(?! (?:the code|this file|each other))(?<!folder beside)"),
    "stands-lies": ("stand|lie|lay", r"\bstands?\b(?! (?:for|still|out|apart|alone|up|of)\b)"
                    r"|\b(?:lies|lie|lay)\b (?:in(?! the (?:window|range))|on|there|with|aside|behind|before|side|at|among|beside)\b"),
    "metaphor": ("shel|Shel|news|room|aside|door| face|match", r"\b(?:[Ss]hel(?:f|ves)|news|rooms|room map|aside|doors?)\b|\ba face\b"
                 r"|\bmatch(?:es)? (?:per|between)\b"),
    "that-of": ("that |those ", r"\b(?:that|those) (?:of|which|in|with|behind)\b.*\b(?:that|those) (?:of|which|in|with|behind)\b"),
    "pronoun-first": ("It |They |Its |Their |Then |So |Others ", r"^(?:It|They|Its|Their|Then|So|Others) "),
    "a-for-per": (" a | an ", r"\b(?:instructions|events|misses|bytes|packets|runs|seeds|ACKs?|lines|copies|[kMG]i?B|ms|one|row|paper|parameter) an? (?:packet"
                  r"|point|second|flow|ACK|run|round|minute|segment|call|visit|file|difference)\b(?=[.,;:)]|$| (?:in|and|at|as|late|for itself)\b| \()"),
}
PATTERNS = {name: (words.split("|"), re.compile(pattern)) for name, (words, pattern) in PATTERNS.items()}
RELATIVE = re.compile(r"\b(?:which|whose|whom|who)\b|(\w+) that (?:is|are|was|were|has|have|had|does|do|can|may|must|would|will|[a-z]+(?<!thi)s|the|a|it|no)\b")
NOT_RELATIVE = set("so such than say says said show shows shown mean means see sees sure know knows assume assumes assert asserts check after all find".split())
TOKEN = re.compile(r"""(?P<kind>///(?!/)|//!|//) ?(?P<comment>[^\n]*)|\bb?r(?P<fence>#*)".*?"(?P=fence)"""
                   r"""|"(?P<literal>(?:[^"\\]|\\.)*)"|'(?:[^'\\\n]|\\[^\n']+|\\')'""", re.DOTALL)
# A string literal that this expression matches is data, such as code or a scenario, and not prose.
DATA = re.compile(r"""^[,;:|)\]\[{]|\||\[\[|=\s*["\[{\\\d]|\{\{|<<|\(\*|;\s*$|: public """)
DOCSTRING = re.compile(r"""[a-zA-Z]*("{3}|'{3}|"|')(.*)\1""", re.DOTALL)
SECTION = re.compile(r"(?:Args|Attributes|Raises|Returns|Yields):")
ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s+")
HIDE = [(re.compile(r"`[^`]*`|\b\w+_\w+\b|\b\w+(?:::\w+)+|\{[^{}]*\}"), "N"), (re.compile(r"\]\([^)]*\)|https?://\S+|<[^<> ]+>"), " ")]
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|et al|vs|cf|No|Fig|Sec|pp|resp)\.")
END = re.compile(r"""(?<=[.!?])["')*_]*\s+(?=["'(\[*_]*[A-Z0-9])|(?<=[.!?])\*\*\s+""")
WORD = re.compile(r"\w[\w'.%/-]*")


def rust(text):
    """Yields comments and string literals of Rust as (line number, kind, body).

    The kind is `///`, `//!`, `//` or `string`. For a line without comments and string literals, it is None.

    The function splits literals at their line breaks, and skips literals that are data, such as scenario files.
    """
    lines, number, at = collections.defaultdict(list), 1, 0
    for token in TOKEN.finditer(text):
        number, at = number + text.count("\n", at, token.start()), token.start()
        if token["kind"]:
            lines[number].append((number, token["kind"], token["comment"]))
        for part in re.split(r"\\n|\n", re.sub(r"\\\n\s*", "", token["literal"] or "")):
            if len(part.split()) > 4 and not DATA.search(re.sub("`[^`]*`", "N", part)):
                lines[number] += [(number, "string", part.replace('\\"', '"')), (number, None, "")]
    for number in range(1, text.count("\n") + 2):
        yield from lines.get(number, [(number, None, "")])


def page(text):
    """Yields the lines of a Markdown page."""
    yield from ((number, "page", line) for number, line in enumerate(text.split("\n"), 1))


def scenario(text):
    """Yields the comments of a TOML file."""
    for number, line in enumerate(text.split("\n"), 1):
        found = re.match(r"(?:[^#\"']|\"[^\"]*\"|'[^']*')*# ?(.*)", line)
        yield (number, "#" if line.startswith("#") else "#after", found[1]) if found else (number, None, "")


def python(text):
    """Yields the comments and docstrings of Python."""
    lines = collections.defaultdict(lambda: (None, ""))
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("# type: "):
            lines[token.start[0]] = ("#", token.string[1:].strip())
        elif token.type == tokenize.STRING and before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.ENCODING):
            raw = DOCSTRING.fullmatch(token.string)[2].split("\n")
            margin = min((len(line) - len(line.lstrip()) for line in raw[1:] if line.strip()), default=0)
            for number, line in enumerate([raw[0], *(line[margin:] for line in raw[1:])], token.start[0]):
                lines[number] = ("doc", line)
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type
    yield from ((number, *lines[number]) for number in range(1, text.count("\n") + 2))


def docstrings(lines):
    """Yields the lines of a file without the examples (`>>>`) in docstrings, in Python and in Rust.

    Each line `name: text` in a section such as `Args:` is yielded as an item of a Markdown list: `- name: text`.
    """
    is_example = is_section = False
    for number, kind, line in lines:
        if kind not in ("doc", "///"):
            is_example = is_section = False
        is_example = line.strip() and (is_example or line.strip().startswith(">>>"))
        is_heading = kind and SECTION.fullmatch(line)
        is_section = is_heading or is_section and line[:1] in ("", " ")
        if is_section:
            line = re.sub(r"^ +", "", re.sub(r"^ {4}(?=\S[^:]*: )", "- ", line))
        yield (number, None, "") if is_example or is_heading else (number, kind, line)


LINES = {".rs": rust, ".md": page, ".toml": scenario, ".py": python}


def blocks(name, text):
    """Yields paragraphs, items, headings and strings as lists of (line number, text).

    For a line or a cell that is too long, yields a hit as a tuple: (pattern, line number, text).
    """
    ending = pathlib.Path(name).suffix
    source, block, before, is_code, is_generated = text.split("\n"), [], None, False, False
    for number, kind, body in docstrings(LINES[ending](text)):
        stripped = body.strip()
        if kind == "page" and stripped.startswith("|"):
            yield from (("long-cell", number, cell.strip()) for cell in stripped.split("|") if len(cell.split()) > CELL)
        if stripped.startswith("<!--"):
            is_generated = "End of" not in stripped and ("ritten from" in stripped or is_generated)
        if kind is None or stripped.startswith("```"):
            is_code = kind is not None and not is_code
        is_prose = stripped and not (is_code or is_generated or body.startswith("    ") and not block or stripped.startswith(("|", "```", "<!--", "![")))
        line = source[number - 1]
        if is_prose and kind != "string" and len(line) > COLUMNS[ending] and "http" not in line:
            yield "long-line", number, stripped
        is_item, is_heading = is_prose and ITEM.match(body), kind != "string" and stripped.startswith("#")
        if block and (not is_prose or kind != before or is_item or is_heading):
            yield block
            block = []
        if is_prose and is_heading:
            yield [(number, "# " + stripped.lstrip("# "))]
        elif is_prose:
            block.append((number, (ITEM.sub("", body, 1) if is_item else body).strip()))
        before = kind
    if block:
        yield block


def check(name, text):
    """Yields the hits of a file as (pattern, line number, sentence)."""
    for hit, number, sentence in sentences(name, text):
        if hit:
            yield hit, number, sentence


def sentences(name, text):
    """Yields the sentences of a file as (pattern, line number, sentence), each once per pattern that it matches.

    A sentence that matches no pattern is yielded once, with None as its pattern.
    """
    for block in blocks(name, text):
        if isinstance(block, tuple):
            yield block
            continue
        raw = whole = " ".join(part for _, part in block)
        for pattern, by in HIDE:
            whole = pattern.sub(lambda found: by * len(found[0]), whole)
        whole = ABBREVIATION.sub(lambda found: found[0].replace(".", "·"), whole)
        if len(whole) > 4 * PARAGRAPH and len(WORD.findall(whole)) > PARAGRAPH:
            yield "long-paragraph", block[0][0], raw
        start = 0
        for end in [found.end() for found in END.finditer(whole)] + [len(whole)]:
            sentence, shown, offset = whole[start:end].strip().lstrip("*_"), raw[start:end].strip(), 0
            for number, part in block:
                offset += len(part) + 1
                if offset > start:
                    break
            start = end
            hits = [pattern for pattern, (words, regex) in PATTERNS.items() if any(word in sentence for word in words) and regex.search(sentence)]
            if len(sentence) > 60 and not sentence.startswith("Source"):
                relatives = sum(found[1] not in NOT_RELATIVE for found in RELATIVE.finditer(sentence)) if sentence.count("wh") + sentence.count(" that ") > 2 else 0
                hits += ["relative-chain"] if relatives >= RELATIVES else []
                hits += ["semicolons"] if sentence.count(";") > SEMICOLONS else []
                hits += ["long-sentence"] if len(WORD.findall(sentence)) > SENTENCE else []
            hits = [hit for hit in hits if hit != "beside" or "/picture" not in name]
            yield from ((hit, number, shown) for hit in hits or [None])


def exceptions():
    """Yields the lines of `xtask/prose-exceptions.txt` as (line number, file, pattern, words of the sentence).

    The file may be a glob; the pattern and the words may be `*`, for all.
    """
    for number, line in enumerate(EXCEPTIONS.read_text().split("\n"), 1) if EXCEPTIONS.exists() else ():
        if line and not line.startswith("#"):
            name, pattern, words, _reason = (part.strip() for part in line.split(" | "))
            yield number, name, pattern, words


def main():
    """Runs the command: reads the arguments and the files that Git tracks, and prints hits, counts or sentences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).parent.parent, type=pathlib.Path)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    listed = subprocess.run(["git", "-C", args.root, "ls-files", *("*" + ending for ending in COLUMNS)], capture_output=True, text=True)
    names = [name for name in listed.stdout.split("\n")[:-1] if not name.endswith("Cargo.toml") and (args.root / name).exists()]
    texts = {name: (args.root / name).read_text() for name in names}
    if args.sentences:
        every = [(name, number, text) for name in names for _, number, text in sentences(name, texts[name]) if len(text.split()) > 4]
        for name, number, text in random.Random(args.seed).sample(every, min(args.sentences, len(every))):
            print(f"{name}:{number}: {text}")
        return
    only, hits, unused = set(filter(None, args.only.split(","))), [], list(exceptions())
    used = set()
    for name in names:
        for pattern, number, text in check(name, texts[name]):
            excuse = [it for it in unused if fnmatch.fnmatch(name, it[1]) and it[2] in ("*", pattern) and (it[3] == "*" or it[3] in text)]
            used.update(excuse)
            if not excuse and (not only or pattern in only):
                hits.append((name, pattern, number, text))
    unused = [exception for exception in unused if exception not in used]
    if args.sample:
        hits = random.Random(args.seed).sample(hits, min(args.sample, len(hits)))
    if args.count:
        folder = lambda name: name.split("/")[1].removeprefix("bbrlab-") if name.startswith("crates/") else name.split("/")[0] if "/" in name else "."
        counts, sums = collections.Counter((hit[1], folder(hit[0])) for hit in hits), collections.Counter(hit[1] for hit in hits)
        folders = sorted({folder for _, folder in counts})
        print(f"{'pattern':15}{'all':>6}" + "".join(f"{folder:>10}" for folder in folders))
        for pattern, total in [*sums.most_common(), ("all", len(hits))]:
            print(f"{pattern:15}{total:6}" + "".join(f"{sum(counts[p, folder] for p in sums if pattern in ('all', p)):10}" for folder in folders))
    for name, pattern, number, text in [] if args.count else hits:
        print(f"{name}:{number}: {pattern}: {text[:240]}")
    for number, name, pattern, words in unused:
        print(f"{EXCEPTIONS.name}:{number}: excuses nothing: {name} has no {pattern} with `{words}`")
    sys.exit(bool(hits or unused))


if __name__ == "__main__":
    main()
