import type { JsonValue } from '../domain/json.js';

/**
 * The types of results that tools have returned: field names and types, never values. What is read is hostile until it is
 * parsed. What cannot be read counts as absent; types that cannot be written are observed again.
 */
export interface ObservedTypesStore {
  read(): Promise<JsonValue | undefined>;
  /** Whole or not at all: a reader sees what one host wrote. */
  write(types: JsonValue): Promise<void>;
}
