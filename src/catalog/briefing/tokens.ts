/**
 * Estimates the tokens of a text in one pass and without a vocabulary. Fitted to o200k on declarations, indexes and tool lists of
 * 30 real servers and on prose, then raised by a tenth: for texts of 150 tokens and more the median is 10 % too high, the lowest 12
 * % too low, the highest 24 % too high. Noise without known words (`xqzkj`) costs up to three times as much; the bounds on
 * untrusted text limit that, not this function.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let wasLetter = false;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    const isLower = unit >= 0x61 && unit <= 0x7a;
    const isUpper = unit >= 0x41 && unit <= 0x5a;
    tokens += WEIGHTS.character;
    if (isLower) tokens += wasLetter ? 0 : WEIGHTS.word;
    else if (isUpper) tokens += wasLetter ? WEIGHTS.hump : WEIGHTS.word;
    else if (unit >= 0x80)
      tokens += unit < 0x2000 ? WEIGHTS.alphabet : unit < 0xd800 ? WEIGHTS.ideograph : WEIGHTS.rare;
    else if (unit === NEW_LINE) tokens += WEIGHTS.line;
    else if (unit >= 0x30 && unit <= 0x39) tokens += WEIGHTS.digit;
    else if (unit !== SPACE) tokens += WEIGHTS.mark;
    wasLetter = isLower || isUpper;
  }
  return Math.ceil(tokens);
}

/**
 * The same without the extra tenth: for figures that are shown, not enforced. For the tool definitions of 30 real servers the
 * median is 2 % too high, 26 are within 6 %, and the shortest is 16 % too low (decision 0069).
 */
export function approximateTokens(text: string): number {
  return Math.round(estimateTokens(text) / RAISED);
}

const RAISED = 1.11;
const SPACE = 0x20;
const NEW_LINE = 0x0a;
const WEIGHTS = {
  character: 0.177,
  word: 0.343,
  hump: 0.166,
  digit: 0.3,
  mark: 0.13,
  line: 0.95,
  alphabet: 0.2,
  ideograph: 0.6,
  rare: 1,
} as const;
