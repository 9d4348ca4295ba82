/** Rows as objects, with the header's names as keys. Cells are texts. */
export function rowsOf(header: readonly string[], records: readonly (readonly string[])[]): Record<string, string>[] {
  const names = namesOf(header);
  return records.map((cells) => {
    const row: Record<string, string> = {};
    for (let index = 0; index < names.length; index++) {
      const value = cells[index] ?? '';
      const name = names[index] as string;
      if (name === '__proto__')
        Object.defineProperty(row, name, { value, enumerable: true, writable: true, configurable: true });
      else row[name] = value;
    }
    return row;
  });
}

/** A repeated name gets a number, and a column without a name gets its column number. */
function namesOf(header: readonly string[]): string[] {
  const counts = new Map<string, number>();
  return header.map((cell, index) => {
    const name = cell === '' ? `column_${index + 1}` : cell;
    let free = name;
    while (counts.has(free)) {
      const count = (counts.get(name) ?? 1) + 1;
      counts.set(name, count);
      free = `${name}_${count}`;
    }
    counts.set(free, 1);
    return free;
  });
}
