import { CAPABILITY_DEFAULTS } from '../../domain/capability.js';
import { apiDeclarationsOf, apiExampleOf, apiIndexOf, startingNamespaces } from '../../host/tools/api-view.js';
import type { ToolView } from '../../host/tools/tool-view.js';
import type { ExecuteSettings } from './execute.js';

/** Some clients silently cut descriptions here. */
const MAX_DESCRIPTION_CHARACTERS = 2_048;

export function toolDescription(view: ToolView): string {
  const rules = rulesOf(view);
  const room = MAX_DESCRIPTION_CHARACTERS - rules.length - 40;
  const withParameters = apiIndexOf(view, { parameters: true });
  const shown = withParameters.length <= room ? withParameters : namespacesWithin(apiIndexOf(view).split('\n'), room);
  const { notice } = view.forCode;
  return `${rules}\n${notice === undefined ? `Namespaces:\n${shown}` : notice.slice(0, room)}`;
}

/** As many namespaces with their tools as fit, then the others by name, then their number and how to list them. */
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
  return [
    ...whole,
    `- also ${named.join(', ')}${more}. The tools of one, with types in \`logs\`: return Object.keys(mcp.NAME)`,
  ].join('\n');
}

/** The text around the names of namespaces without tools. */
const MORE_CHARACTERS = 120;

/** The example uses a connected server, and a read-only tool if there is one. */
function rulesOf(view: ToolView): string {
  const { call, serverId } = apiExampleOf(view) ?? NO_EXAMPLE;
  return `Runs the body of an async TypeScript function in a sandbox and answers with what it returns. Tools are called in it:

const found = await ${call}; return found; // better: only the part you need

- \`mcp.<namespace>.<tool>(input)\`: one object with named properties, or positional arguments in the order of the schema. A text result that holds JSON arrives parsed; \`parse(text)\` reads CSV, JSON lines, tables and Python literals. A failed call throws; one of a tool marked \`@asks\` waits for a person, which is not a failure: do what cannot be undone last.
- Nothing is granted by default: name every server that the code calls in \`capabilities\`, as "mcp:${serverId}". \`fetch\` needs "network:api.example.com:443", \`fs\` (readFile, writeFile, listFolder) needs "filesystem:/absolute/path".
- \`context\` of the request is visible; \`console.log\` goes to \`logs\`. No imports, no eval, no process.
- Filter and aggregate in the code, and return only what is needed.
`;
}

const NO_EXAMPLE = { call: 'mcp.NAMESPACE.TOOL({ name: value })', serverId: 'SERVER' };

/** The token budget for tools in the instructions, unless `prompt.tokenBudget` sets it. Four characters are about a token. */
const DEFAULT_PROMPT_TOKENS = 2_500;
const CHARACTERS_PER_TOKEN = 4;

/** What an agent should know besides the tool's description. Nothing is in both: an agent reads both in every session. */
export function instructions(view: ToolView, settings: ExecuteSettings, mostResultCharacters: number): string {
  const {
    limits: { defaults, maximum },
    grantLimits,
    bounds,
  } = settings;
  const calls = rateOf(bounds.mcp?.maxCallsPerSecond, CAPABILITY_DEFAULTS.mcp.maxCallsPerSecond);
  const requests = rateOf(bounds.network?.maxRequestsPerSecond, CAPABILITY_DEFAULTS.network.maxRequestsPerSecond);
  const { notice } = view.forCode;
  const tools = notice === undefined ? [toolsOf(view), startingNamespaces(view)] : [notice];
  const rules = `Besides what the tool's description says:

- An error has \`type\`, \`code\`, \`message\` and \`details\` (\`hint\`: what to do, \`position\`: where). \`RATE_LIMITED\` says how long to wait.
- \`APPROVAL_PENDING\` is not a failure: the calls that it names were not sent, and the run continues by itself when a person has decided. Do not send the code again; do what cannot be undone last.
- Of a result over ${mostResultCharacters} characters the answer has the beginning, and \`logs\` says so.
- Limits: timeout ${defaults.timeoutMs} ms (at most ${maximum.timeoutMs}), memoryLimit ${defaults.maxMemoryBytes} bytes (at most ${maximum.maxMemoryBytes}); all runs of one caller together ${calls} tool calls and ${requests} requests a second; ${grantLimits.maxConcurrentCalls} calls at a time in one run, others wait.`;
  return [rules, ...tools].filter((part) => part !== '').join('\n\n');
}

/** As much about the tools as the budget allows: their types, their parameters, or their names. Starting servers are omitted. */
function toolsOf(view: ToolView): string {
  const known = knownServers(view);
  if (known.length === 0) return '';
  const most = (view.promptTokens ?? DEFAULT_PROMPT_TOKENS) * CHARACTERS_PER_TOKEN;
  const types = apiDeclarationsOf(view, known);
  if (types.length <= most) return `The tools, as TypeScript (\`mcp\` is a UnifiedAPI):\n\n${types}`;
  const withParameters = apiIndexOf(view, { parameters: true });
  const index = withParameters.length <= most ? withParameters : namespacesWithin(apiIndexOf(view).split('\n'), most);
  return `The tools by namespace; a call with the wrong input is refused with an example of the right one:\n\n${index}`;
}

function knownServers({ forCode }: ToolView): string[] {
  return forCode.servers.filter(({ isStarting }) => isStarting !== true).map(({ id }) => id);
}

/** The default for a request that does not set the rate, and the maximum if that is higher. */
function rateOf(most: number | undefined, usual: number): string {
  if (most === undefined || most === usual) return String(usual);
  return most < usual ? String(most) : `${usual} (\`capabilities\` may ask for ${most})`;
}
