import { expect, test } from 'vitest';
import { parseYaml } from './document.js';

test('a variable without quotes in braces is answered with what to write', () => {
  expect(() => parseYaml('mcpServers:\n  a: {command: ${TOOL}}\n', 'c.yaml')).toThrow(
    'c.yaml:2:17: a variable between { and } needs quotes; write "${NAME}"',
  );
  expect(parseYaml('a: {command: "${TOOL}"}\nb: ${TOOL}\n', 'c.yaml').value).toEqual({
    a: { command: '${TOOL}' },
    b: '${TOOL}',
  });
});
