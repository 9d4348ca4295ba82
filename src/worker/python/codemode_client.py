"""Calls of tools from a program. What programs import as `client.mcp_client` is this."""

import asyncio
import concurrent.futures
import json
import os
import sys
import threading

import frames

__all__ = ["ToolError", "call_tool", "call_tool_sync", "catalog", "normalize"]

# What calls of the catalog go to: no server has this name.
CATALOG = "@catalog"
# The host is told the lines of so many calls, and looks for each in so many frames: later ones are known by their number.
MAX_LOCATED_CALLS = 50
MAX_FRAMES = 50


class ToolError(Exception):
    """A tool call that failed.

    `type` names the kind of failure, `retryable` says whether the same call may succeed later, `hint` what to do next,
    `raw` is what the tool answered, or everything that is known about it.
    """

    def __init__(self, message, type="ToolCallError", retryable=False, hint="", raw=None):
        super().__init__(message)
        self.message = message
        self.type = type
        self.retryable = retryable
        self.hint = hint
        self.raw = raw


# Programs know it by the module that they import it from.
ToolError.__module__ = "client.mcp_client"


async def call_tool(server_id: str, name: str, arguments: "dict | None" = None):
    """Calls a tool of a server and gives its MCP result. Raises `ToolError`."""
    return await asyncio.wrap_future(_connection.call(server_id, name, arguments))


def call_tool_sync(server_id: str, name: str, arguments: "dict | None" = None):
    """The same for code without an event loop: waits for the answer."""
    return _connection.call(server_id, name, arguments).result()


async def normalize(call):
    """An awaitable call as {ok: True, data, raw} or {ok: False, error: {type, message, retryable}, raw}."""
    try:
        raw = await call
    except ToolError as error:
        told = {"type": error.type, "message": error.message, "retryable": error.retryable}
        return {"ok": False, "error": told, "raw": error.raw}
    data = _data_of(raw)
    if not isinstance(raw, dict) or raw.get("isError") is not True:
        return {"ok": True, "data": data, "raw": raw}
    # A result that the program kept or got from elsewhere: a failed call raises.
    message = data if isinstance(data, str) else json.dumps(data)
    return {"ok": False, "error": {"type": "ToolError", "message": message, "retryable": False}, "raw": raw}


def _data_of(raw):
    """Structured content where there is some, else a single text, else the content blocks."""
    if not isinstance(raw, dict):
        return raw
    if "structuredContent" in raw:
        return raw["structuredContent"]
    content = raw.get("content", raw)
    if isinstance(content, list) and len(content) == 1 and content[0].get("type") == "text":
        return content[0].get("text")
    return content


class Catalog:
    """Which tools there are. Questions are given as one dict, or as keyword arguments; answers are awaited."""

    async def searchTools(self, question: "dict | None" = None, **more):
        """Manifest entries that fit: query, serverId, detail ("name" or "name+description"), limit."""
        return await call_tool(CATALOG, "searchTools", _question(question, more))

    async def getToolDefinition(self, question: "dict | None" = None, **more):
        """The whole definition of one tool: serverId, name."""
        return await call_tool(CATALOG, "getToolDefinition", _question(question, more))

    search_tools = searchTools
    get_tool_definition = getToolDefinition


def _question(question, more: dict) -> dict:
    # `search_tools("words")` is what other contracts have.
    named = {"query": question} if isinstance(question, str) else (question or {})
    asked = {**named, **more}
    return {"serverId" if key == "server_id" else key: value for key, value in asked.items()}


catalog = Catalog()


