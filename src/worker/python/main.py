"""One program on CPython: say hello, wait for it, run it, hand over what it came to. Then the process is over.

Started ahead of need, with the modules that programs use most already imported.
"""

import gc
import sys

# Nothing of what is imported here is ever garbage.
gc.disable()
OWN_FOLDER = __file__.rpartition("/")[0]
sys.path.insert(0, OWN_FOLDER)
# `asyncio` would load OpenSSL, for connections that no program here can make. Programs that import `ssl` get it.
sys.modules["ssl"] = None

import _thread  # noqa: E402
import ast  # noqa: E402
import asyncio  # noqa: E402
import atexit  # noqa: E402
import concurrent.futures  # noqa: E402
import contextvars  # noqa: E402
import inspect  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import select  # noqa: E402
import signal  # noqa: E402
import threading  # noqa: E402
import types  # noqa: E402

import check_calls  # noqa: E402
import codemode_client  # noqa: E402
import failures  # noqa: E402
import frames  # noqa: E402
import text_data  # noqa: E402

# What programs import most: from here on it costs them nothing. Each costs every start, so rare ones are not among them.
import base64, collections, contextlib, copy, dataclasses, datetime, enum, functools, heapq, io, itertools, logging  # noqa
import math, operator, pathlib, random, re, string, textwrap, time, traceback, typing, unicodedata, urllib.parse  # noqa

del sys.modules["ssl"]
gc.freeze()
gc.enable()

CHANNEL = 3
PROTOCOL = 5
BUILD = "codemode-build-id-placeholder"
CLIENT = """from codemode_client import ToolError, call_tool, call_tool_sync, catalog, normalize
from text_data import data_of
"""
RUN = asyncio.run
MAX_RESULT_BYTES = 32 * 1024 * 1024
# What the end of a program could not be told by, told by its status.
EXIT_WITHOUT_WORDS = 70
WATCHER_STACK_BYTES = 256 * 1024
# Of calls that were not awaited.
MAX_LOOKED_AT = 100
MAX_TOLD = 5


def main() -> None:
    workspace = sys.argv[1]
    os.set_inheritable(CHANNEL, False)
    end_with_host()
    # A program that is killed has said what it printed.
    sys.stdout.reconfigure(line_buffering=True)
    frames.write_all(
        CHANNEL,
        frames.encode_frame({"type": "worker/ready", "protocol": PROTOCOL, "build": BUILD, "role": "python"}),
    )
    while (frame := frames.read_frame(CHANNEL)) is not None:
        head, body = frame
        if head["type"] == "host/hello" and (head["protocol"] != PROTOCOL or head["build"] != BUILD):
            os._exit(1)
        if head["type"] == "process/start":
            start = json.loads(body)
            if start.get("seed") is not None:
                random.seed(start["seed"])
            connection = codemode_client.connect(CHANNEL, head["execution"], f"{workspace}/program.py")
            run(connection, workspace, start["source"], start["files"])


def end_with_host() -> None:
    """Ends the process when the host is gone, whatever the program is doing: a thread waits for that and reads nothing."""
    closed = select.poll()
    closed.register(CHANNEL, select.POLLRDHUP)

    def wait(leave=os._exit) -> None:
        closed.poll()
        leave(EXIT_WITHOUT_WORDS)

    usual = threading.stack_size(WATCHER_STACK_BYTES)
    # Not `threading`: it is no thread of the program's, and a program that forks must not be warned of it.
    _thread.start_new_thread(wait, ())
    threading.stack_size(usual)


def run(connection, workspace: str, source: str, files: list) -> None:
    owner = os.getpid()
    program = f"{workspace}/program.py"
    failure, exit_code, result, namespace = None, 0, b"", {}
    try:
        for path, text in [["client/__init__.py", ""], ["client/mcp_client.py", CLIENT], *files, ["program.py", source]]:
            write_file(f"{workspace}/{path}", text)
        namespace = prepare(workspace, program)
        mistake = check_calls.problem_in(source, files)
        if mistake is not None:
            raise Mistaken(mistake)
        execute(source, program, namespace, connection)
        wind_up()
        result = result_json(namespace)
        tell_unawaited(namespace)
    except SystemExit as request:
        exit_code = exit_code_of(request)
        try:
            wind_up()
            result = result_json(namespace) if exit_code == 0 else b""
        except BaseException as error:  # noqa: BLE001
            failure, exit_code = tell(error, program), 1
    except Mistaken as refusal:
        failure, exit_code = refusal.failure, 1
        sys.stderr.write(failure["stack"])
    except NotSerializable as refusal:
        failure, exit_code = refusal.failure, 1
    except NeverSettled as stuck:
        failure, exit_code, result = stuck.failure, 1, result_so_far(namespace)
    except BaseException as error:  # noqa: BLE001
        failure, exit_code, result = tell(error, program), 1, result_so_far(namespace)
    flush()
    # A fork that comes to the end of the program is not the program.
    if os.getpid() == owner:
        try:
            connection.end(failure, exit_code, result)
        except OSError:
            # The program has closed the channel: its status is the only word it has left.
            exit_code = exit_code or (EXIT_WITHOUT_WORDS if failure else 0)
    os._exit(exit_code)


