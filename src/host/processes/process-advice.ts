import type { CatalogSnapshot } from '../../catalog/snapshot.js';
import type { ProcessLanguage, ProgramLanguage } from '../../domain/process-program.js';
import type { Failure, Outcome } from '../../domain/run.js';
import { nearest } from '../../lib/nearest.js';
import { importedNames } from './process-packages.js';

interface Written {
  readonly source: string;
  readonly snapshot: CatalogSnapshot;
}

/**
 * The outcome with what to write instead, where an interpreter says what is wrong and not what would be right: it knows neither
 * which servers there are nor that nothing else can be reached. Go has advice of its own.
 */
export function withAdvice(outcome: Outcome, language: ProgramLanguage, written: Written): Outcome {
  if (outcome.status === 'completed' || language === 'go') return outcome;
  const { failure } = outcome;
  // A promise in the result has a better hint than what JSON is made of.
  const isOpen = failure.hint === undefined || failure.kind === 'not_serializable';
  const hint = isOpen ? adviceFor(failure, language, written) : undefined;
  return hint === undefined ? outcome : { ...outcome, failure: { ...failure, hint } };
}

const CALL_A_TOOL = 'catalog.searchTools({ query: "words" }) finds a tool that does it.';
const NO_NETWORK = `There is no network here. ${CALL_A_TOOL}`;
const NO_PACKAGES = 'There is nothing but the standard library and the modules of servers.';
const NO_ENVIRONMENT =
  'There is no environment here. Write values into the program; servers have their own credentials.';

const NETWORK_NAMES = /^(?:URLError|gaierror|ConnectionError|ConnectionRefusedError|ConnectTimeout)$/;
const NETWORK_WORDS = /^fetch failed$|\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b|Network is unreachable|name resolution/;

function adviceFor(failure: Failure, language: ProcessLanguage, written: Written): string | undefined {
  const { kind, name, message, stack = '' } = failure;
  switch (kind) {
    case 'syntax':
      return message === "'return' outside function"
        ? 'Assign the value to `result` instead of returning it.'
        : undefined;
    case 'import':
      return importAdvice(message, language, written);
    case 'not_serializable':
      return /\bcoroutine\b/.test(message)
        ? 'Write `await` in front of the call, or `await asyncio.gather(*list)` for a list of calls.'
        : undefined;
    case 'exception':
      if (NETWORK_NAMES.test(name) || NETWORK_WORDS.test(message)) return NO_NETWORK;
      if (name === 'KeyError' && /\bos\.environ\b/.test(stack)) return NO_ENVIRONMENT;
      return language === 'node' ? memberAdvice(message, written) : undefined;
    default:
      return undefined;
  }
}

/** As the interpreters write them; the module of a server, then what should be in it. */
const MISSING_SERVER = /^(?:No module named 'servers\.|Cannot find module '\/workspace\/servers\/)(\w{1,200})/;
const MISSING_FUNCTION: Readonly<Record<ProcessLanguage, RegExp>> = {
  node: /^The requested module '\.\/servers\/(?<module>\w{1,200})\/index\.js' does not provide an export named '(?<name>[\w$]{1,200})'/,
  python: /^cannot import name '(?<name>\w{1,200})' from 'servers\.(?<module>\w{1,200})'/,
};
const MISSING_PACKAGE = /^(?:No module named '|Cannot find package ')/;

function importAdvice(message: string, language: ProcessLanguage, { snapshot }: Written): string | undefined {
  const names = importedNames(snapshot, language);
  const server = MISSING_SERVER.exec(message)?.[1];
  if (server !== undefined) return meant(server, names.modules, 'Modules of servers');
  const { module, name } = MISSING_FUNCTION[language].exec(message)?.groups ?? {};
  if (module !== undefined && name !== undefined)
    return meant(name, names.functionsOf(module), `Functions of ${module}`);
  return MISSING_PACKAGE.test(message) ? `${NO_PACKAGES} ${CALL_A_TOOL}` : undefined;
}

/** `files.raed is not a function`, of a module that was imported as a whole. */
function memberAdvice(message: string, { source, snapshot }: Written): string | undefined {
  const [, object, member] = /^(\w{1,100})\.([\w$]{1,200}) is not a function$/.exec(message) ?? [];
  if (object === undefined || member === undefined) return undefined;
  const [, module] =
    new RegExp(`\\bimport\\s*\\*\\s*as\\s+${object}\\s+from\\s*['"]\\./servers/(\\w{1,200})/`).exec(source) ?? [];
  if (module === undefined) return undefined;
  return meant(member, importedNames(snapshot, 'node').functionsOf(module), `Functions of ${module}`);
}

const MAX_NAMED = 20;

function meant(name: string, known: readonly string[], what: string): string | undefined {
  const close = nearest(name, known, 2);
  if (close.length > 0) return `Did you mean ${close.join(' or ')}?`;
  if (known.length === 0) return undefined;
  return `${what}: ${known.slice(0, MAX_NAMED).join(', ')}${known.length > MAX_NAMED ? ', ...' : ''}.`;
}
