import type { JsonValue } from '../../domain/json.js';
import { escapeToken } from '../../domain/json-schema/references.js';
import type { AllowedValues, Rule } from './rule.js';

/** One thing that is wrong with a value: where, by which rule, and how. */
export interface Problem {
  readonly place: Place;
  /** What stands there; `undefined` where something is missing. */
  readonly value: JsonValue | undefined;
  /** The rule that is broken. For a missing or unknown property, that of the object around it. */
  readonly rule: Rule;
  readonly fault: Fault;
}

export type Fault =
  | { readonly kind: 'type' }
  /** No value at all is allowed here. */
  | { readonly kind: 'never' }
  | { readonly kind: 'values'; readonly values: readonly AllowedValues[] }
  | {
      readonly kind: 'missing';
      readonly name: string;
      readonly holder: { readonly [name: string]: JsonValue };
      readonly because?: string;
    }
  | { readonly kind: 'unknown'; readonly name: string }
  /** A key that is not allowed as such; what is wrong with it. */
  | { readonly kind: 'name'; readonly name: string; readonly problems: readonly Problem[] }
  | { readonly kind: 'limit'; readonly keyword: LimitKeyword; readonly limit: number; readonly actual: number }
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'repeated'; readonly first: number }
  | { readonly kind: 'not' }
  /** None of several forms fits (`matches` is 0), or more than one of those that exclude each other. */
  | {
      readonly kind: 'forms';
      readonly forms: readonly Rule[];
      readonly failures: readonly (readonly Problem[])[];
      readonly matches: number;
    };

export type LimitKeyword =
  | 'minimum'
  | 'maximum'
  | 'exclusiveMinimum'
  | 'exclusiveMaximum'
  | 'multipleOf'
  | 'minLength'
  | 'maxLength'
  | 'minItems'
  | 'maxItems'
  | 'minContains'
  | 'maxContains'
  | 'minProperties'
  | 'maxProperties';

/** Where in the value; `rule` is the one that holds for the object or array around it. */
export interface Place {
  readonly parent: Place | undefined;
  readonly token: string | number;
  readonly rule: Rule | undefined;
}

export const TOP: Place = Object.freeze({ parent: undefined, token: '', rule: undefined });

export function tokensOf(place: Place): (string | number)[] {
  const tokens: (string | number)[] = [];
  for (let at = place; at.parent !== undefined; at = at.parent) tokens.unshift(at.token);
  return tokens;
}

/** `''` for the whole value. */
export function pointerOf(place: Place): string {
  return tokensOf(place)
    .map((token) => `/${escapeToken(String(token))}`)
    .join('');
}

export function depthOf(place: Place): number {
  let depth = 0;
  for (let at = place; at.parent !== undefined; at = at.parent) depth += 1;
  return depth;
}

export function isSamePlace(left: Place, right: Place): boolean {
  let [a, b] = [left, right];
  while (a !== b) {
    if (a.parent === undefined || b.parent === undefined || a.token !== b.token) return false;
    [a, b] = [a.parent, b.parent];
  }
  return true;
}
