import { isHostError } from '../../domain/errors.js';
import { DEFAULT_LIMITS } from '../../domain/limits.js';
import { DOCTOR_CALLER } from '../../domain/own-callers.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { Host } from '../host.js';
import { isEnded, type Presentation } from '../runs/run-types.js';

/** One finding. `missing` means that programs cannot run until it is fixed. */
export interface Finding {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'missing';
  readonly message: string;
  /** The command to type. */
  readonly fix?: string;
}

const OLDEST_NODE = [20, 19] as const;

/** Inspects the machine the way a run would use it. */
export async function inspectMachine(): Promise<Finding[]> {
  return [nodeFinding(), ...(await jailFindings())];
}

function nodeFinding(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isNewEnough = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  const message = `${process.version} on ${process.platform} ${process.arch}`;
  if (isNewEnough) return { name: 'Node', state: 'ok', message };
  return {
    name: 'Node',
    state: 'missing',
    message: `${message} is too old`,
    fix: `install Node ${OLDEST_NODE.join('.')} or newer`,
  };
}

/** The best level decides: a weaker one that also fails changes nothing. */
async function jailFindings(): Promise<Finding[]> {
  // Loaded on demand: every other command starts without it.
  const { inspectJail } = await import('../../sandbox/jail/probe.js');
  const { kernel, features, levels } = await inspectJail();
  const best = levels.find(({ works, level }) => works && level !== 'none');
  const findings: Finding[] = [
    {
      name: 'Kernel',
      state: 'ok',
      message: [kernel, ...features.map(({ name, value }) => `${name}: ${value}`)].join(', '),
    },
  ];
  for (const { level, works, description, gaps, reason, fix } of levels) {
    if (level === 'none') continue;
    const name = `Isolation "${level}"`;
    if (works)
      findings.push({
        name,
        state: gaps.length === 0 || level !== best?.level ? 'ok' : 'warning',
        message: [description, ...gaps].join('; '),
      });
    else {
      const state =
        best === undefined ? 'missing' : best.level === 'namespaces' && level === 'strict' ? 'warning' : 'ok';
      const message = `unavailable on this machine: ${reason ?? 'unknown reason'}`;
      findings.push(
        state === 'ok'
          ? { name, state, message: `not needed here, and ${message}` }
          : { name, state, message, ...omitUndefined({ fix }) },
      );
    }
  }
  return findings;
}

/** Runs a real program in a real jail. */
export async function inspectRun(open: () => Promise<Host>): Promise<Finding> {
  const name = 'A program in the sandbox';
  try {
    const host = await open();
    const session = host.openSession({
      caller: DOCTOR_CALLER,
      profile: 'inspection',
      presentation: PLAIN,
      codeMode: { enabled: false, excludedTools: [] },
      reservedNames: [],
      maxResultBytes: 1_000,
    });
    const answer = await session.run({
      source: 'globalThis.__codemode_result__ = 6 * 7;',
      language: 'typescript',
      limits: DEFAULT_LIMITS,
    });
    if (!isEnded(answer)) return { name, state: 'missing', message: 'did not end' };
    const { outcome, durationMs } = answer.summary;
    if (outcome.status === 'completed' && outcome.resultJson === '42') {
      const { level, description } = await host.open();
      return {
        name,
        state: 'ok',
        message: `ran in ${durationMs.toFixed(1)} ms, isolation ${level} (${description})`,
      };
    }
    const message = outcome.status === 'failed' ? outcome.failure.message : 'returned a wrong result';
    return { name, state: 'missing', message };
  } catch (error) {
    if (isHostError(error, 'jail_unavailable')) {
      // The other lines are what to type, as the findings about the levels say it too.
      return { name, state: 'missing', message: `not run: ${error.message.split('\n', 1)[0]}` };
    }
    return { name, state: 'missing', message: isHostError(error) ? error.message : 'could not be started' };
  }
}

/** The test program makes no calls. */
const PLAIN: Presentation = {
  reply: (outcome) => (outcome.ok ? { ok: true, json: 'null' } : { ok: false, error: outcome.error }),
  response: () => null,
  suspended: () => null,
};
