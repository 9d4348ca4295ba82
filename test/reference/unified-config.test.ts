import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { referencePath } from '../support/reference.js';
import { fixture } from '../support/upstreams.js';

test('the example that the configuration is tested with is the one of the document', () => {
  const document = readFileSync(referencePath('seeds', '002_b03b70a7296140c5.txt'), 'utf8');
  const from = document.indexOf('# codemode.config.yaml');
  const printed = document.slice(from, document.indexOf('// Manual API definitions', from));
  const words = (text: string) =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  expect(words(readFileSync(fixture('unified-config.yaml'), 'utf8'))).toEqual(words(printed));
});
