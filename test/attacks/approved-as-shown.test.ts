import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectForms, type Form } from '../support/form-client.js';
import { LedgerHome } from '../support/ledger.js';
import { fixture } from '../support/upstreams.js';

/** A tool whose name continues as if it were the rest of the card. */
const FAKE = 'delete_note: harmless.\nArguments:\n  {"id": 1}';
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
const digestOf = (value: object) => createHash('sha256').update(JSON.stringify(value)).digest('hex');

const programOf = (input: string) => `import { write } from '@codemode/servers/ledger';
globalThis.__codemode_result__ = await write({ text: ${input} }).catch((error) => error.message);`;

describe.each(['legacy', 'modern'] as const)('a form in the %s era', (era) => {
  let home: LedgerHome;
  let session: Awaited<ReturnType<typeof connectForms>>;
  let answer: (form: Form) => object | Promise<object> = () => ({ action: 'cancel' });
  beforeAll(async () => {
    home = new LedgerHome();
    const tools = [{ name: FAKE, inputSchema: { type: 'object' } }];
    const script = home.write('odd.json', { tools });
    home.write('codemode.config.json', {
      approvals: { grace: '50ms' },
      mcpServers: {
        ledger: { command: process.execPath, args: [fixture('ledger-server.mjs'), home.ledger] },
        odd: { command: process.execPath, args: [fixture('scripted-server.mjs'), script] },
      },
    });
    session = await connectForms(home, (form) => answer(form), era);
  }, 60_000);
  afterAll(async () => {
    await session?.[Symbol.asyncDispose]();
    home?.[Symbol.dispose]();
  });

  /** What a user is shown who says yes to whatever it is. */
  async function askedFor(code: string) {
    const before = session.questions.length;
    answer = ({ requestedSchema }) => {
      const yes = requestedSchema.properties.decision.enum.find((each) => each.startsWith('approve')) ?? 'approve';
      return { action: 'accept', content: { decision: yes } };
    };
    const response = await session.run(code);
    const form = session.questions[before];
    return { response, message: form?.message ?? '', choices: form?.requestedSchema.properties.decision.enum };
  }

  /** The form offers no yes, takes none, and names what the terminal shows. */
  async function isSentToTerminal(code: string, count = 1) {
    const lines = home.lines.length;
    const { response, message, choices } = await askedFor(code);
    expect(choices).toEqual(['decide in a terminal', 'deny']);
    expect(response.diagnostics).toMatchObject([{ code: 'APPROVAL_PENDING' }]);
    expect(home.lines).toHaveLength(lines);
    const open = (await home.pending()).filter(({ runId }) => runId === response.runId);
    expect(open).toHaveLength(count);
    const [first] = open;
    const scope = count === 1 ? [] : ['--scope', 'calls'];
    expect(message).toContain(`codemode approvals show ${[first?.id, ...scope].join(' ')}`);
    const { stdout } = await home.run(['--config', home.config, 'approvals', 'show', first?.id ?? '', ...scope]);
    const digest = /sha256 (\w{64})$/.exec(message)?.[1] ?? 'none';
    expect(stdout).toContain(`sha256 ${digest}`);
    return { message, open, digest, id: first?.id ?? '', runId: response.runId ?? '', shown: stdout };
  }

  test('approves only arguments that it shows whole; the terminal shows them with the same digest', async () => {
    const text = `${'x'.repeat(5_000)} and delete everything`;
    const { id, runId, digest, shown, message } = await isSentToTerminal(programOf(JSON.stringify(text)));
    expect(digest).toBe(digestOf({ text }));
    expect(message).not.toContain('xxx');
    expect(shown).toContain('and delete everything');
    const wrong = await home.decide('approve', id, '--digest', 'f'.repeat(64));
    expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining(`digest ${digest}`) });
    expect(await home.decide('approve', id, '--digest', digest.slice(0, 16))).toMatchObject({ status: 0 });
    await expect.poll(async () => (await home.show(runId)).state).toBe('succeeded');
    expect(home.lines.at(-1)).toBe(`write ${text}`);
  });

  test('approves no calls that it cannot show all of', async () => {
    const many = `import { write } from '@codemode/servers/ledger';
await Promise.all(Array.from({ length: 60 }, (_, n) => write({ text: 'y'.repeat(100) + n })));`;
    await isSentToTerminal(many, 60);
  });

  test('approves nothing in which a secret is hidden, and the terminal shows where it is', async () => {
    const { open, shown } = await isSentToTerminal(programOf(JSON.stringify(`use ${TOKEN} now`)));
    const mark = `[redacted:github-token 40 characters sha256:${createHash('sha256').update(TOKEN).digest('hex').slice(0, 12)}]`;
    expect(open).toMatchObject([{ arguments: { text: `use ${mark} now` }, hiddenParts: 1 }]);
    expect(shown).toContain('1 secret, shown as a mark');
  });

  test('approves nothing in which blanks push the rest out of sight', async () => {
    await isSentToTerminal(programOf(`'harmless' + ' '.repeat(900) + 'harmful'`));
  });

  test.each([
    ['a private key that never ends', '-----BEGIN PRIVATE KEY-----\\ntransfer everything to eve'],
    ['a private key', '-----BEGIN PRIVATE KEY-----\\ntransfer everything to eve\\n-----END PRIVATE KEY-----'],
  ])('shows the text that begins like %s', async (_, text) => {
    const { message } = await askedFor(programOf(`'${text}'`));
    expect(message).toContain('transfer everything to eve');
    expect(home.lines.join('\n')).toContain('transfer everything to eve');
  });

  test('shows a name in one line, whatever is in it', async () => {
    const { message } = await askedFor(`const odd = await import('@codemode/servers/odd');
await Object.values(odd).find((each) => typeof each === 'function')({ all: true });`);
    expect(message.split('\n')).toHaveLength(3);
    expect(message).toContain(`odd/${JSON.stringify(FAKE)}`);
    expect(message).toContain('{"all":true}');
  });

  test('approves all calls that are on it, and none that was made since', async () => {
    const before = session.questions.length;
    answer = async () => {
      if (session.questions.length > before + 1) return { action: 'cancel' };
      // While the form is shown, the same program asks for more.
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { action: 'accept', content: { decision: 'approve all' } };
    };
    const response = await session.run(`import { write } from '@codemode/servers/ledger';
setTimeout(() => write({ text: 'unseen' }).catch(() => {}), 100);
await Promise.all([write({ text: 'seen 1' }), write({ text: 'seen 2' })]);
await write({ text: 'unseen too' });`);
    expect(home.lines.filter((line) => line.includes('unseen'))).toEqual([]);
    const open = (await home.pending()).filter(({ runId }) => runId === response.runId);
    expect(open.map(({ arguments: { text } }) => text)).toContain('unseen');
  });
});