def write_file(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def prepare(workspace: str, program: str) -> dict:
    """The module `__main__`, in a process that looks as if it had been started with the program."""
    os.chdir(workspace)
    sys.argv[:] = [program]
    sys.path.remove(OWN_FOLDER)
    sys.path.insert(0, workspace)
    module = types.ModuleType("__main__")
    module.__file__ = program
    module.catalog = codemode_client.catalog
    sys.modules["__main__"] = module
    return module.__dict__


def execute(source: str, program: str, namespace: dict, connection) -> None:
    code = compile(source, program, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run = run_beside
        races = Races()
        asyncio.wait = races.wait
        deadlock = Deadlock(connection, program)
        RUN(with_all_tasks(eval(code, namespace), lambda: "result" in namespace and races.are_over(), deadlock))
    else:
        asyncio.run = lambda main, **options: run_watched(Deadlock(connection, program), main, options)
        exec(code, namespace)


def run_watched(deadlock, main, options: dict):
    # What `asyncio.run` refuses, it refuses itself.
    is_refused = not inspect.iscoroutine(main) or asyncio._get_running_loop() is not None
    return RUN(main if is_refused else deadlock.told(main), **options)


def run_beside(main, **options):
    """`asyncio.run` of a program that awaits at its top level as well: where a loop runs already, on a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return RUN(main, **options)
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        return beside.submit(contextvars.copy_context().run, RUN, main, **options).result()


class Races:
    """Which tasks were under way when the first of several had won: what lost a race is left open by intent, as in JavaScript."""

    def __init__(self) -> None:
        self.wait_for_some = asyncio.wait
        self.left_behind: set = set()

    async def wait(self, fs, *, timeout=None, return_when=asyncio.ALL_COMPLETED):
        done, pending = await self.wait_for_some(fs, timeout=timeout, return_when=return_when)
        if pending and return_when == asyncio.FIRST_COMPLETED:
            self.left_behind = asyncio.all_tasks()
        return done, pending

    def are_over(self) -> bool:
        return bool(self.left_behind) and asyncio.all_tasks() - {asyncio.current_task()} <= self.left_behind


async def with_all_tasks(program, has_raced, deadlock) -> None:
    """The program, and then what it left under way: `asyncio.run` alone would cancel that, as it does with what lost a race."""
    await deadlock.told(program)
    if has_raced():
        return
    try:
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)
    except asyncio.CancelledError:
        # What nobody waits for and nothing can settle is left open, as in JavaScript.
        if not deadlock.is_found:
            raise


class Deadlock:
    """
    Finds that a loop waits for what nothing can settle any more: it has no timer, no file, no call, and there is no other thread
    and no signal handler that could wake it. Its task is cancelled then, once.
    """

    def __init__(self, connection, program: str) -> None:
        self.connection = connection
        self.program = program
        self.is_found = False

    async def told(self, main):
        self._watch(asyncio.get_running_loop(), asyncio.current_task())
        try:
            return await main
        except asyncio.CancelledError as error:
            if not self.is_found:
                raise
            raise NeverSettled(failures.failure_of(error, self.program).get("position")) from None

    def _watch(self, loop, task) -> None:
        selector = getattr(loop, "_selector", None)
        if selector is None:
            return
        wait = selector.select

        def select_or_cancel(timeout=None):
            # Without a timeout nothing is ready and no timer is set. The one file is the loop's own, by which threads wake it.
            if timeout is not None or self.is_found or len(selector.get_map()) > 1 or not self._is_alone():
                return wait(timeout)
            events = wait(0)
            if not events:
                self.is_found = True
                task.cancel()
            return events

        selector.select = select_or_cancel

    def _is_alone(self) -> bool:
        handled = (each for each in signal.valid_signals() - {signal.SIGINT} if callable(signal.getsignal(each)))
        return self.connection.is_alone() and next(handled, None) is None


class NeverSettled(Exception):
    def __init__(self, position: "dict | None"):
        message = "the program awaits a future that nothing can settle any more"
        super().__init__(message)
        place = {} if position is None else {"position": position}
        hint = "Look for a future, an event or a queue that nobody sets."
        self.failure = {"kind": "never_settled", "name": "Error", "message": message, "hint": hint, **place}


def wind_up() -> None:
    """What the interpreter does at its end: threads are waited for, then handlers run."""
    threading._shutdown()
    atexit._run_exitfuncs()


class Mistaken(Exception):
    """A program that would surely fail. Nothing of it has run."""

    def __init__(self, failure: dict):
        super().__init__(failure["message"])
        self.failure = failure


class NotSerializable(Exception):
    def __init__(self, kind: str, message: str, hint: str, **more):
        super().__init__(message)
        name = "TypeError" if kind == "not_serializable" else "SandboxLimitError"
        self.failure = {"kind": kind, "name": name, "message": message, "hint": hint, **more}


def place_of(value, depth: int = 20) -> str:
    """Where in the result the first value is that JSON has no word for; nothing where it is the result itself."""
    place = ""
    while depth > 0:
        depth -= 1
        if isinstance(value, dict):
            items = [(f"[{json.dumps(key, default=str)[:80]}]", each) for key, each in value.items()]
        elif isinstance(value, (list, tuple)):
            items = [(f"[{at}]", each) for at, each in enumerate(value)]
        else:
            break
        bad = next((item for item in items if not is_json(item[1])), None)
        if bad is None:
            break
        place, value = place + bad[0], bad[1]
    at = "" if place == "" else f" at result{place}"
    return at if not inspect.iscoroutine(value) else f"{at}; not awaited: {value.__name__}(...){line_of_call(value.__name__)}"


def tell_unawaited(namespace: dict) -> None:
    """Names calls that a variable holds and nobody awaited: they were never made. The interpreter warns of those that are gone only."""
    names = set()
    for value in list(namespace.values()):
        for each in value[:MAX_LOOKED_AT] if type(value) in (list, tuple) else (value,):
            if inspect.iscoroutine(each) and inspect.getcoroutinestate(each) == inspect.CORO_CREATED:
                names.add(each.__name__)
    try:
        for name in sorted(names)[:MAX_TOLD]:
            sys.stderr.write(f"warning: not awaited, so it was never called: {name}(...){line_of_call(name)}. Write `await` in front of it.\n")
    except Exception:  # the program has closed it
        pass


def line_of_call(name: str) -> str:
    """Where the program calls this function without `await`, as far as its text tells."""
    try:
        with open(sys.argv[0], encoding="utf-8") as file:
            nodes = list(ast.walk(ast.parse(file.read())))
    except Exception:  # the program has changed its name or its file
        return ""
    awaited = {node.value for node in nodes if isinstance(node, ast.Await)}
    calls = [node for node in nodes if isinstance(node, ast.Call) and node not in awaited]
    lines = [node.lineno for node in calls if name in (getattr(node.func, "id", ""), getattr(node.func, "attr", ""))]
    return f" at line {min(lines)}" if lines else ""


def is_json(value) -> bool:
    try:
        json.dumps(value, allow_nan=False)
        return True
    except Exception:
        return False


def result_json(namespace: dict) -> bytes:
    if "result" not in namespace:
        return b""
    try:
        # Escaped, so that a half of a surrogate pair can be said too.
        text = json.dumps(namespace["result"], allow_nan=False, separators=(",", ":")).encode()
    except Exception as error:
        raise NotSerializable(
            "not_serializable",
            f"`result` is not JSON: {error}{place_of(namespace['result'])}"[: failures.MAX_TEXT],
            "Set `result` to dicts with string keys, lists, strings, finite numbers, booleans and None.",
        ) from None
    if len(text) > MAX_RESULT_BYTES:
        raise NotSerializable(
            "limit",
            f"`result` has {len(text)} bytes of JSON; the most is {MAX_RESULT_BYTES}",
            "Filter or summarise before setting `result`.",
            limit="output",
        )
    return text


def result_so_far(namespace: dict) -> bytes:
    """What a program that failed had set by then, where that is JSON."""
    try:
        return result_json(namespace)
    except BaseException:  # noqa: BLE001
        return b""


def exit_code_of(request: SystemExit) -> int:
    if request.code is None:
        return 0
    if isinstance(request.code, int):
        return request.code & 0xFF
    print(request.code, file=sys.stderr)
    return 1


def tell(error: BaseException, program: str) -> dict:
    """Prints the error as Python would, and gives it in the words of the wire."""
    failure = failures.failure_of(error, program)
    try:
        sys.stderr.write(failure["stack"])
    except Exception:  # the program has closed or replaced it
        pass
    return failure


def flush() -> None:
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except Exception:
            pass


main()
