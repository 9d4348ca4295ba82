import type { JsonValue } from '../../../domain/json.js';

/** A value for a screen. If it is larger than the limit, the beginning of its JSON as a string. */
export function cutValue(json: string, mostCharacters: number): { readonly value: JsonValue; readonly isCut: boolean } {
  if (json.length > mostCharacters) return { value: cutText(json, mostCharacters), isCut: true };
  try {
    return { value: JSON.parse(json) as JsonValue, isCut: false };
  } catch {
    return { value: json, isCut: false };
  }
}

/** Never cuts inside a surrogate pair. */
export function cutText(text: string, mostCharacters: number): string {
  return text.length <= mostCharacters ? text : text.slice(0, mostCharacters).replace(/[\ud800-\udbff]$/, '');
}
