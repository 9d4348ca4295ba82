/*
 * Converts upstream names to public identifiers. There is one function per contract. All are deterministic, independent of the
 * order in which a server lists its tools, and safe against collisions. The name that is sent upstream is never changed.
 */

/**
 * Export names of one server's module in profile `codemode`, by tool name.
 *
 * Illegal characters become `_`, a leading digit gets a `_` prefix, a name that cannot be declared gets a `_` suffix. Names are
 * assigned in alphabetical order (by code point), as the contract requires: the first of equal names keeps the clean one, the
 * others get `__2`, `__3`, ... A tool whose own name is already taken gets a number like any other. Repeated names count once.
 */
export function exportNames(toolNames: readonly string[]): Map<string, string> {
  return assignNames(alphabetical(toolNames), exportIdentifier, { separator: '__', first: 'nobody' });
}

/**
 * Path segments under `@codemode/servers/`, by server id: lower-case, `[a-z0-9-]`, `--2`, `--3` on collision, in the order of the
 * configuration: a server that is added later never takes over the path of another. A clean path has no double dash, so a numbered
 * one never collides with it.
 */
export function modulePaths(serverIds: readonly string[]): Map<string, string> {
  return assignNames(serverIds, modulePath, { separator: '--', first: 'nobody' });
}

/**
 * Names of namespaces in profile `unified` by server id, and of their methods by tool name: unchanged if the name is an identifier,
 * else in camel case. A name that needs no change wins over one that was converted to the same.
 */
export function memberNames(originals: readonly string[]): Map<string, string> {
  return assignNames(alphabetical(originals), memberName, { separator: '__', first: 'exact' });
}

/** The tools of one server with every name once; the first of equal names wins. */
export function withoutDuplicates<T extends { readonly name: string }>(
  tools: readonly T[],
): { readonly tools: readonly T[]; readonly duplicates: readonly string[] } {
  const byName = new Map<string, T>();
  const duplicates = new Set<string>();
  for (const tool of tools) {
    if (byName.has(tool.name)) duplicates.add(tool.name);
    else byName.set(tool.name, tool);
  }
  return { tools: [...byName.values()], duplicates: [...duplicates] };
}

/** Order by code point: unlike `<`, which compares UTF-16 units, it does not put an emoji before U+FF21. */
export function compareCodePoints(left: string, right: string): number {
  let index = 0;
  while (index < left.length && index < right.length) {
    const a = left.codePointAt(index) as number;
    const b = right.codePointAt(index) as number;
    if (a !== b) return a - b;
    index += a > 0xffff ? 2 : 1;
  }
  return left.length - right.length;
}

export interface NameRules {
  /** The text between a clean name and its number. */
  readonly separator: string;
  /** Which originals get their clean name before numbering: names that need no change, the first of each, or none. */
  readonly first: 'exact' | 'clean' | 'nobody';
}

/** Each name once, by code point: independent of the order in which a server lists its tools. */
export function alphabetical(names: readonly string[]): string[] {
  return [...new Set(names)].sort(compareCodePoints);
}

/** Gives every original its clean name or a numbered one, in the given order. */
export function assignNames(
  originals: readonly string[],
  toCleanName: (original: string) => string,
  { separator, first }: NameRules,
): Map<string, string> {
  const wanted = new Map(originals.map((original) => [original, toCleanName(original)]));
  const assigned = new Map<string, string>();
  const taken = new Set<string>();
  const assign = (original: string, name: string) => {
    taken.add(name);
    assigned.set(original, name);
  };
  if (first !== 'nobody')
    for (const [original, clean] of wanted)
      if ((first === 'clean' || original === clean) && !taken.has(clean)) assign(original, clean);
  const nextNumbers = new Map<string, number>();
  for (const [original, clean] of wanted) {
    if (assigned.has(original)) continue;
    let name = clean;
    let number = nextNumbers.get(clean) ?? 2;
    for (; taken.has(name); number += 1) name = `${clean}${separator}${number}`;
    nextNumbers.set(clean, number);
    assign(original, name);
  }
  return new Map([...wanted.keys()].map((original) => [original, assigned.get(original) as string]));
}

// Invisible characters are left out although the language allows some of them. So are letters outside the basic plane: which ones
// are allowed depends on the Unicode version, and the engine in the sandbox, the parser beside it and this process do not share
// one.
const ILLEGAL_IN_IDENTIFIER = /[^\p{ID_Continue}$]|[\u{10000}-\u{10ffff}\p{Default_Ignorable_Code_Point}]/gu;
const LEGAL_FIRST = /^[\p{ID_Start}$_]/u;

function exportIdentifier(toolName: string): string {
  // Composed first: nobody can type the decomposed form of a letter on purpose.
  const legal = toolName.normalize('NFC').replace(ILLEGAL_IN_IDENTIFIER, '_');
  const identifier = LEGAL_FIRST.test(legal) ? legal : `_${legal}`;
  return UNDECLARABLE.has(identifier) ? `${identifier}_` : identifier;
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

function memberName(original: string): string {
  const composed = original.normalize('NFC');
  const isFine = IDENTIFIER.test(composed) && !/[\u{10000}-\u{10ffff}]/u.test(composed);
  const name = isFine ? composed : camelCase(composed);
  return HARMFUL_MEMBERS.has(name) || UNDECLARABLE.has(name) ? `${name}_` : name;
}

function camelCase(text: string): string {
  const [first = '', ...rest] = text
    .replace(ILLEGAL_IN_IDENTIFIER, ' ')
    .split(/[ _]+/)
    .filter((word) => word !== '');
  const joined = first + rest.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  return LEGAL_FIRST.test(joined) ? joined : `_${joined}`;
}

/** Names with a meaning on every object. */
const HARMFUL_MEMBERS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'toJSON']);

function modulePath(serverId: string): string {
  const path = serverId
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/-{2,}/g, '-')
    .replace(/^-|-$/g, '');
  return path === '' ? 'server' : path;
}

/** Names that no module can export as a function, or that would do harm if it did. */
export const UNDECLARABLE: ReadonlySet<string> = new Set([
  // the contract's list of reserved words
  ...['break', 'case', 'class', 'const', 'continue', 'debugger', 'default', 'delete', 'do', 'else', 'export'],
  ...['extends', 'false', 'finally', 'for', 'function', 'if', 'import', 'in', 'instanceof', 'new', 'null', 'return'],
  ...['super', 'switch', 'this', 'throw', 'true', 'try', 'typeof', 'var', 'void', 'while', 'with', 'yield', 'let'],
  ...['static', 'await'],
  // reserved in strict code
  ...['enum', 'implements', 'interface', 'package', 'private', 'protected', 'public', 'eval', 'arguments'],
  // legal JavaScript, but no declaration file can declare them, and importing them would shadow the real ones
  ...['undefined', 'globalThis'],
  // a module with an export called `then` hijacks `await import()`
  'then',
  // every server module exports its own
  '__meta__',
]);
