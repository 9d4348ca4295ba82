import type { JsonValue } from '../../domain/json.js';

/** The part of a kept value that a program asks for: `{ path: 'rows', from: 0, to: 50 }`. */
interface PartRequest {
  readonly path: readonly (string | number)[];
  readonly from: number;
  readonly to: number;
}

/** The requested part of a value as JSON, or what is wrong with the request. Without a request, the whole value. */
export function partOfResult(
  json: string,
  request: JsonValue | undefined,
): { readonly json: string } | { readonly problem: string } {
  if (request === undefined || request === null) return { json };
  const parsed = parseRequest(request);
  if (typeof parsed === 'string') return { problem: parsed };
  let value = JSON.parse(json) as JsonValue;
  for (const step of parsed.path) {
    const next = stepInto(value, step);
    if (next === undefined)
      return {
        problem: `there is no ${JSON.stringify(step)} at this place; ${formOf(step) ?? `there is: ${whatIsIn(value)}`}`,
      };
    value = next;
  }
  if (Array.isArray(value) || typeof value === 'string')
    return { json: JSON.stringify(value.slice(parsed.from, parsed.to)) };
  return { json: JSON.stringify(value) };
}

function parseRequest(request: JsonValue): PartRequest | string {
  if (typeof request !== 'object' || request === null || Array.isArray(request))
    return 'the second argument is { path?, from?, to? }';
  const { path = [], from = 0, to = Number.MAX_SAFE_INTEGER } = request;
  if (!isPlace(from) || !isPlace(to)) return '`from` and `to` are whole numbers, counted from 0; `to` is not included';
  const steps = typeof path === 'string' ? path.split('.') : path;
  if (!Array.isArray(steps) || !steps.every(isStep)) return '`path` is text such as "rows.0.name", or a list of keys';
  return { path: steps as (string | number)[], from, to };
}

function isPlace(value: JsonValue): value is number {
  return Number.isSafeInteger(value);
}

function isStep(value: JsonValue): boolean {
  return typeof value === 'string' || isPlace(value);
}

function stepInto(value: JsonValue, step: string | number): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return /^-?\d+$/.test(String(step)) ? value.at(Number(step)) : undefined;
  return Object.hasOwn(value, step) ? value[step] : undefined;
}

/** Suggests the right form if the program wrote a JSON Pointer. */
function formOf(step: string | number): string | undefined {
  const [first, ...others] = typeof step === 'string' ? step.split('/') : [];
  if (first === undefined || others.length === 0) return undefined;
  const dotted = (first === '' ? others : [first, ...others]).join('.').slice(0, MAX_SHOWN_CHARACTERS);
  return `write the path with dots: ${JSON.stringify(dotted)}`;
}

const MAX_SHOWN_CHARACTERS = 100;
const MAX_KEYS = 10;

function whatIsIn(value: JsonValue): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : `a ${typeof value}`;
  const keys = Object.keys(value);
  return `an object with ${keys.slice(0, MAX_KEYS).join(', ')}${keys.length > MAX_KEYS ? ', …' : ''}`;
}
