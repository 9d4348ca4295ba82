"""Finds calls of tools that would surely fail, before the program starts: nothing was sent then.

It reads the program's tree and the modules that the host wrote for its servers. What may be fine stops nothing: a program that
handles errors, or that changes names as it runs, is not judged.
"""

import ast
import json

# A comment of the host's in each server's module.
INPUTS = "#: inputs "
# A program that uses one of these may count on an error, or bind names where nobody sees it.
UNJUDGED = frozenset(
    """suppress normalize return_exceptions contextmanager asynccontextmanager ExitStack AsyncExitStack __exit__ __aexit__
    hasattr getattr setattr delattr exec eval globals locals vars import_module __import__ create_task ensure_future wait
    submit Thread run_coroutine_threadsafe add_done_callback exception""".split()
)
MAX_TEXT = 2_000
# Longer lines are not repeated.
MAX_LINE = 160
MAX_NAMED = 20


def problem_in(source: str, files: list) -> "dict | None":
    """The first call that would surely fail, in the words of the wire, or nothing."""
    if "servers" not in source:
        return None
    try:
        return _Program(source, {path: text for path, text in files}).problem()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # Python says itself what it does not understand.
        return None


class _Program:
    def __init__(self, source: str, files: dict):
        self.lines = source.split("\n")
        self.files = files
        self.tree = compile(source, "program.py", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        self.known: dict = {}
        # What names mean: `write` is a function of `ledger`, `ledger` is a module.
        self.functions: dict = {}
        self.modules: dict = {}

    def problem(self) -> "dict | None":
        nodes = list(ast.walk(self.tree))
        if any(_is_unjudged(node) for node in nodes):
            return None
        found = [self.import_problem(node) for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
        bound = _bound_names(nodes)
        for name in [name for name in (*self.functions, *self.modules) if bound.get(name, 0) > 1]:
            self.functions.pop(name, None)
            self.modules.pop(name, None)
        found += [self.call_problem(node) for node in nodes if isinstance(node, ast.Call)]
        return min((each for each in found if each is not None), key=_place, default=None)

    def module(self, name: str) -> "_Module | None":
        if name not in self.known:
            text = self.files.get(f"servers/{name}/__init__.py", "")
            line = _line_of(text, INPUTS)
            self.known[name] = None if line is None else _Module(name, text, json.loads(line))
        return self.known[name]

    def import_problem(self, node) -> "dict | None":
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                if parts[0] == "servers" and len(parts) == 2 and self.module(parts[1]):
                    self.modules[alias.asname or alias.name] = self.module(parts[1])
            return None
        parts = (node.module or "").split(".")
        if node.level != 0 or parts[0] != "servers":
            return None
        if len(parts) == 1:
            for alias in node.names:
                if self.module(alias.name):
                    self.modules[alias.asname or alias.name] = self.module(alias.name)
            return None
        module = self.module(parts[1]) if len(parts) == 2 else None
        if module is None:
            return None
        for alias in node.names:
            if alias.name in module.inputs:
                self.functions[alias.asname or alias.name] = (module, alias.name)
            elif alias.name != "*" and not module.has(alias.name):
                message = f"cannot import name {alias.name!r} from 'servers.{module.name}'"
                meant = _close(alias.name, module.inputs)
                near = _near(alias.name, module.inputs)
                return self.failure("import", "ImportError", message, alias, (alias.name, meant), near, module)
        return None

    def call_problem(self, node: ast.Call) -> "dict | None":
        if isinstance(node.func, ast.Name):
            module, name = self.functions.get(node.func.id, (None, ""))
        elif isinstance(node.func, ast.Attribute):
            module, name = self.modules.get(_dotted(node.func.value)), node.func.attr
        else:
            return None
        if module is None:
            return None
        if name not in module.inputs:
            if module.has(name) or name in self.assigned():
                return None
            message = f"module 'servers.{module.name}' has no function {name!r}"
            meant = _close(name, module.inputs)
            return self.failure("type", "AttributeError", message, node.func, (name, meant), module=module)
        takes = module.inputs[name]
        return None if takes is None else self.argument_problem(node, name, takes)

    def assigned(self) -> set:
        """Attributes that the program sets, of whatever."""
        return {
            node.attr
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del))
        }

    def argument_problem(self, node: ast.Call, name: str, takes: list) -> "dict | None":
        if len(node.args) > 1 or any(isinstance(each, ast.Starred) for each in node.args):
            return None
        names = [each.rstrip("!") for each in takes if each != "*"]
        # The one value may be named too, unless the tool has an argument of that name.
        whole = [word for word in node.keywords if word.arg == "arguments" and "arguments" not in names]
        given = [(word.arg, word) for word in node.keywords if word.arg is not None and word not in whole]
        positional = [*node.args, *(word.value for word in whole)]
        is_whole = all(word.arg is not None for word in node.keywords)
        for value in positional:
            if not isinstance(value, ast.Dict):
                is_whole = is_whole and isinstance(value, ast.Constant) and value.value is None
                continue
            for key in value.keys:
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    given.append((key.value, key))
                else:
                    is_whole = False
        missing = [each[:-1] for each in takes if each.endswith("!") and each[:-1] not in dict(given)]
        lacks = missing if is_whole else []
        for each, place in given:
            # More than is known is allowed, unless the schema forbids it; in place of what is required it is a mistake.
            if each not in names and ("*" not in takes or lacks):
                message = f"{name} has no argument {each!r}; it takes {_listed(takes)}"
                return self.failure("type", "TypeError", message, place, (each, _close(each, lacks or names)))
        if lacks:
            message = f"{name} needs {', '.join(repr(each) for each in lacks)}; it takes {_listed(takes)}"
            return self.failure("type", "TypeError", message, node, ("", None))
        return None

    def failure(self, kind: str, name: str, message: str, node, correction: tuple, near=(), module=None) -> dict:
        line = self.lines[node.lineno - 1] if node.lineno <= len(self.lines) else ""
        # Python counts bytes, people count characters.
        column = len(line.encode()[: node.col_offset].decode(errors="ignore")) + 1
        written, meant = correction
        corrected = (line[: column - 1] + line[column - 1 :].replace(written, meant or "", 1)).strip()
        shown = f": `{corrected}`" if len(corrected) <= MAX_LINE else ""
        # Of several names that are close, none is certain.
        guess = f"Did you mean {' or '.join(near)}? " if near else "" if module is None else module.listed()
        advice = guess if meant is None else f"Write {meant}{shown}. "
        told = message[:MAX_TEXT]
        return {
            "kind": kind,
            "name": name,
            "message": told,
            "hint": f"{advice}Nothing was sent. Correct the program and run it again.",
            "stack": f'  File "program.py", line {node.lineno}\n    {line.strip()[:200]}\n{name}: {told}\n',
            "position": {"line": node.lineno, "column": column},
        }


