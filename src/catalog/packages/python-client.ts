/** `client/_wrappers.py`: the code that the functions of all servers share. */
export const PYTHON_WRAPPERS = `"""What the generated modules of servers share."""

import sys

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


def submodules(module, functions):
    """\`from servers.x.tool import tool\` finds the same function: each tool may be named as a module of its own."""
    package = sys.modules[module]
    for name in functions:
        sys.modules.setdefault(f"{module}.{name}", package)


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

/** `client/mcp_client.pyi`: the types that every package refers to. */
export const PYTHON_MCP_CLIENT_STUB = `from collections.abc import Awaitable
from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar, overload

Value = TypeVar("Value")

#: The input of a tool that takes none.
class NoArguments(TypedDict): ...

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

class ErrorInfo(TypedDict):
    type: str
    message: str
    retryable: bool

class Success(TypedDict, Generic[Value]):
    ok: Literal[True]
    data: Value
    raw: Any

class Failure(TypedDict):
    ok: Literal[False]
    error: ErrorInfo
    raw: NotRequired[Any]

#: Calls a tool by its protocol name.
async def call_tool(server_id: str, name: str, arguments: Any = ...) -> ToolResult: ...
#: The same for code without an event loop.
def call_tool_sync(server_id: str, name: str, arguments: Any = ...) -> ToolResult: ...
#: What a call came to, in one shape: the structured value, else the text where there is nothing else, else the content.
@overload
async def normalize(call: Awaitable[StructuredResult[Value]]) -> Success[Value] | Failure: ...
@overload
async def normalize(call: Awaitable[ToolResult]) -> Success[Any] | Failure: ...

#: The data of a result or a text: structured value, else JSON, JSON lines, Python literal, CSV, Markdown table, else the text.
def data_of(answer: Any) -> Any: ...

#: Questions are given as one dictionary or by name.
class Catalog:
    #: Tools that fit: query, serverId, detail ("name" or "name+description"), limit.
    async def searchTools(self, question: dict[str, Any] = ..., **more: Any) -> list[dict[str, Any]]: ...
    #: The whole definition of one tool: serverId, name.
    async def getToolDefinition(self, question: dict[str, Any] = ..., **more: Any) -> dict[str, Any]: ...

catalog: Catalog
`;
