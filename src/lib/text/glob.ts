/** `*` means any sequence of characters, every other character means itself. Linear time for any pattern. */
export function matchesGlob(pattern: string, text: string): boolean {
  const parts = pattern.split('*');
  const first = parts[0] as string;
  if (parts.length === 1) return pattern === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  const last = parts.at(-1) as string;
  return text.length - last.length >= at && text.endsWith(last);
}
