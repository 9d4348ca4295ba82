/** The names of a contract's tool besides the listed one: a call by any of them is answered. */
export function otherNames(listed: string, ...spellings: readonly string[]): string[] {
  return spellings.filter((spelling) => spelling !== listed);
}
