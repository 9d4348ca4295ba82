import { HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { ClientFormat } from './client-format.js';
import { appendMember, layoutOf, memberSource, type WrittenMember, withoutMember, writtenMember } from './json-edit.js';
import { type JsonMember, type JsonNode, JsonTextError, parseJsonText } from './json-text.js';

/** Servers in a map under one key of a JSON file, which may have comments. */
export function jsonFormat(key: string): ClientFormat {
  return {
    key,
    parse: (text, file) => {
      if (isBlank(text)) return {};
      const root = readRoot(text, file);
      const doubled = (root.members ?? []).filter(({ name }) => name === key);
      if (doubled.length > 1) throw unusable(file, `the key ${key} appears twice`);
      return root.value as JsonObject;
    },
    add: (text, name, entry) => {
      if (isBlank(text)) return `${JSON.stringify({ [key]: { [name]: entry } }, null, 2)}\n`;
      const { root, servers } = locate(text, key);
      const layout = layoutOf(text, root);
      const [object, value, own] = servers === undefined ? [root, { [name]: entry }, key] : [servers, entry, name];
      const source = memberSource(own, value, text, object, layout);
      return appendMember(text, object, { comments: [], source }, layout);
    },
    remove: (text, name) => {
      const { servers } = locate(text, key);
      const member = memberOf(servers, name);
      return servers === undefined || member === undefined ? text : withoutMember(text, servers, member);
    },
    copy: (text, name, from) => {
      const { servers: old } = locate(from, key);
      const member = memberOf(old, name);
      if (old === undefined || member === undefined) return text;
      const written = writtenMember(from, old, member);
      return isBlank(text) ? text : copied(text, key, name, written, member);
    },
  };
}

function copied(text: string, key: string, name: string, written: WrittenMember, member: JsonMember): string {
  const { root, servers } = locate(text, key);
  const layout = layoutOf(text, root);
  if (servers !== undefined) return appendMember(text, servers, written, layout);
  const source = memberSource(key, { [name]: member.node.value }, text, root, layout);
  return appendMember(text, root, { comments: written.comments, source }, layout);
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function locate(text: string, key: string): { root: JsonNode; servers: JsonNode | undefined } {
  const root = parseJsonText(text);
  return { root, servers: memberOf(root, key)?.node };
}

function memberOf(object: JsonNode | undefined, name: string): JsonMember | undefined {
  return object?.members?.find((member) => member.name === name);
}

function readRoot(text: string, file: string): JsonNode {
  try {
    const root = parseJsonText(text);
    if (root.members === undefined) throw unusable(file, 'it is not an object');
    return root;
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw unusable(`${file}:${error.line}:${error.column}`, error.message);
  }
}

function unusable(place: string, why: string): HostError {
  return new HostError(
    'bad_input',
    `${place}: this is not valid JSON: ${why}; nothing was written. Correct the file, then type the command again.`,
  );
}
