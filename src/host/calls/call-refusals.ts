import type { CatalogServer, CatalogSnapshot } from '../../catalog/snapshot.js';
import { isJsonObject } from '../../domain/json.js';
import type { GuestError } from '../../domain/run.js';
import type { Tool } from '../../domain/tool.js';
import { nearest } from '../../lib/text/nearest.js';
import { quoteVisibly, visibleLine } from '../../lib/text/visible-text.js';
import { DOWN_HINT } from '../tools/discovery.js';
import { type CalledTool, calledName } from './called-tool.js';

/* Why a call of a program is refused before it reaches the broker. */

export function noSuchTool(target: string, snapshot: CatalogSnapshot): GuestError {
  const close = nearest(target, [...snapshot.toolByTarget.keys()], 3);
  return {
    errorClass: 'ToolNotFoundError',
    message: `there is no tool ${quoteVisibly(target)}`,
    hint:
      close.length > 0
        ? `Did you mean ${visibleLine(close.join(' or '))}?`
        : 'Look for it with searchTools() of @codemode/discovery.',
  };
}

export function serverDown(server: CatalogServer, target: string): GuestError {
  const why = server.isStarting === true ? 'it is still starting' : (server.problem ?? 'it has not said why');
  return {
    errorClass: 'ToolCallError',
    message: `${server.path} cannot be reached: ${why}`,
    hint: DOWN_HINT,
    fields: { serverId: server.path, toolName: target.slice(server.path.length + 1) },
  };
}

export function ungrantedServer(server: CatalogServer, target: string): GuestError {
  const violation = `mcp:${server.id}`;
  return {
    errorClass: 'ToolCallError',
    message: `the request was not granted ${violation}, so ${target.replace('/', '.')} cannot be called`,
    hint: `Ask for it in the request: "capabilities": ["${violation}"].`,
    fields: { serverId: server.path, toolName: target.slice(server.path.length + 1), violation },
  };
}

/** The program can catch this error. Every later call gets it again. */
export function tooManyCalls(maxToolCalls: number): GuestError {
  return {
    errorClass: 'SandboxLimitError',
    message: `the limit of ${maxToolCalls} tool calls is reached`,
    hint: 'Raise limits.maxToolCalls.',
    fields: { limit: 'maxToolCalls' },
  };
}

/** For example, `list.map(server.tool)` passes three arguments. */
export function tooManyArguments(called: CalledTool, count: number, most: number): GuestError {
  const { tool, exportName } = called;
  const takes = most > 1 ? `at most ${most} arguments` : 'one argument';
  return {
    errorClass: 'SchemaValidationError',
    message: `${calledName(called)} takes ${takes}, not ${count}`,
    hint: `Pass one object with named properties, in map() too: (item) => ${exportName}({ ... }).`,
    fields: {
      toolName: tool.name,
      exportName,
      path: '',
      expected: takes,
      received: `${count} arguments`,
    },
  };
}

/** The most arguments that a contract with positional arguments can map. */
export function propertyCount({ inputSchema }: Tool): number {
  return isJsonObject(inputSchema?.properties) ? Object.keys(inputSchema.properties).length : 1;
}
