import { compareCodePoints } from '../names.js';
import type { CatalogTool } from '../snapshot.js';

/**
 * Tools in the order in which an agent should learn of them where not all can be named: those that read, by their annotation or
 * their name, then others, last those that wait for a person. Nearly every task starts by reading. By alphabet, `git_add` and
 * `append_insight` come before `git_log` and `read_query`.
 */
export function readingFirst(tools: readonly CatalogTool[]): CatalogTool[] {
  const ranked = tools.map((tool) => ({ tool, rank: rankOf(tool) }));
  ranked.sort((left, right) => left.rank - right.rank || compareCodePoints(left.tool.tool.name, right.tool.tool.name));
  return ranked.map(({ tool }) => tool);
}

function rankOf({ tool: { annotations, name }, asks }: CatalogTool): number {
  const { readOnlyHint, destructiveHint } = annotations ?? {};
  const isReading = readOnlyHint ?? (destructiveHint !== true && READING.test(name) && !CHANGING.test(name));
  return asks === true ? 2 : isReading ? 0 : 1;
}

/** As a word of the name, wherever it is: `git_log`, `slack_list_channels`, `getUser`. */
const READING =
  /(?:^|[^a-z])(?:list|search|find|query|get|read|fetch|describe|show|lookup|log|status|open|info)(?![a-z])/i;
const CHANGING =
  /(?:^|[^a-z])(?:create|delete|remove|update|set|add|send|post|write|edit|insert|move|drop|run|execute)(?![a-z])/i;
