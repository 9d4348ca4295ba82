import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GateOptions, openGate, ruleOf } from '../../../test/support/policy.js';
import type { JsonValue } from '../../domain/json.js';
import { Database } from '../../store/sqlite/database.js';
import { SqliteSpendingStore } from '../../store/sqlite/spending.js';
import { RunLedger } from '../run-ledger.js';
import { ReceivedData } from './flow.js';
import type { PolicyGate } from './gate.js';

const judge = (gate: PolicyGate, name: string, run: RunLedger) => {
  const [serverId = '', tool = ''] = name.split('/');
  const question = { tool: { serverId, name: tool }, serverPath: serverId, caller: '', profile: '', arguments: {} };
  return gate.judge(question, run);
};

describe('the flow guard', () => {
  const servers: GateOptions['servers'] = {
    crm: { labels: ['private'] },
    web: { labels: ['untrusted', 'external'] },
    mail: { labels: ['external'] },
  };
  const runOf = (gate: PolicyGate, ...received: string[]) => {
    const run = new RunLedger();
    for (const serverId of received) gate.received(serverId, run);
    return run;
  };

  test('asks before data of a private server leaves, and names that server', async () => {
    const gate = openGate({ servers });
    expect((await judge(gate, 'mail/draft', runOf(gate))).decision).toBe('allow');
    expect(await judge(gate, 'mail/draft', runOf(gate, 'crm'))).toMatchObject({
      decision: 'ask',
      reason: 'the run has read private data from crm, and this call sends data to an external server',
      rule: { kind: 'guard' },
    });
    expect((await judge(gate, 'files/write', runOf(gate, 'crm'))).decision).toBe('allow');
  });

  test('counts requests to the network and written files as external, without a label', async () => {
    const gate = openGate({ servers, preset: 'open' });
    const decisionsOf = (...received: string[]) =>
      Promise.all(
        ['codemode/network', 'codemode/filesystem'].flatMap((serverId) =>
          ['fetch', 'writeFile', 'readFile'].map(async (name) => {
            const question = { tool: { serverId, name }, serverPath: 'x', caller: '', profile: '', arguments: {} };
            return (await gate.judge(question, runOf(gate, ...received))).decision;
          }),
        ),
      );
    expect(await decisionsOf()).toEqual(['allow', 'allow', 'allow', 'allow', 'allow', 'allow']);
    for (const label of ['crm', 'web'])
      expect(await decisionsOf(label)).toEqual(['ask', 'ask', 'ask', 'allow', 'ask', 'allow']);
  });

  test('gives each reason by itself, and one for each server', async () => {
    const gate = openGate({ servers: { ...servers, hr: { labels: ['private'] } } });
    const reasonsOf = async (...received: string[]) =>
      (await judge(gate, 'mail/send', runOf(gate, ...received))).reasons;
    const [named] = await reasonsOf();
    expect(named).toContain('its name says "send"');
    expect(await reasonsOf('crm')).toEqual([named, 'private data from crm']);
    expect(await reasonsOf('crm', 'hr')).toEqual([named, 'private data from crm', 'private data from hr']);
  });

  test('asks before what a stranger may have put in destroys or leaves', async () => {
    const gate = openGate({ servers, preset: 'open' });
    expect((await judge(gate, 'files/delete_all', runOf(gate))).decision).toBe('allow');
    expect(await judge(gate, 'files/delete_all', runOf(gate, 'web'))).toMatchObject({
      decision: 'ask',
      reason: expect.stringMatching(/text from web, .* may be destructive \(its name says "delete"\)$/),
    });
    expect(await judge(gate, 'mail/draft', runOf(gate, 'web'))).toMatchObject({ decision: 'ask' });
    expect((await judge(gate, 'files/read', runOf(gate, 'web'))).decision).toBe('allow');
  });

  test('an allow rule overrides it only if it says so, and it never overrides a deny rule', async () => {
    const decisionOf = async (rule: Parameters<typeof ruleOf>[0]) => {
      const gate = openGate({ servers, rules: [ruleOf(rule)] });
      return (await judge(gate, 'mail/draft', runOf(gate, 'crm'))).decision;
    };
    expect(await decisionOf({ tools: ['mail/*'], decision: 'allow' })).toBe('ask');
    expect(await decisionOf({ tools: ['mail/*'], decision: 'allow', flow: 'allow' })).toBe('allow');
    expect(await decisionOf({ tools: ['mail/*'], decision: 'deny' })).toBe('deny');
  });

  test('gives its reason beside that of a rule that asks anyway', async () => {
    const gate = openGate({ servers, rules: [ruleOf({ decision: 'ask', reason: 'always' })] });
    expect((await judge(gate, 'mail/draft', runOf(gate, 'crm'))).reason).toMatch(
      /^always; the run has read private data/,
    );
  });

  test('remembers through JSON, and refuses to remember nothing', async () => {
    const gate = openGate({ servers });
    const run = runOf(gate, 'crm', 'web', 'mail', 'other');
    run.spent = 5;
    const json = JSON.parse(JSON.stringify(run)) as JsonValue;
    expect(json).toEqual({ received: { crm: ['private'], web: ['untrusted'] }, spent: 5 });
    expect(RunLedger.fromJSON(json)).toEqual(run);
    expect((await judge(gate, 'mail/draft', RunLedger.fromJSON(json))).decision).toBe('ask');
    for (const wrong of [null, {}, [], { received: {} }, { received: [], spent: 0 }, { received: {}, spent: -1 }])
      expect(() => RunLedger.fromJSON(wrong as JsonValue)).toThrow();
    for (const wrong of [{ a: 'private' }, { a: ['secret'] }]) expect(() => ReceivedData.fromJSON(wrong)).toThrow();
  });
});

