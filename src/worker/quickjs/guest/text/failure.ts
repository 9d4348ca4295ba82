/** Why a text could not be read, and where: `line` and `column` count from one. */
export class UnreadableText extends Error {
  readonly hint: string;
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(message: string, hint: string, place?: { readonly line: number; readonly column: number }) {
    super(message);
    this.hint = hint;
    this.line = place?.line;
    this.column = place?.column;
  }
}

export function unreadable(text: string, offset: number, what: string, hint: string): UnreadableText {
  const { line, column } = placeOf(text, offset);
  const near = JSON.stringify(text.slice(offset, offset + MAX_NEAR_CHARACTERS));
  const where = offset >= text.length ? 'at the end of the text' : `near ${near}`;
  return new UnreadableText(`cannot read the text at line ${line}, column ${column}: ${what}, ${where}`, hint, {
    line,
    column,
  });
}

const MAX_NEAR_CHARACTERS = 30;

function placeOf(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let start = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
    start = at + 1;
  }
  return { line, column: offset - start + 1 };
}
