import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { PROGRAM } from '../support/cli.js';
import { LedgerHome } from '../support/ledger.js';
import type { Fuzzer } from './fuzzer.js';
import type { Random } from './random.js';

interface Form {
  readonly message: string;
  readonly requestedSchema: { readonly properties: { readonly decision: { readonly enum: readonly string[] } } };
}

const CHOICES = ['approve', 'approve all', 'approve for this run', 'deny'];

/**
 * A client answers the form of an approval with anything. The call is made where the answer is one of the form's own
 * choices that approves, and nowhere else; what the card shows has nothing hidden in it.
 */
export async function openApprovalForms(): Promise<Fuzzer> {
  const home = new LedgerHome();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, '--config', home.config, 'mcp'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home.folder,
      CODEMODE_HOME: home.path('state'),
      CODEMODE_KEYRING: 'file',
    },
    stderr: 'ignore',
  });
  const client = new Client(
    { name: 'fuzz', version: '0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'legacy' } },
  );
  let answer: unknown;
  const asked: Form[] = [];
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    asked.push(params as unknown as Form);
    return answer as never;
  });
  await client.connect(transport);
  let number = 0;
  return {
    attempt: async (random, note) => {
      answer = answerOf(random);
      const text = `${number++} ${random.text()}`;
      note({ answer, text });
      asked.length = 0;
      const before = home.lines.length;
      const code = `import { write } from '@codemode/servers/ledger'; await write({ text: ${JSON.stringify(text)} });`;
      await client.callTool({ name: 'codemode_run', arguments: { code, limits: { timeoutMs: 5_000 } } });
      const [form] = asked;
      if (form === undefined) throw new Error('nobody was asked');
      if (/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(form.message.replace(/[\ufe0f\u200d]/g, '')))
        throw new Error(`the card hides something: ${JSON.stringify(form.message)}`);
      const wasCalled = home.lines.length > before;
      if (wasCalled !== isApproval(answer, form.requestedSchema.properties.decision.enum))
        throw new Error(wasCalled ? 'the call was made without an approval' : 'an approval was not taken');
    },
    [Symbol.asyncDispose]: async () => {
      await client.close();
      home[Symbol.dispose]();
    },
  };
}

function answerOf(random: Random): unknown {
  const action = random.pick(['accept', 'accept', 'accept', 'decline']);
  const decision = random.chance(2)
    ? random.pick(CHOICES)
    : random.pick([random.text(), random.json(2), ' approve', 'Approve']);
  const reason = random.chance(2) ? {} : { reason: random.json(1) };
  const content = random.chance(6) ? random.json(2) : { decision, ...reason };
  return action === 'accept' ? { action, content } : { action };
}

function isApproval(answer: unknown, choices: readonly string[]): boolean {
  const { action, content } = answer as { action: string; content?: { decision?: unknown } };
  const decision = content?.decision;
  return action === 'accept' && typeof decision === 'string' && decision !== 'deny' && choices.includes(decision);
}
