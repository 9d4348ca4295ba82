import type { JsonValue } from '../../domain/json.js';
import { escapeToken } from '../../domain/json-schema/references.js';
import type { AllowedValues, Rule } from './rule.js';

/** One thing that is wrong with a value: the place, the rule and the fault. */
export interface Problem {
  readonly place: Place;
  /** The value at that place; `undefined` if it is missing. */
  readonly value: JsonValue | undefined;
  /** The broken rule. For a missing or unknown property, the rule of the object that contains it. */
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
  /** A key that is not allowed, with the problems of its name. */
  | { readonly kind: 'name'; readonly name: string; readonly problems: readonly Problem[] }
  | { readonly kind: 'limit'; readonly keyword: LimitKeyword; readonly limit: number; readonly actual: number }
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'repeated'; readonly first: number }
  | { readonly kind: 'not' }
  /** None of several forms fits (`matches` is 0), or more than one of several exclusive forms fits. */
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

/** A place in the value. `rule` is the rule of the object or array that contains it. */
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

/** `''` stands for the whole value. */
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
