/** The beginning of a text, at most this many UTF-16 units long, that does not end inside a character. */
export function safeSlice(text: string, most: number): string {
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
}
