import type { JsonValue } from '../domain/json.js';

/**
 * The types of results that tools have returned: field names and types, never values. Stored content is untrusted until it is
 * parsed. Unreadable content counts as absent. Types that cannot be written are observed again.
 */
export interface ObservedTypesStore {
  read(): Promise<JsonValue | undefined>;
  /** Atomic: a reader sees what one host wrote. */
  write(types: JsonValue): Promise<void>;
}
