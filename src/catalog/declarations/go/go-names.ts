import { hash } from 'node:crypto';
import { visibleLine, withoutMarkup } from '../../../lib/text/visible-text.js';
import { alphabetical, assignNames, type NameRules } from '../../names.js';
import { GO_UNDECLARABLE } from './go-reserved.js';

/*
 * Converts upstream names to Go identifiers. Non-ASCII letters are kept if every Go since 1.19 accepts them; all other characters
 * separate words. Equal results are numbered in alphabetical order, `2`, `3`: Go's style has no underscores.
 */

const NUMBERED: NameRules = { separator: '', first: 'clean' };

/** Longer names are cut: nested types contain the path to them. */
const MAX_NAME_LENGTH = 80;
const MAX_TAG_LENGTH = 200;

/** A tool by its server and its name. */
export interface NamedTool {
  readonly serverId: string;
  readonly name: string;
}

/**
 * Function names by original (any unique text): `get_weather` to `getWeather`. If several servers have a tool of the same name,
 * each name includes its server, `githubGetIssue`, and that name is reserved for tools of `github`: no server takes a name that
 * means, or may come to mean, a tool of another. A tool whose own name it is, `getUser` beside `get_user`, keeps it.
 */
export function goFunctionNames(
  originals: readonly string[],
  toolOf: (original: string) => NamedTool,
): Map<string, string> {
  const serverOf = (original: string) => toolOf(original).serverId;
  const clean = (original: string) => goFunctionName(toolOf(original).name);
  const isExact = (original: string) => toolOf(original).name === clean(original);
  const inOrder = alphabetical(originals);
  const sorted = [...inOrder.filter(isExact), ...inOrder.filter((original) => !isExact(original))];
  const own = namesByServer(sorted, serverOf, clean);
  const qualified = namesByServer(sorted, serverOf, (original) => {
    const { serverId, name } = toolOf(original);
    return goFunctionName(`${serverId} ${name}`);
  });
  const ofClean = serversOf(sorted, clean, serverOf);
  const ofOwn = serversOf(sorted, (original) => own.get(original) as string, serverOf);
  const ofQualified = serversOf(sorted, (original) => qualified.get(original) as string, serverOf);
  const chosen = new Map<string, string>();
  const later: string[] = [];
  for (const original of sorted) {
    const name = own.get(original) as string;
    const holders = [ofClean.get(clean(original)), ofOwn.get(name), ofQualified.get(name)];
    const isItsOwn = holders.every((servers) => servers === undefined || isOnly(servers, serverOf(original)));
    if (isItsOwn) chosen.set(original, name);
    else later.push(original);
  }
  const taken = new Set(chosen.values());
  for (const original of later) {
    const name = qualified.get(original) as string;
    const isItsOwn = isOnly(ofQualified.get(name) ?? new Set(), serverOf(original));
    // Two servers whose combined names are equal: neither gets the name.
    const base = isItsOwn ? name : `${name}${digestOf(toolOf(original))}`;
    let free = base;
    for (let number = 2; taken.has(free); number += 1) free = `${base}${number}`;
    taken.add(free);
    chosen.set(original, free);
  }
  const named = withOwnTypes(new Map(sorted.map((original) => [original, chosen.get(original) as string])));
  return new Map(inOrder.map((original) => [original, named.get(original) as string]));
}

/** Names that are numbered within each server. */
function namesByServer(
  sorted: readonly string[],
  serverOf: (original: string) => string,
  nameOf: (original: string) => string,
): Map<string, string> {
  const groups = new Map<string, string[]>();
  for (const original of sorted) {
    const group = groups.get(serverOf(original));
    if (group === undefined) groups.set(serverOf(original), [original]);
    else group.push(original);
  }
  return new Map([...groups.values()].flatMap((group) => [...assignNames(group, nameOf, NUMBERED)]));
}

