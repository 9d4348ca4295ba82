/** The names under which a program uses tools: functions and whole modules. */
export interface ImportedNames {
  readonly functions: ReadonlySet<string>;
  readonly modules: ReadonlySet<string>;
  /** The members of `mcp` in a function body, which also takes positional arguments. */
  readonly namespaces?: ReadonlySet<string>;
}

const IMPORT = /\bimport\s+(type\s+)?([^'";()]*?)\s*from\s*["']@codemode\/(?:servers\/[^"'\n]+|scripts)["']/g;
const WHOLE = /^\*\s*as\s+([\w$]+)$/;
const ONE = /^([\w$]+)(?:\s+as\s+([\w$]+))?$/;

/** The names in a function body. */
export function membersOf(namespaces: readonly string[]): ImportedNames {
  return { functions: new Set(), modules: new Set(), namespaces: new Set(namespaces) };
}

/** Found by pattern matching, not by parsing: a name that is missed is only checked less. */
export function importedNames(source: string): ImportedNames {
  const functions = new Set<string>();
  const modules = new Set<string>();
  for (const [, isType, clause = ''] of source.matchAll(IMPORT)) {
    if (isType !== undefined) continue;
    const whole = WHOLE.exec(clause)?.[1];
    if (whole !== undefined) modules.add(whole);
    for (const part of clause.replace(/^\{|\}$/g, '').split(',')) {
      const [, name, alias] = ONE.exec(part.trim()) ?? [];
      if (name !== undefined) functions.add(alias ?? name);
    }
  }
  return { functions, modules };
}
