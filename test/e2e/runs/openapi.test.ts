import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { petsDocument } from '../../fixtures/pets-document.mjs';
import { Home } from '../../support/cli.js';
import { startPetsApi } from '../../support/pets-api.js';

/** An API of the configuration, through the built program, from another process. */
let api: Awaited<ReturnType<typeof startPetsApi>>;
const home = new Home();
const KEY = 'canary-4f8e2b7a91';
beforeAll(async () => {
  api = await startPetsApi();
  home.write('pets.yaml', stringify(petsDocument));
  home.write(
    'codemode.config.yaml',
    `mcpServers:
  pets:
    openapi: ./pets.yaml
    baseUrl: ${api.url}/v1
    auth: { type: apiKey, key: "\${PETS_KEY}" }
    timeout: 5s
`,
  );
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

const env = { PETS_KEY: KEY };
interface Response {
  readonly result: unknown;
  readonly diagnostics: { code: string; message: string }[];
}
const run = (input: string) => home.json<Response>(['run', '-'], { input, env });

test('a program calls the operations of a document as typed functions [C9]', async () => {
  const { result, diagnostics } = await run(`
    import { listPets, createPet, get_pets_by_id } from '@codemode/servers/pets';
    const pets = await listPets();
    const made = await createPet({ name: 'Cleo' });
    const missing = await get_pets_by_id({ id: '0' }).catch((error) => error.message);
    globalThis.__codemode_result__ = [pets.map(({ name }) => name), made.body, made.headers, missing];`);
  expect(diagnostics.map(({ code }) => code)).not.toContain('UNCAUGHT_EXCEPTION');
  const [names, body, headers, missing] = result as [string[], string, Record<string, string>, string];
  expect([names, body]).toEqual([['Ada', 'Bob'], '{"name":"Cleo"}']);
  // It arrived, and was redacted in the reply that repeats it.
  expect(headers['x-pets-key']).toMatch(/^\[redacted/);
  expect(missing).toContain('HTTP 404 Not Found');
});

test('its key is in nothing that is printed or kept [C9]', async () => {
  const printed = await Promise.all([
    home.run(['config', 'explain'], { env }),
    home.run(['servers'], { env }),
    home.run(['types'], { env }),
    home.run(['audit', '--json'], { env }),
  ]);
  for (const { stdout, stderr } of printed) expect(stdout + stderr).not.toContain(KEY);
  expect(printed[1]?.stdout).toContain('openapi');
  expect(printed[2]?.stdout).toMatch(/function createPet\(/);
});

test('DELETE waits for a person where the policy asks for destructive tools [C9]', async () => {
  const { diagnostics } = await run(
    `import { deletePet } from '@codemode/servers/pets'; await deletePet({ id: '1' });`,
  );
  expect(diagnostics[0]).toMatchObject({ code: 'APPROVAL_PENDING' });
});

test('a mistake in its settings is named with its place [C9]', async () => {
  const file = home.write('wrong/codemode.config.yaml', 'mcpServers:\n  a: { openapi: ./x.yaml, command: node }\n');
  const { status, stderr } = await home.run(['--config', file, 'config', 'explain']);
  expect(status).toBe(0);
  expect(stderr).toContain(
    'codemode.config.yaml:2:36: server "a" is disabled: mcpServers.a.command: expected either openapi or command, not both, found "node"',
  );
});

test('a document that is not there is the reason, and costs no other server [C9]', async () => {
  const file = home.write('lost/codemode.config.yaml', {
    mcpServers: { lost: { openapi: './nowhere.yaml', baseUrl: api.url }, pets: { openapi: `${api.url}/openapi.json` } },
  });
  const { stdout } = await home.run(['--config', file, 'servers']);
  expect(stdout).toContain('nowhere.yaml cannot be read (ENOENT)');
  const { stdout: listed } = await home.run(['--config', file, 'tools']);
  expect(listed).toContain('listPets');
});
