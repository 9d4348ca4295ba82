import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { PROGRAM } from '../support/cli.js';
import { LedgerHome } from '../support/ledger.js';
import type { Fuzzer } from './fuzzer.js';
import type { Random } from './random.js';

interface Form {
  readonly message: string;
  readonly requestedSchema: { readonly properties: { readonly decision: { readonly enum: readonly string[] } } };
}

interface Answer {
  readonly action: string;
  readonly content?: { readonly decision: unknown; readonly reason?: string };
}

/**
 * A client answers the form of an approval with anything. The call is made where the answer is one of the form's own
 * choices that approves, and nowhere else; what the card shows has nothing hidden in it. By hand: the client library checks
 * what its user says against the form.
 */
export async function openApprovalForms(): Promise<Fuzzer> {
  const home = new LedgerHome();
  const child = spawn(process.execPath, [PROGRAM, '--config', home.config, 'mcp'], {
    env: {
      ...{ PATH: process.env.PATH ?? '', HOME: home.folder },
      ...{ CODEMODE_HOME: home.path('state'), CODEMODE_KEYRING: 'file' },
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const waiting = new Map<number, () => void>();
  const asked: Form[] = [];
  let answer: Answer = { action: 'decline' };
  let last = 0;
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line) as { id?: number; method?: string; params?: unknown };
    if (method === 'elicitation/create') {
      asked.push(params as Form);
      send({ id, result: answer });
    } else if (method === undefined && id !== undefined) waiting.get(id)?.();
  });
  const request = (method: string, params: object) =>
    new Promise<void>((resolve) => {
      waiting.set(++last, resolve);
      send({ id: last, method, params });
    });
  await request('initialize', {
    ...{ protocolVersion: '2025-06-18', capabilities: { elicitation: {} } },
    clientInfo: { name: 'fuzz', version: '0' },
  });
  send({ method: 'notifications/initialized' });
  return {
    attempt: async (random, note) => {
      answer = answerOf(random);
      const text = `${last} ${random.text()}`;
      note({ answer, text });
      asked.length = 0;
      const before = home.lines.length;
      const code = `import { write } from '@codemode/servers/ledger'; await write({ text: ${JSON.stringify(text)} });`;
      await request('tools/call', { name: 'codemode_run', arguments: { code, limits: { timeoutMs: 5_000 } } });
      const [form] = asked;
      if (form === undefined) throw new Error('nobody was asked');
      if (/(?!\n|\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(form.message))
        throw new Error(`the card hides something: ${JSON.stringify(form.message)}`);
      const wasCalled = home.lines.length > before;
      if (wasCalled !== isApproval(answer, form.requestedSchema.properties.decision.enum))
        throw new Error(wasCalled ? 'the call was made without an approval' : 'an approval was not taken');
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      home[Symbol.dispose]();
    },
  };
}

/** As far as the protocol lets it through: texts, numbers, booleans, lists of texts. Never for an hour: nobody would be asked again. */
function answerOf(random: Random): Answer {
  if (random.chance(5)) return { action: 'decline' };
  const decision = random.pick<unknown>([
    ...['approve', 'deny', ' approve', 'Approve', 'approve\u200b', 'approve for this run'],
    ...[random.text(), random.number(), random.chance(2), ['approve']],
  ]);
  return { action: 'accept', content: { decision, ...(random.chance(2) ? {} : { reason: random.text() }) } };
}

function isApproval({ action, content }: Answer, choices: readonly string[]): boolean {
  const decision = content?.decision;
  return action === 'accept' && typeof decision === 'string' && decision !== 'deny' && choices.includes(decision);
}
