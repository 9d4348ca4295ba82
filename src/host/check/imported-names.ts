/** A function as a program names it: the module that has it (`servers/shop`, `scripts`, `api/shop`), and its name there. */
export interface NamedFunction {
  readonly module: string;
  readonly name: string;
}

/** The names under which a program uses tools: functions and whole modules. */
export interface ImportedNames {
  readonly functions: ReadonlyMap<string, NamedFunction>;
  /** The module behind each name. */
  readonly modules: ReadonlyMap<string, string>;
  /** The members of `mcp` in a function body, which also takes positional arguments. */
  readonly namespaces?: ReadonlySet<string>;
}

/** The folder of the modules that belong to the namespaces of a function body. */
export const API = 'api/';
/** The folder of the modules that Node programs import: `./servers/shop/index.js`. */
export const NODE = 'node/';

const IMPORT =
  /\bimport\s+(type\s+)?([^'";()]*?)\s*from\s*["'](?:@codemode\/(servers\/[^"'\n]+|scripts)|\.\/servers\/([\w-]+)\/index\.js)["']/g;
const WHOLE = /^\*\s*as\s+([\w$]+)$/;
const ONE = /^([\w$]+)(?:\s+as\s+([\w$]+))?$/;

/** The names in a function body. */
export function membersOf(namespaces: readonly string[]): ImportedNames {
  return { functions: new Map(), modules: new Map(), namespaces: new Set(namespaces) };
}

/** Found by pattern matching, not by parsing: a name that is missed is only checked less. */
export function importedNames(source: string): ImportedNames {
  const functions = new Map<string, NamedFunction>();
  const modules = new Map<string, string>();
  for (const [, isType, clause = '', own, ofNode = ''] of source.matchAll(IMPORT)) {
    if (isType !== undefined) continue;
    const module = own ?? `${NODE}${ofNode}`;
    const whole = WHOLE.exec(clause)?.[1];
    if (whole !== undefined) modules.set(whole, module);
    for (const part of clause.replace(/^\{|\}$/g, '').split(',')) {
      const [, name, alias] = ONE.exec(part.trim()) ?? [];
      if (name !== undefined) functions.set(alias ?? name, { module, name });
    }
  }
  return { functions, modules };
}
