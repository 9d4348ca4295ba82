import type { JsonValue } from '../../domain/json.js';
import { quoteVisibly } from '../../lib/text/visible-text.js';
import { valueText } from './describe-rule.js';
import type { Problem } from './problem.js';
import { type Rule, type TypeName, typeOf } from './rule.js';

/** Longer texts are not parsed as JSON. */
const MAX_JSON_CHARACTERS = 100_000;

/** Advice for a value of a wrong type. Programs repeat the same few mistakes. */
export function adviseOnType({ place, value, rule }: Problem, expected: string): string {
  if (value === undefined) return `Pass ${expected}.`;
  const wanted = typesOf(rule, 0);
  const isWhole = place.parent === undefined;
  if (isWhole && wanted.has('object')) return 'Pass one object with the arguments by name.';
  if (value === null && typeof place.token === 'string' && !isWhole) {
    const isRequired = place.rule?.object?.required.includes(place.token) === true;
    if (!isRequired) return `Leave out ${quoteVisibly(place.token)} instead of passing null.`;
  }
  if (typeof value === 'string') return adviseOnText(value, wanted) ?? `Pass ${expected} instead.`;
  if (typeof value === 'number' && wanted.has('integer')) return `Pass a whole number, such as ${Math.round(value)}.`;
  if (typeof value === 'number' && wanted.has('string')) return `Pass it as a string: "${value}".`;
  if (Array.isArray(value)) {
    const [only] = value;
    const isOne = value.length === 1 && only !== undefined && wanted.has(typeOf(only));
    return isOne ? 'Pass the item itself, not an array of it.' : `Pass ${expected} instead.`;
  }
  return wrapped(value, rule) ?? `Pass ${expected} instead.`;

  function adviseOnText(text: string, types: ReadonlySet<TypeName>): string | undefined {
    const meant = parsed(text);
    if (meant !== undefined && typeof meant !== 'string') {
      const type = typeOf(meant);
      const isMeant = types.has(type) || (type === 'number' && types.has('integer'));
      if (isMeant && (type === 'object' || type === 'array')) return `Pass the ${type} itself, not its JSON text.`;
      if (isMeant) return `Pass ${String(meant)} without quotes.`;
    }
    return wrapped(text, rule);
  }
}

function wrapped(value: JsonValue, rule: Rule): string | undefined {
  const items = rule.array?.items;
  const type = typeOf(value);
  const fits = items !== undefined && typesOf(items, 0).has(type);
  return fits ? `Wrap it in an array: [${valueText(value)}].` : undefined;
}

/** The types that a rule names, directly or in its forms. */
function typesOf(rule: Rule, depth: number): ReadonlySet<TypeName> {
  const types = new Set<TypeName>(rule.types ?? []);
  if (rule.types !== undefined || depth > 3) return types;
  if (rule.object !== undefined) types.add('object');
  for (const part of [...(rule.anyOf ?? []), ...(rule.oneOf ?? []), ...(rule.all ?? [])].slice(0, 20)) {
    for (const type of typesOf(part, depth + 1)) types.add(type);
  }
  return types;
}

function parsed(text: string): JsonValue | undefined {
  if (text.length > MAX_JSON_CHARACTERS) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
