/** The same bytes as text, where they are JSON. */
export function jsonText(body: Buffer): string | undefined {
  const text = body.toString('utf8');
  try {
    JSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}