describe('budgets', () => {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-spending-'));
  let database: Database;
  beforeAll(async () => {
    database = await Database.open(folder);
  });
  afterAll(() => {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const gateOf = (day: string, more: GateOptions) =>
    openGate({
      prices: { 'ai/cheap': 0.1, 'ai/*': 2 },
      store: new SqliteSpendingStore(database),
      now: () => new Date(`${day}T23:59:59Z`),
      ...more,
    });

  test('of a run make the call that goes over them ask, with the amounts [B15]', async () => {
    const gate = gateOf('2030-01-01', { budget: { run: 0.3 } });
    const run = new RunLedger();
    const judged = await Promise.all([1, 2, 3].map(() => judge(gate, 'ai/cheap', run)));
    expect(judged.map(({ decision }) => decision)).toEqual(['allow', 'allow', 'allow']);
    expect(await judge(gate, 'ai/cheap', run)).toMatchObject({
      decision: 'ask',
      reason: 'it costs 0.1, this run has spent 0.3, and the budget of a run is 0.3',
    });
    expect((await judge(gate, 'ai/cheap', new RunLedger())).decision).toBe('allow');
    expect((await judge(gate, 'free/tool', run)).decision).toBe('allow');
  });

  test('of a day are shared by all hosts of a state folder, and start again at midnight UTC [B15]', async () => {
    const other = await Database.open(folder);
    const gates = [database, other].map((each) =>
      gateOf('2030-01-02', { budget: { day: 5 }, store: new SqliteSpendingStore(each) }),
    ) as [PolicyGate, PolicyGate];
    expect((await judge(gates[0], 'ai/dear', new RunLedger())).decision).toBe('allow');
    expect((await judge(gates[1], 'ai/dear', new RunLedger())).decision).toBe('allow');
    for (const gate of gates)
      expect(await judge(gate, 'ai/dear', new RunLedger())).toMatchObject({
        decision: 'ask',
        reason: 'it costs 2, today (UTC) has cost 4, and the budget of a day is 5',
      });
    expect((await judge(gateOf('2030-01-03', { budget: { day: 5 } }), 'ai/dear', new RunLedger())).decision).toBe(
      'allow',
    );
    other.close();
  });

  test('get back what was paid for a call that was not made, once', async () => {
    const gate = gateOf('2030-01-04', { budget: { run: 2, day: 2 } });
    const run = new RunLedger();
    const first = await judge(gate, 'ai/dear', run);
    if (first.decision !== 'allow') throw new Error(first.reason);
    expect((await judge(gate, 'ai/dear', run)).decision).toBe('ask');
    await first.bill.giveBack();
    await first.bill.giveBack();
    expect(run.spent).toBe(0);
    expect((await judge(gate, 'ai/dear', run)).decision).toBe('allow');
    expect((await judge(gate, 'ai/dear', run)).decision).toBe('ask');
  });

  test('that cannot be looked up deny', async () => {
    const closed = await Database.open(folder);
    const store = new SqliteSpendingStore(closed);
    closed.close();
    expect((await judge(gateOf('2030-01-05', { store }), 'ai/dear', new RunLedger())).decision).toBe('deny');
    expect((await judge(openGate({ prices: { '*': 1 } }), 'ai/dear', new RunLedger())).decision).toBe('deny');
  });
});
