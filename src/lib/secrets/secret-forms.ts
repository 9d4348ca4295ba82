/** In base64, the text is cut to the characters that encode only bytes of the secret, whatever its neighbours are. */
export interface SecretForm {
  readonly text: string;
  /** In base64 the neighbouring characters may hold up to four bits of the secret. */
  readonly isBase64: boolean;
}

/**
 * The forms of a secret after it has been passed on: unchanged, in JSON (up to four times nested), percent-encoded, in hexadecimal,
 * and in base64 at each of the three alignments, in both alphabets. Not covered: compressed, encrypted, reversed, split, or two
 * encodings combined.
 */
export function secretForms(secret: string): SecretForm[] {
  const bytes = Buffer.from(secret);
  const percent = percentEncoded(secret);
  const plain = [
    secret,
    ...escapedForms(secret),
    percent,
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    percent.replaceAll('%20', '+'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ];
  const base64 = [0, 1, 2].flatMap((offset) => {
    const core = base64Core(bytes, offset);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_'), core.replaceAll('/', '\\/')];
  });
  return [
    ...[...new Set(plain)].map((text) => ({ text, isBase64: false })),
    ...[...new Set(base64)].map((text) => ({ text, isBase64: true })),
  ];
}

/** Answers are JSON, their texts are often JSON, and so is what those quote. */
const MAX_ESCAPES = 4;

function escapedForms(secret: string): string[] {
  const forms: string[] = [];
  for (let form = secret; forms.length < MAX_ESCAPES; ) {
    form = JSON.stringify(form).slice(1, -1);
    forms.push(form);
  }
  return forms;
}

/** With `offset` bytes before it in its group of three: the characters that encode no other byte. */
function base64Core(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function percentEncoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text; // a lone surrogate
  }
}
