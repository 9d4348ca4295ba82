/** Text in base64 is cut to the characters that stand whole for bytes of the secret, whatever stands beside it. */
export interface SecretForm {
  readonly text: string;
  /** In base64 the neighbours on both sides may hold up to four bits of the secret. */
  readonly isBase64: boolean;
}

/**
 * How a secret may look after it has been passed on: as it is, in JSON (up to four times over), percent-encoded, in
 * hexadecimal, and in base64 at each of the three places at which it can begin, in both alphabets. Not: compressed,
 * encrypted, reversed, cut into pieces, or encoded in two ways one over the other.
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

/** Answers are JSON, their texts often too, and what those quote as well. */
const MAX_ESCAPES = 4;

function escapedForms(secret: string): string[] {
  const forms: string[] = [];
  for (let form = secret; forms.length < MAX_ESCAPES; ) {
    form = JSON.stringify(form).slice(1, -1);
    forms.push(form);
  }
  return forms;
}

/** With `offset` bytes before it in its group of three: those six-bit characters that no other byte has a share in. */
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
