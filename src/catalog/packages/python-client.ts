/** `client/_wrappers.py`: what the functions of all servers are made of. */
export const PYTHON_WRAPPERS = `"""What the generated modules of servers share."""

from client.mcp_client import call_tool


def caller(server_id):
    async def call(tool_name, arguments, named):
        if named:
            if arguments is None:
                arguments = {}
            if not isinstance(arguments, dict):
                raise TypeError("give the input as one value or by name, not both")
            for name in named:
                if name in arguments:
                    raise TypeError(f"got multiple values for argument {name!r}")
            arguments = {**arguments, **named}
        return await call_tool(server_id, tool_name, arguments)

    return call


def attribute(module, name, types, functions):
    """A name that a module does not define: a type of its stubs, or a mistake."""
    if name in types:
        return dict
    message = f"module {module!r} has no attribute {name!r}"
    if not name.startswith("__"):
        import difflib

        close = difflib.get_close_matches(name, functions, 3, 0.5)
        if close:
            message += ". Did you mean " + " or ".join(close) + "?"
    raise AttributeError(message)
`;

/** `client/results.py`. */
export const PYTHON_RESULTS = `"""Results of tools in one shape."""

import inspect
import json

from client.mcp_client import ToolError


async def normalize(call):
    """What a call came to: {ok: True, data, raw} or {ok: False, error, raw}. Takes the call or its result."""
    try:
        raw = await call if inspect.isawaitable(call) else call
    except ToolError as error:
        failure = {"type": error.type, "message": str(error), "retryable": error.retryable}
        return {"ok": False, "error": failure, "raw": error.raw}
    data = data_of(raw)
    if not (isinstance(raw, dict) and raw.get("isError") is True):
        return {"ok": True, "data": data, "raw": raw}
    message = data if isinstance(data, str) else json.dumps(data)
    return {"ok": False, "error": {"type": "ToolCallError", "message": message, "retryable": False}, "raw": raw}


def data_of(result):
    """The structured value, else the text where there is nothing else, else the content."""
    if not isinstance(result, dict):
        return result
    if "structuredContent" in result:
        return result["structuredContent"]
    content = result.get("content")
    if not isinstance(content, list):
        return result
    if len(content) == 1 and content[0].get("type") == "text":
        return content[0]["text"]
    return content
`;

/** `client/results.pyi`. */
export const PYTHON_RESULTS_STUB = `from collections.abc import Awaitable
from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar, overload

from client.mcp_client import StructuredResult, ToolResult

Value = TypeVar("Value")

class Failure(TypedDict):
    type: str
    message: str
    retryable: bool

class Success(TypedDict, Generic[Value]):
    ok: Literal[True]
    data: Value
    raw: Any

class Refusal(TypedDict):
    ok: Literal[False]
    error: Failure
    raw: NotRequired[Any]

@overload
async def normalize(
    call: StructuredResult[Value] | Awaitable[StructuredResult[Value]],
) -> Success[Value] | Refusal: ...
@overload
async def normalize(call: ToolResult | Awaitable[ToolResult]) -> Success[Any] | Refusal: ...
@overload
def data_of(result: StructuredResult[Value]) -> Value: ...
@overload
def data_of(result: ToolResult) -> Any: ...
`;

/** \`client/mcp_client.pyi\`: what every package refers to. */
export const PYTHON_MCP_CLIENT_STUB = `from typing import Any, Generic, Never, NotRequired, TypeAlias, TypedDict, TypeVar

Value = TypeVar("Value")

NoArguments: TypeAlias = dict[str, Never] | None

#: What a tool answers with, as MCP has it. A call that fails raises ToolError instead.
class ToolResult(TypedDict):
    content: list[dict[str, Any]]
    structuredContent: NotRequired[Any]
    _meta: NotRequired[dict[str, Any]]

#: The same of a tool that declares what it answers with.
class StructuredResult(TypedDict, Generic[Value]):
    content: list[dict[str, Any]]
    structuredContent: Value
    _meta: NotRequired[dict[str, Any]]

class ToolMeta(TypedDict):
    toolName: str
    exportName: str

class ServerMeta(TypedDict):
    serverId: str
    serverName: str
    serverVersion: NotRequired[str]
    tools: list[ToolMeta]

#: A tool call that failed. \`retryable\`: the same call may succeed later.
class ToolError(Exception):
    message: str
    type: str
    retryable: bool
    hint: str
    raw: Any

#: Calls a tool by its protocol name.
async def call_tool(server_id: str, name: str, arguments: Any = ...) -> ToolResult: ...
def call_tool_sync(server_id: str, name: str, arguments: Any = ...) -> ToolResult: ...
`;
