/** The fields that have a value. For optional fields of an object: `{ id, ...omitUndefined({ title, tags }) }`. */
export function omitUndefined<T extends object>(fields: T): Defined<T> {
  const kept: Partial<T> = {};
  for (const key in fields) {
    if (fields[key] !== undefined) kept[key] = fields[key];
  }
  // The compiler cannot prove that the loop produces this type.
  return kept as unknown as Defined<T>;
}

/** Fields that may be undefined become optional and never hold undefined, as `exactOptionalPropertyTypes` requires. */
export type Defined<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** Maps a value that may be missing: `{ id, ...omitUndefined({ title: ifDefined(title, visibleLine) }) }`. */
export function ifDefined<T, R>(value: T | undefined, map: (value: T) => R): R | undefined {
  return value === undefined ? undefined : map(value);
}
