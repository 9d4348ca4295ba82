import type { JsonObject, JsonValue } from '../../domain/json.js';
import { keysInPath } from '../../lib/secrets/address-secrets.js';
import { isSecretName } from '../../lib/secrets/mask.js';
import { namedArguments, secretsIn } from '../../lib/secrets/secret-values.js';
import { isObject } from '../schema/server-map.js';
import { isHarmlessValue } from '../trust/harmless-value.js';
import { type Hide, secretPartsOfAddress, sharedRemainder, sharedValue, sharedWord } from '../trust/shared-values.js';
import type { Environment } from './environment.js';

/** A secret that was replaced by a variable: the variable's name and the secret's value. */
export interface Reference {
  readonly variable: string;
  readonly value: string;
}

/** A path, a boolean or a small number is not secret, whatever its name. */
const HARMLESS = /^(?:[~.]{0,2}\/\S*|[A-Za-z]:\\.*|true|false|none|null|\d{1,5})$/i;

/**
 * Replaces values that look like secrets with references to environment variables, for a file that others may see. Careful rather
 * than exact: a false positive costs the user one variable.
 */
export class SecretReferences {
  readonly #environment: Environment;
  readonly #variables = new Map<string, string>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  replace(server: JsonObject, serverName: string): { readonly server: JsonObject; readonly references: Reference[] } {
    const references: Reference[] = [];
    const hide = (text: string, wanted: string): string => {
      const variable = this.#variableFor(wanted, text, serverName);
      references.push({ variable, value: text });
      return `\${${variable}}`;
    };
    // `${TOKEN:-abc}`: the default is in the file too.
    const bare = withoutDefaults(server, (variable, value) => references.push({ variable, value }));
    return { server: replaceSecrets(bare as JsonObject, hide, true), references };
  }

  /** The usual name of the variable, unless that name already has another value. */
  #variableFor(wanted: string, value: string, serverName: string): string {
    const plain = variableName(wanted);
    const own = variableName(`${serverName}_${wanted}`);
    const isGeneric = !/^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(wanted);
    for (let number = 1; ; number += 1) {
      const candidates = [...(isGeneric || number > 1 ? [] : [plain]), number === 1 ? own : `${own}_${number}`];
      for (const candidate of candidates) {
        const known = this.#variables.get(candidate) ?? this.#environment[candidate];
        if (known !== undefined && known !== '' && known !== value) continue;
        this.#variables.set(candidate, value);
        return candidate;
      }
    }
  }
}

/**
 * A server with its apparent secrets replaced. For a file that others see, every value of a variable or a header is replaced,
 * unless it is plainly harmless.
 */
export function replaceSecrets(server: JsonObject, hide: Hide, isShared = false): JsonObject {
  const value = (found: JsonValue, name: string, isStrict: boolean): JsonValue => {
    const changed = hidden(found, name, hide);
    if (!isStrict || changed !== found || typeof found !== 'string') return changed;
    return isLiteral(found) ? sharedValue(found, name, hide) : sharedRemainder(found, name, hide);
  };
  const inMap = (map: JsonValue, isStrict: boolean): JsonValue =>
    isObject(map)
      ? Object.fromEntries(Object.entries(map).map(([name, found]) => [name, value(found, name, isStrict)]))
      : map;
  const replaced = ([key, found]: [string, JsonValue]): [string, JsonValue] => {
    if (key === 'auth') return [key, inMap(found, false)];
    if (['env', 'environment', 'headers'].includes(key)) return [key, inMap(found, isShared)];
    if (key === 'args' && Array.isArray(found)) return [key, hiddenWords(found, hide, isShared)];
    if (isShared && key === 'command' && isLiteral(found) && SCRIPT.test(found))
      return [key, hiddenInScript(found, hide)];
    if (['url', 'openapi', 'baseUrl'].includes(key)) return [key, hidden(found, 'url', hide, isShared)];
    return [key, found];
  };
  return Object.fromEntries(Object.entries(server).map(replaced));
}

function isLiteral(value: JsonValue): value is string {
  return typeof value === 'string' && !value.includes('${');
}

