import type { JsonObject, JsonValue } from '../../../../src/domain/json.js';

/** One argument that a form can ask for. */
export interface Field {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'json';
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  readonly description: string;
}

const MAX_FIELDS = 60;

/** The top-level properties of an input schema. A property without a simple kind is typed as JSON. */
export function fieldsOf(schema: JsonValue): readonly Field[] {
  const { properties, required } = objectOf(schema);
  const names = Array.isArray(required) ? required : [];
  return Object.entries(objectOf(properties))
    .slice(0, MAX_FIELDS)
    .map(([name, given]) => {
      const property = objectOf(given);
      const choices = Array.isArray(property['enum'])
        ? property['enum'].filter((each) => typeof each === 'string')
        : [];
      const description = typeof property['description'] === 'string' ? property['description'] : '';
      return { name, kind: kindOf(property, choices), choices, isRequired: names.includes(name), description };
    });
}

function kindOf(property: JsonObject, choices: readonly string[]): Field['kind'] {
  if (choices.length > 0) return 'choice';
  const type = property['type'];
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  return type === 'boolean' ? 'boolean' : 'json';
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** The arguments entered in the fields. Throws if a value is not JSON or not a number. */
export function argumentsOf(fields: readonly Field[], values: ReadonlyMap<string, string>): JsonObject {
  const given: Record<string, JsonValue> = Object.create(null);
  for (const { name, kind } of fields) {
    const text = values.get(name) ?? '';
    if (text === '') continue;
    given[name] = readValue(name, kind, text);
  }
  return { ...given };
}

function readValue(name: string, kind: Field['kind'], text: string): JsonValue {
  switch (kind) {
    case 'text':
    case 'choice':
      return text;
    case 'boolean':
      return text === 'true';
    case 'number': {
      const number = Number(text);
      if (!Number.isFinite(number)) throw new Error(`${name} must be a number.`);
      return number;
    }
    case 'json':
      try {
        return JSON.parse(text) as JsonValue;
      } catch {
        throw new Error(`${name} must be JSON, such as ["a"] or {"a": 1}.`);
      }
  }
}
