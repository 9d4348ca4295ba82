import { expect, test } from 'vitest';
import { openGate } from '../../../test/support/policy.js';

test.each([
  'execute_command',
  'run_command',
  'bash',
  'shell',
  'eval',
  'exec',
  'run_shell',
  'runBash',
  'shell_exec',
  'eval_js',
  'execute_code',
  'run_python',
  'terminal',
  'powershell',
  'system',
])('the default policy asks before %s, which runs what the caller writes', (name) => {
  const question = { tool: { serverId: 'a', name }, serverPath: 'a', caller: '', profile: '', arguments: {} };
  expect(openGate().policy.decide(question).decision).toBe('ask');
});
