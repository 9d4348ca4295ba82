// @ts-check
// A small program that needs an approval: suspended to bytes, and resumed in the same or another process.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMain } from '../../scripts/repository.mjs';
import { mustBe, openSandbox, programOf } from '../product.mjs';
import { collect, scaled } from '../stats.mjs';

const KILOBYTE = 1_024;
const SOURCE = `import { ask } from '@codemode/servers/bench';
const rows = Array.from({ length: 50 }, (_, i) => ({ i, text: 'row ' + i }));
const answer = await ask({ question: 'send it?' });
globalThis.__codemode_result__ = [answer, rows.length];`;
const ANSWER = { ok: true, json: '"yes"' };
const NEVER = { onCall: () => new Promise(() => {}) };
const CALLER = 'bench';

export async function measure({ quick }) {
  const sandbox = await openSandbox();
  try {
    await collect(10, () => suspendAndResume(sandbox, []));
    const suspendMs = [];
    const resumed = await collect(scaled(100, quick), () => suspendAndResume(sandbox, suspendMs));
    const suspended = await collect(suspendMs.length, async () => suspendMs.pop() ?? 0);
    const { sealed } = await suspend(sandbox);
    const elsewhere = await collect(scaled(5, quick), () => resumeElsewhere(sandbox));
    return [
      { name: 'suspended run on disk', unit: 'KB', value: sealed.length / KILOBYTE, goal: { atMost: 50 } },
      { name: 'suspend', unit: 'ms', p50: suspended.p50, p95: suspended.p95 },
      { name: 'resume, until it has its result', unit: 'ms', p50: resumed.p50, p95: resumed.p95, goal: { p50: 30 } },
      {
        name: 'resume in another process that has just started',
        unit: 'ms',
        p50: elsewhere.p50,
        p95: elsewhere.p95,
        note: 'in a sandbox that is warm; its host has never run anything before',
      },
    ];
  } finally {
    await sandbox.close();
  }
}

async function suspendAndResume(sandbox, suspendMs) {
  const suspended = await suspend(sandbox, (ms) => suspendMs.push(ms));
  return resume(sandbox, suspended);
}

async function suspend(sandbox, onSuspended = (_ms) => {}) {
  const program = await programOf(SOURCE, { calls: ['ask'] });
  const { run } = await sandbox.start({ caller: CALLER, program }, NEVER);
  while (!(run.isWaiting && run.openCalls.length === 1)) await new Promise((done) => setImmediate(done));
  const start = performance.now();
  const suspended = await sandbox.suspend(run);
  onSuspended(performance.now() - start);
  return suspended;
}

/** Milliseconds from the bytes to the program's value. */
async function resume(sandbox, suspended) {
  const start = performance.now();
  const { run, report } = await sandbox.resume(suspended, CALLER, NEVER);
  run.answer(1, ANSWER);
  const { outcome } = await report;
  const elapsed = performance.now() - start;
  mustBe(outcome, { status: 'completed', resultJson: '["yes",50]' });
  return elapsed;
}

async function resumeElsewhere(sandbox) {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-bench-'));
  try {
    const { sealed, ...rest } = await suspend(sandbox);
    const file = join(folder, 'suspended.json');
    writeFileSync(file, JSON.stringify({ ...rest, sealed: sealed.toString('base64') }));
    return Number(execFileSync(process.execPath, [fileURLToPath(import.meta.url), file], { encoding: 'utf8' }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// The other process: resumes the run in the file, and prints how long that took.
if (isMain(import.meta.url)) {
  const sandbox = await openSandbox();
  const stored = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
  console.log(await resume(sandbox, { ...stored, sealed: Buffer.from(stored.sealed, 'base64') }));
  await sandbox.close();
}
