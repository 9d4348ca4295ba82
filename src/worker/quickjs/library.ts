import type { GuestError, VirtualModule } from '../../domain/run.js';
import { BINDINGS_MODULE, ERRORS_MODULE, TEXT_MODULE } from './image.js';
import { PROGRAM_FILE } from './positions.js';
import { noSuchServer, SERVERS } from './suggestions.js';

/**
 * The virtual modules that a program may import, turned into code on first use. Names and targets are untrusted text: a name must
 * be a plain identifier to be written into code at all, and everything else is written as a JSON string.
 */
export class Library {
  readonly #modules = new Map<string, VirtualModule>();
  readonly #sources = new Map<string, string>();

  constructor(modules: readonly VirtualModule[]) {
    for (const module of modules) if (!RESERVED.has(module.specifier)) this.#modules.set(module.specifier, module);
  }

  /** The modules from which something can be imported. */
  get specifiers(): string[] {
    return [...this.#modules.values()].flatMap(({ specifier, problem }) => (problem === undefined ? [specifier] : []));
  }

  /** Why nothing can be imported from this server's module. */
  problemOf(specifier: string): GuestError | undefined {
    const module = this.#modules.get(specifier);
    if (module !== undefined) return module.problem;
    return specifier.startsWith(SERVERS) ? noSuchServer(specifier, this.specifiers) : undefined;
  }

  exportNames(specifier: string): string[] {
    return this.#modules.get(specifier)?.exports.map((each) => each.name) ?? [];
  }

  source(specifier: string): string | undefined {
    const known = this.#sources.get(specifier);
    if (known !== undefined) return known;
    const problem = this.problemOf(specifier);
    // Not cached: a program can ask for any number of servers that do not exist.
    if (problem !== undefined) return problemSource(problem);
    const module = this.#modules.get(specifier);
    if (module === undefined) return undefined;
    const source = moduleSource(module);
    this.#sources.set(specifier, source);
    return source;
  }
}

/**
 * Our own names. Modules of a library may import the bindings, and a module is identified by its name: a module named like the
 * program's own file would expose the bindings to the program.
 */
const RESERVED: ReadonlySet<string> = new Set([PROGRAM_FILE, BINDINGS_MODULE, ERRORS_MODULE, TEXT_MODULE]);

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

const BINDINGS = ['bindCall', 'bindCallSync', 'bindValue', 'bindCalls', 'bindNamespaces', 'bindFetch'];

function moduleSource(module: VirtualModule): string {
  const lines = [`import { ${BINDINGS.join(', ')} } from '${BINDINGS_MODULE}';`];
  module.exports.forEach((each, index) => {
    // `await import()` would call an export named `then`. The catalog gives such a tool another name.
    if (!IDENTIFIER.test(each.name) || each.name === 'then')
      throw new Error(`${JSON.stringify(each.name)} cannot be the name of an export`);
    lines.push(`const _${index} = ${binding(each)};`, `export { _${index} as ${each.name} };`);
  });
  return lines.join('\n');
}

/** Every import throws the same error. Its class is the program's own, so that the program can catch it with `instanceof`. */
function problemSource(problem: GuestError): string {
  return `import { throwError } from '${BINDINGS_MODULE}'; throwError(${literal(JSON.stringify(problem))});`;
}

function binding(each: VirtualModule['exports'][number]): string {
  switch (each.kind) {
    case 'call':
      return `bindCall(${literal(each.name)}, ${literal(each.target)})`;
    case 'callSync':
      return `bindCallSync(${literal(each.name)}, ${literal(each.target)})`;
    case 'value':
      return `bindValue(${literal(JSON.stringify(each.value))})`;
    case 'calls':
      return `bindCalls(${literal(JSON.stringify(each.targets))})`;
    case 'namespaces':
      return `bindNamespaces([${Object.entries(each.namespaces)
        .flatMap(([name, targets]) => [literal(name), literal(JSON.stringify(targets))])
        .join(',')}], ${literal(JSON.stringify(each.unavailable ?? {}))})`;
    case 'fetch':
      return `bindFetch(${literal(each.target)})`;
  }
}

/** JSON is valid JavaScript except for two line separators. */
function literal(text: string): string {
  return JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