class _Module:
    """A server's module as the host wrote it: its functions, and what each takes; None where that cannot be said by names."""

    def __init__(self, name: str, text: str, inputs: dict):
        self.name = name
        self.inputs = inputs
        self.text = text

    def listed(self) -> str:
        """Its functions, for a name that is close to none of them."""
        names = list(self.inputs)
        more = ", ..." if len(names) > MAX_NAMED else ""
        return f"Functions of {self.name}: {', '.join(names[:MAX_NAMED])}{more}. " if names else ""

    def has(self, name: str) -> bool:
        """Names besides the functions: types, and what is ours."""
        if name.startswith("_"):
            return True
        line = _line_of(self.text, "_type_names = ") or ""
        return name in line.strip('"').split()


def _line_of(text: str, head: str) -> "str | None":
    """What follows on the line that begins so. A module may have a megabyte: it is not cut into lines."""
    at = text.find(f"\n{head}")
    return None if at < 0 else text[at + 1 + len(head) :].partition("\n")[0]


def _is_unjudged(node) -> bool:
    if type(node).__name__ in ("Try", "TryStar"):
        return bool(node.handlers)
    # Names, attributes, functions and classes, keywords and what is imported.
    names = (getattr(node, field, None) for field in ("id", "attr", "name", "arg"))
    return any(isinstance(name, str) and name in UNJUDGED for name in names)


def _bound_names(nodes: list) -> dict:
    """How often each name is given a meaning, anywhere."""
    bound: dict = {}

    def bind(name):
        if name is not None:
            bound[name] = bound.get(name, 0) + 1

    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bind(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bind(node.name)
        elif isinstance(node, ast.arg):
            bind(node.arg)
        elif isinstance(node, ast.alias):
            bind(node.asname or node.name)
        elif type(node).__name__ in ("MatchAs", "MatchStar", "MatchMapping"):
            bind(getattr(node, "name", None) or getattr(node, "rest", None))
    return bound


def _dotted(node) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return ""


def _close(name: str, names) -> "str | None":
    close = _near(name, names)
    return close[0] if len(close) == 1 else None


def _near(name: str, names) -> tuple:
    import difflib

    return tuple(difflib.get_close_matches(name, list(names), 2, 0.6))


def _listed(takes: list) -> str:
    names = [each[:-1] if each.endswith("!") else f"{each} (optional)" for each in takes if each != "*"]
    return ", ".join(names) or "no arguments"


def _place(failure: dict) -> tuple:
    return (failure["position"]["line"], failure["position"]["column"])
