import { expect, test } from 'vitest';
import { startCodemode } from '../../support/codemode-client.js';
import { fixture } from '../../support/upstreams.js';

test('a tool that answers with a task is followed to its end, and the trace names the task [B23]', async () => {
  const jobs = { command: process.execPath, args: [fixture('awkward-server.mjs'), 'tasks'] };
  await using codemode = await startCodemode({ servers: { jobs } });
  const { result, toolTrace } = await codemode.run(
    `import { job } from '@codemode/servers/jobs'; globalThis.__codemode_result__ = await job({});`,
  );
  expect(result).toBe('the job is done');
  expect(toolTrace).toMatchObject([{ toolName: 'job', ok: true, taskId: 'task-1' }]);
});
