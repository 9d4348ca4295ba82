import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { PROTOCOL } from '../../src/wire/messages.js';
import { GO_ROOTS, goCommand } from '../support/go.js';
import { needs } from '../support/needs.js';

const FOLDER = fileURLToPath(new URL('../../src/worker/go', import.meta.url));
const GOLDEN = fileURLToPath(new URL('../../src/wire/golden', import.meta.url));

test('the worker of Go programs speaks the protocol of this host', () => {
  expect(readFileSync(join(FOLDER, 'frames/frames.go'), 'utf8')).toContain(`Protocol = ${PROTOCOL}\n`);
});

describe.each(GO_ROOTS)('the worker of Go programs under %s', needs('go'), (root) => {
  test('speaks the frames that every language speaks', { timeout: 180_000 }, async () => {
    expect(await goCommand(root, ['test', './frames'], FOLDER, { CODEMODE_GOLDEN: GOLDEN })).toBe('');
  });
});
