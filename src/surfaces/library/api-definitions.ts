import { HostError } from '../../domain/errors.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { ApiTool } from '../../host/tools/tool-api.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { plainJson } from './plain-json.js';
import { TypeReader } from './type-text.js';

/** An API described by hand: namespaces by name. Append `as const satisfies MCPAPIDefinitions` to it. */
export interface MCPAPIDefinitions {
  readonly [name: string]: ManualNamespace;
}

export interface ManualNamespace {
  readonly namespace: string;
  readonly description: string;
  readonly methods: { readonly [name: string]: ManualMethod };
}

export interface ManualMethod {
  readonly description: string;
  readonly parameters: readonly ManualParameter[];
  /** A TypeScript type of data: `string`, `Record<string, number>[]`, or your own name. Any other is `unknown`. */
  readonly returnType: string;
  readonly examples?: readonly string[] | undefined;
  readonly deprecated?: boolean | undefined;
}

export interface ManualParameter {
  readonly name: string;
  /** In the format of `returnType`. */
  readonly type: string;
  readonly required: boolean;
  readonly default?: unknown;
  readonly description: string;
}

/** The tools that definitions describe. Throws `bad_input` with the position of an invalid one. */
export function toolsOfDefinitions(definitions: MCPAPIDefinitions): ApiTool[] {
  return entriesOf(definitions, 'the definitions').flatMap(([key, space]) => {
    const { namespace = key, description, methods } = objectOf(space, key) as Partial<ManualNamespace>;
    return entriesOf(methods, `${key}.methods`).map(([name, method]): ApiTool => {
      const place = `${key}.methods.${name}`;
      const { description: words, examples = [], deprecated, returnType } = objectOf(method, place) as ManualMethod;
      return {
        namespace: textOf(namespace, `${key}.namespace`),
        about: textOf(description ?? '', `${key}.description`),
        tool: {
          serverId: key,
          name,
          description: textOf(words ?? '', `${place}.description`),
          inputSchema: inputOf(method as ManualMethod, place),
          ...outputOf(returnType, place),
          ...(deprecated === true ? { deprecated } : {}),
        },
        examples: listOf(examples, `${place}.examples`).map((example) => textOf(example, `${place}.examples`)),
      };
    });
  });
}

function inputOf({ parameters = [] }: ManualMethod, place: string): JsonObject {
  const types = new TypeReader();
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const [index, each] of listOf(parameters, `${place}.parameters`).entries()) {
    const at = `${place}.parameters.${index}`;
    const parameter = objectOf(each, at) as ManualParameter;
    const name = textOf(parameter.name, `${at}.name`);
    properties[name] = {
      ...types.read(textOf(parameter.type, `${at}.type`)),
      description: textOf(parameter.description ?? '', `${at}.description`),
      ...omitUndefined({ default: ifDefined(parameter.default, (value) => plainJson(value, `${at}.default`)) }),
    };
    if (parameter.required === true) required.push(name);
  }
  return { type: 'object', properties, required, ...types.definitions() };
}

function outputOf(returnType: unknown, place: string): { readonly outputSchema?: JsonObject } {
  if (returnType === undefined) return {};
  const types = new TypeReader();
  return { outputSchema: { ...types.read(textOf(returnType, `${place}.returnType`)), ...types.definitions() } };
}

function entriesOf(value: unknown, place: string): [string, unknown][] {
  return Object.entries(objectOf(value, place));
}

function objectOf(value: unknown, place: string): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new HostError('bad_input', `${place}: expected an object`);
}

function listOf(value: unknown, place: string): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly JsonValue[];
  throw new HostError('bad_input', `${place}: expected an array`);
}

function textOf(value: unknown, place: string): string {
  if (typeof value === 'string') return value;
  throw new HostError('bad_input', `${place}: expected a string`);
}
