import { secretForms } from './secret-forms.js';

/** The text that replaces a secret. */
export const MASK = '***';

/** Shorter values (`1`, `true`, `info`) are not secrets, and masking them would make every message unreadable. */
const MIN_SECRET_CHARACTERS = 8;
/** Under a name that suggests a secret, even a short value is masked. */
const MIN_NAMED_SECRET_CHARACTERS = 3;
const SECRET_NAME = /key|token|secret|passw|pwd|auth|credential|cookie|session|signature|private|bearer|dsn/i;

/** Whether a setting of this name should never be shown. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Replaces every known secret, also percent-encoded and in base64, in texts that leave the program. */
export class SecretMask {
  readonly #needles: readonly string[];

  constructor(secrets: Iterable<string>) {
    const needles = new Set<string>();
    for (const secret of secrets) {
      for (const form of [secret, encodeURIComponentSafely(secret), Buffer.from(secret).toString('base64')])
        needles.add(form);
      // The encoded forms of shorter secrets are a few letters long and occur in every text.
      if (secret.length >= MIN_SECRET_CHARACTERS) for (const { text } of secretForms(secret)) needles.add(text);
    }
    // Longest first, so that no part of a secret remains that contains another.
    this.#needles = [...needles].filter((needle) => needle !== '').sort((a, b) => b.length - a.length);
  }

  apply(text: string): string {
    let masked = text;
    for (const needle of this.#needles) masked = masked.replaceAll(needle, MASK);
    return masked;
  }
}

/** The values in a set of environment variables or headers that must not be shown. */
export function secretsOf(values: Readonly<Record<string, string>>): string[] {
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(values)) {
    const least = isSecretName(name) ? MIN_NAMED_SECRET_CHARACTERS : MIN_SECRET_CHARACTERS;
    // `Bearer abc`: the token is a secret without its scheme too.
    for (const part of [value, ...value.split(/\s+/).slice(1)]) if (part.length >= least) secrets.push(part);
  }
  return secrets;
}

function encodeURIComponentSafely(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text; // a lone surrogate
  }
}
