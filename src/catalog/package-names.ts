import { alphabetical, assignNames, type NameRules, UNDECLARABLE } from './names.js';

/*
 * Names in the packages of profile `runner`: `servers/<server_module>`, with a camelCase function per tool in JavaScript and a
 * snake_case one in Python. As the contract requires, names are split only at `.`, `_` and `-`. Names are case-sensitive, so
 * `getUser` and `get_user` are two tools and stay two names. A name that needs no change always wins; other equal names are
 * numbered in alphabetical order, `__2`, `__3`.
 */

const RULES: NameRules = { separator: '__', first: 'exact' };

/**
 * Module names under `servers/`, by server id: the same for both languages, so valid in an `import` statement of either. In the
 * order of the configuration, so that a server that is added later never takes over the module of another.
 */
export function serverModules(serverIds: readonly string[]): Map<string, string> {
  return assignNames(serverIds, serverModule, RULES);
}

/** Function names of one server's JavaScript module, by tool name. */
export function camelCaseNames(toolNames: readonly string[]): Map<string, string> {
  return assignNames(alphabetical(toolNames), camelCase, RULES);
}

/** Function names of one server's Python module, by tool name. */
export function snakeCaseNames(toolNames: readonly string[]): Map<string, string> {
  return assignNames(alphabetical(toolNames), snakeCase, RULES);
}

/** File names are limited to 255 bytes, with room for `__2` and an extension. */
const MAX_MODULE_CHARACTERS = 128;

function serverModule(serverId: string): string {
  const words = wordsOf(serverId).flatMap(humps).join('_').toLowerCase();
  // Non-ASCII letters are legal in module names, but the files would then depend on the importing process's locale.
  const ascii = words
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, MAX_MODULE_CHARACTERS);
  return legal(ascii === '' ? 'server' : ascii, PYTHON_KEYWORDS);
}

function camelCase(toolName: string): string {
  const words = wordsOf(toolName);
  const [only = ''] = words;
  const name =
    words.length === 1
      ? only
      : words
          // `GITHUB_CREATE_ISSUE` is all capitals, not an abbreviation.
          .map((word) => (/\p{Ll}/u.test(word) ? word : word.toLowerCase()))
          .map((word, index) => (index === 0 ? lowerFirst(word) : upperFirst(word)))
          .join('');
  return legal(cleaned(name), UNDECLARABLE);
}

function snakeCase(toolName: string): string {
  return legal(cleaned(wordsOf(toolName).join('_')), PYTHON_KEYWORDS);
}

/** The words between `.`, `_`, `-` and all other characters that no identifier may have. */
function wordsOf(name: string): string[] {
  // Python compares identifiers in this form. In another form a program could type the name and not match it.
  return name
    .normalize('NFKC')
    .split(BETWEEN_WORDS)
    .filter((word) => word !== '');
}

/** `getHTTPResponse` is `get`, `HTTP`, `Response`. */
function humps(word: string): string[] {
  return word.split(HUMP);
}

/** Changing the case of a letter can give several letters, some of which are not allowed. */
function cleaned(name: string): string {
  return name.normalize('NFKC').replaceAll(new RegExp(BETWEEN_WORDS, 'gu'), (mark) => (mark === '_' ? mark : ''));
}

function legal(name: string, reserved: ReadonlySet<string>): string {
  if (name === '') return 'tool';
  const identifier = /^[\p{ID_Start}]/u.test(name) ? name : `_${name}`;
  return reserved.has(identifier) ? `${identifier}_` : identifier;
}

/** `GetIssue` to `getIssue`, `HTTPServer` to `httpServer`. */
function lowerFirst(word: string): string {
  return word.replace(/^\p{Lu}+(?=\p{Lu}\p{Ll})|^\p{Lu}/u, (start) => start.toLowerCase());
}

function upperFirst(word: string): string {
  return word.replace(/^./u, (first) => first.toUpperCase());
}

// The characters that identifiers of both JavaScript and Python 3.11 may have. Letters outside the basic plane, and letters newer
// than the Unicode 14 of Python 3.11, are left out: one of them would be a syntax error for the whole module. Invisible letters are
// left out because a reader cannot see them.
const BETWEEN_WORDS =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single code points are what it looks for
  /[^\p{ID_Continue}]|[_\u{10000}-\u{10ffff}\p{Default_Ignorable_Code_Point}\u088f\u0897\u0c5c\u0cdc\u0cf3\u0ece\u1acf-\u1aff\u1c89\u1c8a\u200c\u200d\u2cf4-\u2cf8\u309b\u309c\u30fb\uff65\ua7cb-\ua7cf\ua7d2-\ua7d4\ua7da-\ua7dc\ua7f1]/u;
const HUMP = /(?<=[\p{Ll}\p{Nd}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

export const PYTHON_KEYWORDS: ReadonlySet<string> = new Set([
  ...['and', 'as', 'assert', 'async', 'await', 'break', 'class', 'continue', 'def', 'del', 'elif', 'else', 'except'],
  ...['finally', 'for', 'from', 'global', 'if', 'import', 'in', 'is', 'lambda', 'nonlocal', 'not', 'or', 'pass'],
  ...['raise', 'return', 'try', 'while', 'with', 'yield', 'None', 'True', 'False'],
]);