class Connection:
    """The program's end of the channel. One thread reads the answers, so that calls work from every loop and thread."""

    def __init__(self, descriptor: int, execution: str, program: str = ""):
        self._descriptor = descriptor
        self._execution = execution
        self._program = program
        self._lock = threading.Lock()
        self._open: "dict[int, concurrent.futures.Future]" = {}
        self._last_number = 0
        self._reader: "threading.Thread | None" = None
        self._owner = os.getpid()

    def call(self, server_id, name, arguments):
        if not isinstance(server_id, str) or not isinstance(name, str):
            raise TypeError("the server and the tool are named by strings")
        try:
            body = json.dumps([{} if arguments is None else arguments], ensure_ascii=True, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            hint = "Pass dicts with string keys, lists, strings, finite numbers, booleans and None."
            raise ToolError(f"the arguments are not JSON: {error}", type="InvalidArguments", hint=hint) from None
        if os.getpid() != self._owner:
            raise ToolError("tools can be called by the process that was started, not by a fork of it")
        line = self._line() if self._last_number < MAX_LOCATED_CALLS else None
        answer: concurrent.futures.Future = concurrent.futures.Future()
        # Running from the start: an answer that comes after its waiter was cancelled has somewhere to go.
        answer.set_running_or_notify_cancel()
        # Numbers must arrive in order, so the number is given where the frame is written.
        with self._lock:
            if self._reader is None:
                self._reader = threading.Thread(target=self._read, name="codemode", daemon=True)
                self._reader.start()
            self._last_number += 1
            number = self._last_number
            self._open[number] = answer
            self._write(
                {
                    "type": "call/request",
                    "execution": self._execution,
                    "call": number,
                    "target": f"{server_id}/{name}",
                    **({} if line is None else {"line": line}),
                },
                body,
            )
        return answer

    def is_alone(self) -> bool:
        """Whether nothing but the main thread, which asks, can go on: no call is open, and there is no other thread."""
        own = {threading.main_thread(), self._reader}
        return not self._open and threading.current_thread() is threading.main_thread() and set(threading.enumerate()) <= own

    def _line(self) -> "int | None":
        """The innermost line of the program that led here. None where a task of its own makes the call."""
        frame = sys._getframe(2)
        for _ in range(MAX_FRAMES):
            if frame is None or frame.f_code.co_filename == self._program:
                break
            frame = frame.f_back
        else:
            frame = None
        return None if frame is None else frame.f_lineno

    def end(self, failure, exit_code: int, result: bytes) -> None:
        with self._lock:
            head = {"type": "process/end", "execution": self._execution, "failure": failure, "exitCode": exit_code}
            self._write(head, result)

    def _write(self, head: dict, body: bytes) -> None:
        frames.write_all(self._descriptor, frames.encode_frame(head, body))

    def _read(self) -> None:
        try:
            while (frame := frames.read_frame(self._descriptor)) is not None:
                head, body = frame
                number = head.get("call")
                answer = self._open.get(number)
                if answer is None:
                    continue
                try:
                    _settle(answer, head, body)
                finally:
                    # Not before: a loop with no open call and nobody to wake it counts as stuck.
                    self._open.pop(number, None)
        except (OSError, frames.FrameError, ValueError):
            pass
        for answer in list(self._open.values()):
            answer.set_exception(ToolError("the channel to the host was closed"))


def _settle(answer, head: dict, body: bytes) -> None:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        # One answer that Python cannot read must not cost all that come after it.
        answer.set_exception(ToolError(f"the answer of the tool cannot be read: {error}"))
        return
    if head["type"] == "call/result":
        answer.set_result(value)
    else:
        answer.set_exception(_error_of(value))


def _error_of(raw: dict) -> ToolError:
    fields = raw.get("fields") or {}
    return ToolError(
        raw["message"],
        type=raw["errorClass"],
        retryable=fields.get("retryable") is True,
        hint=raw["hint"],
        # What the tool itself answered, where it was the tool that failed.
        raw=fields.get("result", raw),
    )


_connection: Connection = None  # type: ignore[assignment]


def connect(descriptor: int, execution: str, program: str = "") -> Connection:
    """`program`: the file whose lines are told with calls."""
    global _connection
    _connection = Connection(descriptor, execution, program)
    return _connection
