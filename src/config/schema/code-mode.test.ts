import { expect, test } from 'vitest';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { codeModeOf } from './code-mode.js';
import { configSchema } from './schema.js';

const defaults = { codeMode: { enabled: false, excludedTools: ['bash'] } };
const of = (codeMode: object | undefined) =>
  codeModeOf(configSchema.parse({ defaults, models: [{ ref: 'm', ...omitUndefined({ codeMode }) }] }), 'm');

test('a model without codeMode has the defaults', () => {
  expect(of(undefined)).toMatchObject({ enabled: false, excludedTools: ['bash'] });
});

test('a partial codeMode of a model inherits the missing key', () => {
  expect(of({ enabled: true })).toMatchObject({ enabled: true, excludedTools: ['bash'] });
  expect(of({ excludedTools: [] })).toMatchObject({ enabled: false, excludedTools: [] });
});
