import { expect, test } from 'vitest';
import { configSchema } from '../../config/schema/schema.js';
import { scriptDefaults } from './settings.js';

test('scripts have 120 s and a pool of ten where nothing is set, and no list of servers [D6, D9]', () => {
  const config = configSchema.parse({});
  expect(scriptDefaults(config)).toMatchObject({ timeoutMs: 120_000, maxToolCalls: 0 });
  expect(config.codeExecution.poolSize).toBe(10);
  for (const key of ['allowedServers', 'allowed_servers'])
    expect(configSchema.safeParse({ codeExecution: { [key]: ['github'] } }).success, key).toBe(false);
});
