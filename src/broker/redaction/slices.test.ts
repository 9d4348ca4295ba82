import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { compileExpressions } from './expressions.js';
import { type FinderOptions, PART_CHARACTERS } from './finder.js';
import { Redactor } from './redactor.js';

const SECRET = 'correct-horse-battery-staple';
const ALL: FinderOptions = {
  patterns: true,
  named: true,
  cards: true,
  emails: true,
  phones: true,
  accounts: true,
  extra: compileExpressions(['EMP-[0-9]{6}']),
  allow: ['allowed@example.com'],
};
const redactor = new Redactor([SECRET], ALL);
const FOUND = [
  SECRET,
  `ghp_${'a1B2'.repeat(9)}`,
  'card 4111 1111 1111 1111,',
  'mail somebody@example.com now',
  'mail allowed@example.com now',
  'call +49 30 1234567 or (030) 1234-5678 today',
  'password="hunter2hunter2"',
  'Bearer abcdef0123456789abcdef',
  'EMP-123456',
  'to DE89 3704 0044 0532 0130 00 now',
  'number 123-45-6789,',
  `-----BEGIN RSA PRIVATE KEY-----\n${'QUJD'.repeat(100)}\n-----END RSA PRIVATE KEY-----`,
];

/** More than one part, with something to be found at, before and behind each border. */
function longText(): string {
  let text = '';
  for (let part = 0; part < 3; part += 1)
    for (const found of FOUND) {
      const filler = randomBytes(40).toString('hex').replace(/\d/g, ' ');
      const before = (part + 1) * PART_CHARACTERS - Math.floor(Math.random() * 2 * found.length);
      text += `${filler.repeat(3)} ${found} `;
      if (text.length < before && found === FOUND[part * 3]) text = `${text.padEnd(before, ' . ')}${found}`;
    }
  return text;
}

/** Others have to wait no longer than this, on average. */
const LONGEST_TURN_S = 0.1;

describe('a long text', () => {
  test('is redacted in slices as it is in one go, wherever its parts are cut', async () => {
    for (let round = 0; round < 20; round += 1) {
      const text = longText();
      expect(text.length).toBeGreaterThan(2 * PART_CHARACTERS);
      const atOnce: Record<string, number> = {};
      const inSlices: Record<string, number> = {};
      expect(await redactor.textInSlices(text, inSlices)).toBe(redactor.text(text, atOnce));
      expect(inSlices).toEqual(atOnce);
    }
  });

  test('is redacted in results and in JSON as it is in one go', async () => {
    const structuredContent = { rows: [{ note: longText(), password: 'x' }, ...FOUND, 4_111_111_111_111_111, null] };
    const reply = { content: [{ type: 'text', text: longText() }], structuredContent, isError: false };
    const atOnce: Record<string, number> = {};
    const inSlices: Record<string, number> = {};
    expect(await redactor.replyInSlices(reply, inSlices)).toEqual(redactor.reply(reply, atOnce));
    expect(inSlices).toEqual(atOnce);
    const json = JSON.stringify(structuredContent);
    expect(await redactor.jsonInSlices(json)).toBe(redactor.json(json));
  });

  test('of 30 MB of digits lets others have their turn many times a second', async () => {
    const digits = '8305551234567 '.repeat(2_200_000);
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const before = process.cpuUsage();
    await redactor.textInSlices(digits);
    clearInterval(timer);
    const { user, system } = process.cpuUsage(before);
    // By what was computed: on a busy machine this process also waits for a core.
    expect(turns).toBeGreaterThan((user + system) / 1e6 / LONGEST_TURN_S);
  });
});