/** The servers that have a tool of each name. */
function serversOf(
  originals: readonly string[],
  nameOf: (original: string) => string,
  serverOf: (original: string) => string,
): Map<string, Set<string>> {
  const servers = new Map<string, Set<string>>();
  for (const original of originals) {
    const name = nameOf(original);
    servers.set(name, (servers.get(name) ?? new Set()).add(serverOf(original)));
  }
  return servers;
}

function isOnly(servers: ReadonlySet<string>, serverId: string): boolean {
  return servers.size === 1 && servers.has(serverId);
}

function digestOf({ serverId, name }: NamedTool): string {
  return `X${hash('sha256', JSON.stringify([serverId, name]), 'hex').slice(0, 8)}`;
}

/**
 * `http_2` and `http2` are two functions whose types would have one name. The later function gets another number, so that
 * `<Function>Input` is right for both.
 */
function withOwnTypes(names: ReadonlyMap<string, string>): Map<string, string> {
  const functions = new Set(names.values());
  const stems = new Set<string>();
  const own = new Map<string, string>();
  for (const [original, name] of names) {
    const [, base = name] = /^(.*?)\d*$/su.exec(name) ?? [];
    let free = name;
    for (let number = 2; stems.has(goTypeStem(free)) || (free !== name && functions.has(free)); number += 1)
      free = `${base}${number}`;
    functions.add(free);
    stems.add(goTypeStem(free));
    own.set(original, free);
  }
  return own;
}

/** Field names of one struct by property name: `user_id` to `UserID`. */
export function goFieldNames(propertyNames: readonly string[]): Map<string, string> {
  return assignNames(alphabetical(propertyNames), goFieldName, NUMBERED);
}

/** Constant names of one enumeration by value, without the type name that precedes them. */
export function goValueNames(values: readonly string[]): Map<string, string> {
  return assignNames(
    alphabetical(values),
    (value) => (value === '' ? 'Empty' : pascal(signsAsWords(value)) || 'Value'),
    NUMBERED,
  );
}

/** A part of a type's name: `rate_limit` to `RateLimit`. May begin with a digit, or be empty. */
export function goNamePart(text: string): string {
  return pascal(text);
}

/** The stem of a function's type names: `getWeather` to `GetWeather`. */
export function goTypeStem(functionName: string): string {
  // Without its number, which would turn `URL` into another word.
  const [, clean = '', number = ''] = /^(.*?)(\d*)$/su.exec(functionName) ?? [];
  return `${pascal(clean) || 'Tool'}${number}`;
}

/** A string literal of Go with the same value; invisible characters and halves of surrogate pairs are escaped. */
export function goString(value: string): string {
  return `"${visibleLine(value.replace(/["\\]/g, '\\$&'), goEscape).replaceAll('`', goEscape)}"`;
}

function goEscape(character: string): string {
  const codePoint = character.codePointAt(0) as number;
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return '\\ufffd';
  const hex = codePoint.toString(16);
  return codePoint > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}

/** Whether `encoding/json` accepts this name in a tag. It ignores other names and uses the field's name. */
export function isTagName(name: string): boolean {
  return name !== '-' && name.length <= MAX_TAG_LENGTH && TAG_NAME.test(name) && withoutMarkup(name) === name;
}