/** References whose default may be a secret, without that default. */
function withoutDefaults(value: JsonValue, note: (variable: string, value: string) => void): JsonValue {
  if (typeof value === 'string')
    return value.replace(
      /(?<!\$)\$\{([A-Za-z_]\w*):-((?:[^}\\]|\\.)*)\}/g,
      (match, variable: string, given: string) => {
        if (isHarmlessValue(given)) return match;
        note(variable, given);
        return `\${${variable}}`;
      },
    );
  if (Array.isArray(value)) return value.map((item) => withoutDefaults(item, note));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withoutDefaults(child, note)]));
}

function hidden(value: JsonValue, name: string, hide: Hide, isShared = false): JsonValue {
  if (typeof value !== 'string' || value.includes('${') || value === '') return value;
  const scheme = /^(Bearer|Basic|Token|ApiKey)(\s+)(\S.*)$/i.exec(value);
  if (scheme !== null) return `${scheme[1]}${scheme[2]}${hide(scheme[3] as string, authorizationName(name))}`;
  const isAddress = ADDRESS.test(value);
  if (isSecretName(name) && !HARMLESS.test(value) && !isAddress) return hide(value, name);
  const more = [
    ...(isShared ? secretPartsOfAddress(value) : []),
    // For a server's own address only the path: a parameter may be an option that people have to see.
    ...(name === 'url' ? keysInPath(value) : []),
  ];
  const parts = [...secretsIn(name, value), ...passwordOf(value), ...more].filter((part) => value.includes(part));
  if (parts.length === 0) return value;
  // Of a server's own address only the secret part is hidden, so that people still see the host.
  if (name !== 'url') return hide(value, name !== '' ? name : isAddress ? 'URL' : 'TOKEN');
  const longestFirst = [...new Set(parts)].sort((left, right) => right.length - left.length);
  return longestFirst.reduce((text, part) => text.replaceAll(part, hide(part, 'TOKEN')), value);
}

const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i;

function hiddenWords(words: readonly JsonValue[], hide: Hide, isShared: boolean): JsonValue[] {
  const named = namedArguments(words.map((word) => (typeof word === 'string' ? word : '')));
  return words.map((word, index) => {
    const [name, value] = named[index] as [string, string];
    if (typeof word !== 'string') return word;
    const flag = /^-{1,2}([\w-]+)$/.exec(String(words[index - 1] ?? ''))?.[1] ?? '';
    const asShared = () => {
      if (!isShared) return word;
      return isLiteral(word) ? sharedWord(word, flag, hide) : sharedRemainder(word, flag === '' ? 'TOKEN' : flag, hide);
    };
    if (value.startsWith('-')) return asShared();
    if (SCRIPT.test(word) && /^-\w*c$/.test(String(words[index - 1]))) return hiddenInScript(word, hide);
    // `url` has another meaning here.
    const changed = hidden(value, name === 'url' ? '' : name, hide);
    return changed === value ? asShared() : `${word.slice(0, word.length - value.length)}${String(changed)}`;
  });
}

/** `sh -c 'TOKEN=abc server --key=def'`: a whole command line in one word. */
const SCRIPT = /[\s;&|]/;

function hiddenInScript(script: string, hide: Hide): string {
  return script.replace(NAMED_WORD, (match, prefix: string | undefined, value: string) => {
    const changed = hidden(value, (prefix ?? '').replace(/^-+|[=\s]+$/g, ''), hide);
    return changed === value ? match : `${prefix ?? ''}${String(changed)}`;
  });
}

/** `NAME=value`, `--name=value`, `--name value`, or a word alone. */
const NAMED_WORD = /(--?[\w-]+\s+(?!-)|-{0,2}[A-Za-z_][\w-]*=)?([^\s;&|'"=]{3,})/g;

function passwordOf(value: string): string[] {
  if (!ADDRESS.test(value) || !URL.canParse(value)) return [];
  const { password } = new URL(value);
  return password === '' ? [] : [password];
}

function authorizationName(name: string): string {
  return name.toLowerCase() === 'authorization' ? 'TOKEN' : name;
}

function variableName(text: string): string {
  const name = text
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toUpperCase();
  return /^[A-Z_]/.test(name) ? name : `SECRET_${name}`;
}
