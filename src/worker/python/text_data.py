"""The data in the answer of a tool, whatever the server wrote it as. What programs import as `data_of` is this."""

import json

# Longer texts are JSON or nothing: the parser of Python takes many times their size in memory.
MAX_LITERAL_CHARACTERS = 5_000_000


def data_of(answer):
    """The data of an MCP result, or of a text: the structured value, else what the text holds as JSON, also under a heading, JSON lines, a Python literal,
    CSV or a Markdown table (rows are dicts, their cells texts), else the text itself. Of several blocks a list."""
    if isinstance(answer, str):
        return _of_text(answer)
    if not isinstance(answer, dict):
        return answer
    if "structuredContent" in answer:
        return answer["structuredContent"]
    content = answer.get("content", answer)
    if not isinstance(content, list):
        return content
    blocks = [_of_block(block) for block in content]
    return blocks[0] if len(blocks) == 1 else blocks


def _of_block(block):
    is_text = isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    return _of_text(block["text"]) if is_text else block


def _of_text(text: str):
    stripped = text.strip().lstrip("\ufeff")
    for read in (json.loads, _json_lines, _literal, _json_under_heading, _markdown, _csv):
        try:
            return read(stripped)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    return text


def _json_lines(text: str):
    if not text.startswith(("{", "[")):
        raise ValueError("no JSON lines")
    return [json.loads(line) for line in text.split("\n") if line.strip() != ""]


def _literal(text: str):
    if len(text) > MAX_LITERAL_CHARACTERS or not text.startswith(("{", "[", "(", "'", '"', "None", "True", "False")):
        raise ValueError("no literal")
    import ast
    import warnings

    # An unknown escape in data is no concern of the program.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.literal_eval(text)


# Longer headings are texts of their own.
MAX_HEADING_CHARACTERS = 1_000


def _json_under_heading(text: str):
    """`Found 2 issues:`, and below it one JSON value to the end, or in one block of code."""
    import re

    start = re.search(r"\n[ \t]*(?=[{\[]|```)", text[:MAX_HEADING_CHARACTERS])
    if start is None:
        raise ValueError("no heading")
    below = text[start.end() :]
    if below.startswith("```") and below.endswith("```") and below.count("```") == 2:
        below = below[:-3].partition("\n")[2]
    value = json.loads(below)
    if not isinstance(value, (dict, list)):
        raise ValueError("no data")
    return value


def _markdown(text: str):
    lines = [line.strip() for line in text.split("\n")]
    rules = [at for at, line in enumerate(lines) if at > 0 and _is_rule(line) and "|" in lines[at - 1]]
    if len(rules) != 1:
        raise ValueError("not one table")
    header = _cells(lines[rules[0] - 1])
    rows = []
    for line in lines[rules[0] + 1 :]:
        if "|" not in line:
            break
        rows.append(_cells(line))
    return _rows(header, rows, is_padded=True)


def _is_rule(line: str) -> bool:
    return "|" in line and "-" in line and set(line) <= set("-:| \t")


def _cells(line: str) -> list:
    inner = line[1:] if line.startswith("|") else line
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [cell.replace("\0", "|").strip() for cell in inner.replace("\\|", "\0").split("|")]


def _csv(text: str):
    import csv

    first = text.split("\n", 1)[0]
    delimiter = max(",\t;|", key=first.count)
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    try:
        records = [cells for cells in reader if cells]
    except csv.Error as error:
        raise ValueError(str(error)) from None
    if len(records) < 2 or len(records[0]) < 2 or not all(_is_name(cell) for cell in records[0]):
        raise ValueError("no table")
    return _rows(records[0], records[1:])


def _is_name(cell: str) -> bool:
    name = cell.strip()
    return len(name) <= 80 and not name.endswith((".", "!", "?", ":")) and len(name.split(" ")) <= 6


def _rows(header: list, rows: list, is_padded: bool = False) -> list:
    counts: dict = {}
    names = []
    for at, cell in enumerate(header):
        name = free = cell or f"column_{at + 1}"
        while free in counts:
            counts[name] += 1
            free = f"{name}_{counts[name]}"
        counts[free] = 1
        names.append(free)
    for row in rows:
        if len(row) > len(names) or (len(row) < len(names) and not is_padded):
            raise ValueError("a row does not fit the header")
    return [dict(zip(names, [*row, *[""] * (len(names) - len(row))])) for row in rows]
