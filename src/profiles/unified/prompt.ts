import { CAPABILITY_DEFAULTS } from '../../domain/capability.js';
import { apiDeclarationsOf, apiIndexOf, startingNamespaces } from '../../host/tools/api-view.js';
import type { ToolView } from '../../host/tools/tool-view.js';
import type { ExecuteSettings } from './execute.js';

/** Some clients cut a description here, silently. */
const MAX_DESCRIPTION_CHARACTERS = 2_048;

export function toolDescription(view: ToolView): string {
  const room = MAX_DESCRIPTION_CHARACTERS - RULES.length - 40;
  const shown = namespacesWithin(apiIndexOf(view).split('\n'), room);
  const { notice } = view.forCode;
  return `${RULES}\n${notice === undefined ? `Namespaces:\n${shown}` : notice.slice(0, room)}`;
}

/** As many namespaces with their tools as there is room for, then the others by name, then how many there are and how to list them. */
function namespacesWithin(lines: readonly string[], room: number): string {
  if (lines.join('\n').length <= room) return lines.join('\n');
  const most = room - MORE_CHARACTERS;
  let shown = 0;
  for (let length = 0; shown < lines.length; shown++) {
    length += (lines[shown] as string).length + 1;
    if (length > most / 2) break;
  }
  const whole = lines.slice(0, shown);
  const others = lines.slice(shown);
  let left = most - whole.join('\n').length;
  const named: string[] = [];
  for (const line of others) {
    const name = /^- (mcp\.[\w$]+)/.exec(line)?.[1] ?? '';
    left -= name.length + 2;
    if (left < 0) break;
    named.push(name);
  }
  const unnamed = others.length - named.length;
  const more = unnamed === 0 ? '' : ` and ${unnamed} more: return Object.keys(mcp)`;
  return [...whole, `- also ${named.join(', ')}${more}. The tools of one: return Object.keys(mcp.NAME)`].join('\n');
}

/** The words around the names of those that are only named. */
const MORE_CHARACTERS = 100;

const RULES = `Runs the body of an async TypeScript function in a sandbox and answers with what it returns. Tools are called in it:

const inboxes = await mcp.helpscout.searchInboxes({ query: 'support' }); return inboxes.length;

- \`mcp.<namespace>.<tool>(input)\`: one object with named properties, or positional arguments in the order of the schema. A text result that holds JSON arrives parsed. A failed call throws; one of a tool marked \`@asks\` waits for a person.
- Nothing is granted by default: name every server that the code calls in \`capabilities\`, as "mcp:helpscout". \`fetch\` needs "network:api.example.com:443", \`fs\` (readFile, writeFile, listFolder) needs "filesystem:/absolute/path".
- \`context\` of the request is visible; \`console.log\` goes to \`logs\`. No imports, no eval, no process.
- Filter and aggregate in the code, and return only what is needed.
`;

/** Above it the types are left out: an agent reads the tools of a namespace where it needs them. */
const MAX_DECLARATION_CHARACTERS = 40_000;

export function instructions(view: ToolView, settings: ExecuteSettings): string {
  const {
    limits: { defaults, maximum },
    grantLimits,
    bounds,
  } = settings;
  const calls = rateOf(bounds.mcp?.maxCallsPerSecond, CAPABILITY_DEFAULTS.mcp.maxCallsPerSecond);
  const requests = rateOf(bounds.network?.maxRequestsPerSecond, CAPABILITY_DEFAULTS.network.maxRequestsPerSecond);
  const types = apiDeclarationsOf(view);
  const limits = `Limits: timeout ${defaults.timeoutMs} ms (at most ${maximum.timeoutMs}), memoryLimit ${defaults.maxMemoryBytes} bytes (at most ${maximum.maxMemoryBytes}); all runs of one caller together ${calls} tool calls and ${requests} requests a second; ${grantLimits.maxConcurrentCalls} calls at a time in one run, others wait.`;
  const api =
    types.length <= MAX_DECLARATION_CHARACTERS
      ? `The tools, as TypeScript (\`mcp\` is a UnifiedAPI):\n\n${types}`
      : `The tools by namespace:\n\n${apiIndexOf(view)}`;
  const { notice } = view.forCode;
  return `${RULES}\n${limits}\n\n${notice === undefined ? `${api}${startingNamespaces(view)}` : notice}`;
}

/** What a request gets that does not say how much it wants, and the most that it may ask for where that is more. */
function rateOf(most: number | undefined, usual: number): string {
  if (most === undefined || most === usual) return String(usual);
  return most < usual ? String(most) : `${usual} (\`capabilities\` may ask for ${most})`;
}
