"""What a program failed with, in the words of the wire (`Failure` in src/domain/run.ts)."""

import errno
import itertools
import os
import re
import traceback

import codemode_client

MAX_NAME = 256
MAX_TEXT = 8_000
MAX_HINT = 2_000


def failure_of(error: BaseException, program: str) -> dict:
    """Kind, name, message, the place in the program, and a traceback of the program's own lines."""
    shown = own_traceback(error, os.path.dirname(program))
    failure = {
        "kind": _kind_of(error),
        "name": type(error).__name__[:MAX_NAME],
        "message": _message_of(error)[:MAX_TEXT],
        "stack": shown[-MAX_TEXT:],
    }
    if isinstance(error, codemode_client.ToolError):
        # Nobody caught a call that failed: its kind says whether another run may do better.
        failure["errorClass"] = str(error.type)[:MAX_NAME] or "ToolError"
        if error.hint:
            failure["hint"] = str(error.hint)[:MAX_HINT]
    limit = _limit_of(error)
    if limit is not None:
        failure["limit"] = limit
        failure["message"] = failure["message"] or "the program asked for more memory than it may have"
    position = _position_of(error, program)
    if position is not None:
        failure["position"] = position
    return failure


def own_traceback(error: BaseException, workspace: str) -> str:
    """As Python prints it, without the frames of ours, of the standard library and of generated modules."""
    told = traceback.TracebackException.from_exception(error, compact=True)
    _keep_own_frames(told, workspace)
    return "".join(told.format())


def _keep_own_frames(told, workspace: str) -> None:
    seen, waiting = set(), [told]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.stack[:] = [frame for frame in each.stack if _is_own(frame.filename, workspace)]
        waiting += [each.__cause__, each.__context__, *(getattr(each, "exceptions", None) or ())]


def _is_own(filename: str, workspace: str) -> bool:
    generated = (f"{workspace}/servers/", f"{workspace}/client/")
    return filename.startswith(f"{workspace}/") and not filename.startswith(generated)


def _kind_of(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return "syntax"
    if isinstance(error, ImportError):
        return "import"
    if _limit_of(error) is not None:
        return "limit"
    return "exception"


# No room, over the quota, larger than a file may be: a workspace is one file system with one limit.
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _limit_of(error: BaseException) -> "str | None":
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, RecursionError):
        return "stack"
    if isinstance(error, OSError) and error.errno in DISK:
        return "disk"
    if isinstance(error, RuntimeError) and _message_of(error) == "can't start new thread":
        return "processes"
    if isinstance(error, OSError) and error.errno == errno.EAGAIN and _starts_processes(error):
        return "processes"
    return None


def _starts_processes(error: BaseException) -> bool:
    """EAGAIN is also what a read without waiting gives: the line that failed tells them apart."""
    last = next(iter(traceback.extract_tb(error.__traceback__)[-1:]), None)
    return last is not None and re.search(r"fork|spawn|popen|system", last.line or "", re.IGNORECASE) is not None


def _message_of(error: BaseException) -> str:
    try:
        if isinstance(error, SyntaxError):
            return error.msg or "invalid syntax"
        return str(error)
    except Exception:  # a `__str__` of the program's own
        return "<an exception that cannot be shown>"


def _position_of(error: BaseException, program: str) -> "dict | None":
    if isinstance(error, SyntaxError) and error.filename == program:
        return {"line": error.lineno or 1, "column": max(1, error.offset or 1)}
    found, step = None, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == program:
            found = step
        step = step.tb_next
    if found is None:
        return None
    places = found.tb_frame.f_code.co_positions()
    _, _, column, _ = next(itertools.islice(places, found.tb_lasti // 2, None), (None, None, None, None))
    return {"line": found.tb_lineno, "column": 1 + (column or 0)}
