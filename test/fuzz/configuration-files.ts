import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explainConfig } from '../../src/config/explain.js';
import { loadConfig } from '../../src/config/load.js';
import { HostError } from '../../src/domain/errors.js';
import { expectKnown, pure } from './fuzzer.js';
import type { Random } from './random.js';

const SECRET = 'sEcr3tT0k3n9fG7hI2kL';
const VALID = {
  profile: 'codemode',
  mcpServers: {
    files: { command: 'node', args: ['server.mjs', '--token', SECRET], env: { API_KEY: SECRET }, cwd: '.' },
    remote: { url: `https://x.example/${SECRET}/mcp`, headers: { authorization: `Bearer ${SECRET}` }, timeout: '5s' },
    api: { openapi: './pets.yaml', baseUrl: 'https://x.example', auth: { type: 'bearer', token: SECRET } },
  },
  policy: { rules: [{ tools: ['files/*'], action: 'ask' }], default: 'ask' },
  sandbox: { isolation: 'strict', limits: { timeout: '5s', memory: '64MB' }, workers: { min: 1, max: 2 } },
  security: { auth: { tokens: [{ name: 'a', sha256: 'a'.repeat(64), scopes: ['execute'] }] } },
  defaults: { codeMode: { excludedTools: ['a*'] } },
  approvals: { grace: '1s' },
};

/** A configuration in any of its formats is taken, or refused in words that show no secret and no hidden character. */
export const configurationFiles = pure(async (random, note) => {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-fuzz-'));
  try {
    const file = join(folder, `codemode.config.${random.pick(['json', 'yaml', 'toml'])}`);
    const text = textOf(random);
    note(text.toString('latin1'));
    writeFileSync(file, text);
    const loaded = await loadConfig({ configFile: file, cwd: folder, environment: { HOME: folder, TOKEN: SECRET } });
    for (const { key, value } of explainConfig(loaded)) {
      JSON.parse(value);
      if (typeof key !== 'string') throw new Error('a setting without a name');
    }
  } catch (error) {
    expectKnown(error, HostError);
    if (!['bad_config', 'bad_input', 'untrusted_config'].includes((error as HostError).code)) throw error;
    const at = (error as Error).message.search(/(?!\n|\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    if (at >= 0) throw new Error(`its words cannot be seen: ${JSON.stringify((error as Error).message)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function textOf(random: Random): Buffer {
  const value = random.chance(4) ? random.json(5) : random.changed(VALID, 8);
  const json = Buffer.from(JSON.stringify(value) ?? '');
  return random.chance(3) ? random.mutated(json) : json;
}
