import type { GuestError } from '../../domain/run.js';
import { nearest } from '../../lib/text/nearest.js';
import type { Suggestions } from './failures.js';
import { ERRORS_MODULE, TEXT_MODULE } from './image.js';
import { DISCOVERY, suggestInstead } from './suggest-instead.js';

/** The prefix of the modules of servers. */
export const SERVERS = '@codemode/servers/';

/** The part of a library that suggestions are made from. */
interface Importable {
  readonly specifiers: readonly string[];
  exportNames(specifier: string): readonly string[];
  problemOf(specifier: string): GuestError | undefined;
}

/** Suggests importable names, for a message about one that cannot be imported. */
export function suggestionsFrom(library: Importable): Suggestions {
  return {
    problemOf: (specifier) => library.problemOf(specifier),
    suggestModules(specifier) {
      const known = [...library.specifiers, ERRORS_MODULE, TEXT_MODULE];
      if (known.includes(`${SERVERS}${specifier}`)) return didYouMean([`${SERVERS}${specifier}`], "'");
      const instead = library.specifiers.includes(DISCOVERY) ? suggestInstead(specifier) : undefined;
      if (instead !== undefined) return instead;
      const close = nearest(specifier, known, 3);
      return close.length > 0 ? didYouMean(close, "'") : withoutModule(specifier, known);
    },
    suggestExports(specifier, name) {
      const known = specifier === TEXT_MODULE ? ['parse'] : library.exportNames(specifier);
      const close = nearest(name, known, 3);
      if (close.length > 0) return didYouMean(close, '`');
      return /^[A-Z]/.test(name)
        ? 'If it is a type, write `import type`.'
        : `Import one of its exports: ${listOf(known)}.`;
    },
  };
}

/** Servers are not listed: an agent knows their names, and every server named here would bring its types. */
function withoutModule(specifier: string, known: readonly string[]): string {
  if (/^[./]/.test(specifier)) return 'Write everything into one program: there are no other files here.';
  if (!specifier.startsWith('@codemode/'))
    return 'Leave the import out and write it in plain JavaScript: there are no packages here.';
  const others = known.filter((each) => !each.startsWith(SERVERS));
  const servers = others.length < known.length ? [`${SERVERS}<serverId>`] : [];
  return `Import one of these modules: ${[...servers, ...others].join(', ')}.`;
}

/** The error of an import of a server that is not configured. `specifiers`: the modules that can be imported. */
export function noSuchServer(specifier: string, specifiers: readonly string[]): GuestError {
  const name = specifier.slice(SERVERS.length, SERVERS.length + MAX_NAME_CHARACTERS);
  const known = specifiers.flatMap((each) => (each.startsWith(SERVERS) ? [each.slice(SERVERS.length)] : []));
  const close = nearest(name, known, 3);
  return {
    errorClass: 'ServerNotFoundError',
    message: `there is no server ${JSON.stringify(name)}`,
    hint:
      close.length > 0
        ? didYouMean(
            close.map((each) => `${SERVERS}${each}`),
            "'",
          )
        : known.length === 0
          ? 'Ask the user to connect one: codemode add'
          : `Import one that is connected: ${listOf(known)}.`,
    fields: { serverId: name },
  };
}

const MAX_NAME_CHARACTERS = 200;
const MAX_LISTED = 20;

function didYouMean(names: readonly string[], quote: string): string {
  return `Did you mean ${names.map((each) => `${quote}${each}${quote}`).join(' or ')}?`;
}

function listOf(names: readonly string[]): string {
  return `${names.slice(0, MAX_LISTED).join(', ')}${names.length > MAX_LISTED ? ', ...' : ''}`;
}
