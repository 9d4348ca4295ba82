/** The fields that have a value. For optional fields of an object: `{ id, ...omitUndefined({ title, tags }) }`. */
export function omitUndefined<T extends object>(fields: T): Defined<T> {
  const kept: Partial<T> = {};
  for (const key in fields) {
    if (fields[key] !== undefined) kept[key] = fields[key];
  }
  // The compiler cannot know that the loop keeps what the type says.
  return kept as unknown as Defined<T>;
}

/** What may be undefined is optional, and never there without a value: `exactOptionalPropertyTypes` takes it. */
export type Defined<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};
