/** The body as text if it is JSON, else undefined. */
export function jsonText(body: Buffer): string | undefined {
  const text = body.toString('utf8');
  try {
    JSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}