// Letters that were in Unicode long before version 13, which Go 1.19 knows: Latin, Greek, Cyrillic, kana, Han, Hangul.
const LETTERS = 'A-Za-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u017e\\u0391-\\u03a1\\u03a3-\\u03c9\\u0400-\\u045f';
const UNCASED = '\\u3041-\\u3096\\u30a1-\\u30fa\\u4e00-\\u9fa5\\uac00-\\ud7a3';
const TAG_NAME = new RegExp(`^[${LETTERS}${UNCASED}0-9!#$%&()*+./:;<=>?@[\\]^_{|}~ -]+$`);
const WORD = new RegExp(`[${LETTERS}${UNCASED}0-9]+`, 'g');
/** Between a small letter or digit and a capital, and before the last capital of a run that a small letter follows. */
const HUMP = /(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

/** The name of a tool if no other tool conflicts with it. */
export function goFunctionName(toolName: string): string {
  const [first = '', ...rest] = wordsOf(toolName);
  const name = bounded(lowered(first) + rest.map(capitalised).join('')) || 'tool';
  const legal = /^\d/.test(name) ? `x${name}` : name;
  return GO_UNDECLARABLE.has(legal) ? `${legal}_` : legal;
}

function goFieldName(propertyName: string): string {
  const name = pascal(propertyName) || 'Field';
  // Without a leading capital the field would not be exported, and `encoding/json` would not see it.
  const exported = /^\p{Lu}/u.test(name) ? name : `X${name}`;
  // Methods of structs with additional keys.
  return METHODS.has(exported) ? `${exported}_` : exported;
}

const METHODS: ReadonlySet<string> = new Set(['MarshalJSON', 'UnmarshalJSON']);

function pascal(text: string): string {
  return bounded(wordsOf(text).map(capitalised).join(''));
}

function bounded(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH);
}

/** Words longer than a name are useless, and splitting a hostile megabyte would take long. */
function wordsOf(text: string): string[] {
  const parts =
    text
      .slice(0, 4 * MAX_NAME_LENGTH)
      .normalize('NFC')
      .match(WORD) ?? [];
  return parts.flatMap((part) => part.split(HUMP));
}

/** A letter whose lower case is two characters (`İ`) stays: Go does not accept the second as a letter. */
function lowered(word: string): string {
  return word.replace(/\p{Lu}/gu, (letter) =>
    letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter,
  );
}

function capitalised(word: string): string {
  const upper = word.toUpperCase();
  if (INITIALISMS.has(upper)) return upper;
  // IDs, URLs
  if (upper.endsWith('S') && INITIALISMS.has(upper.slice(0, -1))) return `${upper.slice(0, -1)}s`;
  // `FOO` is all capitals, `v2` and `iPhone` are not.
  const rest = word === upper ? lowered(word.slice(1)) : word.slice(1);
  // Letters whose upper case is two characters stay: a field that begins with one gets an `X`.
  const head = word.charAt(0).toUpperCase();
  return (head.length === 1 ? head : word.charAt(0)) + rest;
}

/** `+1` and `-1` are two reactions, also after a word; `<` and `>=` are two comparisons. */
function signsAsWords(value: string): string {
  if (value.length > MAX_NAME_LENGTH) return value;
  if (/^[\p{L}\d]/u.test(value)) return value.replace(/(?<=[^\p{L}\d])[+-](?=\d)/gu, (sign) => ` ${SIGNS.get(sign)} `);
  return [...value].map((character) => (SIGNS.has(character) ? ` ${SIGNS.get(character)} ` : character)).join('');
}

const SIGNS: ReadonlyMap<string, string> = new Map([
  ['+', 'plus'],
  ['-', 'minus'],
  ['*', 'star'],
  ['<', 'less'],
  ['>', 'greater'],
  ['=', 'equal'],
  ['!', 'not'],
  ['/', 'slash'],
  ['%', 'percent'],
  ['$', 'dollar'],
  ['#', 'hash'],
]);

/** The words that Go's own style writes in capitals. */
const INITIALISMS: ReadonlySet<string> = new Set([
  ...['ACL', 'API', 'ASCII', 'CPU', 'CSS', 'DNS', 'EOF', 'GUID', 'HTML', 'HTTP', 'HTTPS', 'ID', 'IP', 'JSON', 'JWT'],
  ...['LHS', 'OS', 'PDF', 'QPS', 'RAM', 'RHS', 'RPC', 'SLA', 'SMTP', 'SQL', 'SSH', 'SSL', 'TCP', 'TLS', 'TTL', 'UDP'],
  ...['UI', 'UID', 'URI', 'URL', 'UTC', 'UTF8', 'UUID', 'VM', 'XML', 'XMPP', 'XSRF', 'XSS', 'YAML'],
]);
