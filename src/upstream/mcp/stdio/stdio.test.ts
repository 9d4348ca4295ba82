import { expect, test } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { NotSentError } from '../failures.js';
import { ReadBudget } from '../read-budget.js';
import { notMcp } from './not-mcp.js';
import { StdioTransport } from './stdio.js';
import { ChildGroups } from './stdio-groups.js';

const MESSAGE = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;

/** Starts a shell script as a server; resolves at its first line on stdout. */
async function atFirstLine(script: string): Promise<{ transport: StdioTransport; order: string[] }> {
  const order: string[] = [];
  const line = deferred<void>();
  const transport = new StdioTransport({
    target: { kind: 'stdio', command: '/bin/sh', arguments: ['-c', script], environment: {} },
    baseEnvironment: { PATH: process.env.PATH ?? '' },
    maxMessageBytes: 10_000,
    budget: new ReadBudget(10_000, () => {}),
    groups: new ChildGroups(),
    onNoise: () => line.resolve(),
  });
  transport.onclose = () => order.push('closed');
  await transport.start();
  await line.promise;
  return { transport, order };
}

test('a message that a dying process does not take counts as unsent, with the exit reason known', async () => {
  const { transport, order } = await atFirstLine('exec 0<&-; echo deaf; sleep 0.2; echo no licence >&2; exit 3');
  const refused = await transport.send(MESSAGE).catch((error: unknown) => {
    order.push('not sent');
    return error;
  });
  expect(refused).toBeInstanceOf(NotSentError);
  expect(transport.diagnosis()).toBe(`the process ended with exit code 3; ${notMcp('deaf')}; stderr:\nno licence`);
  await transport.close();
  expect(order).toEqual(['not sent', 'closed']);
});

test('a process that closes its input and lives on is not waited for', async () => {
  const { transport } = await atFirstLine('exec 0<&-; echo deaf; sleep 60');
  await expect(transport.send(MESSAGE)).rejects.toThrow('the process does not read its input any more');
  expect(transport.diagnosis()).toBe(notMcp('deaf'));
  await transport.close();
});
