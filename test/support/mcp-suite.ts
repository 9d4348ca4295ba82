import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestOptions } from 'vitest';
import { parse } from 'yaml';
import { findSuite, type Suite } from '../mcp-suite/install.mjs';
import { skipped } from './needs.js';

/** The public MCP conformance suite, run as it is: its own process, its own verdicts, our list of what it may find. */

/** `released` is what the suite's users run today; `next` knows the 2026-07-28 era and checks every message's schema. */
export type Release = 'released' | 'next';

export interface SuiteRun {
  /** As in expected-failures.yaml. */
  readonly name: string;
  readonly release: Release;
  readonly role: 'server' | 'client';
  /** The arguments of the suite's program. */
  readonly arguments: readonly string[];
  /** The scenarios that count, of those that the suite then runs; all of them, unless given. */
  readonly scenarios?: readonly string[];
}

export interface Verdict {
  /** `scenario:check` and the reason, for every failure that nobody expected. */
  readonly unexpected: string[];
  /** Expected failures that did not happen: they must leave the list. */
  readonly passingNow: string[];
  /** Scenarios without any failed check. */
  readonly passed: string[];
}

/** Options for tests that need the suite. */
export function needsSuite(): TestOptions {
  const suite = findSuite();
  return suite.isThere ? {} : skipped(suite.reason);
}

/** Runs scenarios and compares their checks with the expected failures of this run. */
export async function runSuite(run: SuiteRun): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-suite-results-'));
  try {
    const output = await execute(run, folder);
    const results = readResults(folder, run.role);
    const wanted = run.scenarios ?? [...results.keys()];
    const missing = wanted.filter((scenario) => !results.has(scenario));
    if (wanted.length === 0 || missing.length > 0)
      throw new Error(
        `the suite did not run ${missing.join(', ') || 'anything'}: ${output.slice(-MAX_SHOWN_CHARACTERS)}`,
      );
    const failures = new Map(wanted.map((scenario) => [scenario, results.get(scenario) ?? []]));
    return judge(failures, expectedFailures(run.name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A program of the suite's packages, under the Node that they need. */
export function suiteProgram(path: string, programArguments: readonly string[]): { command: string; args: string[] } {
  const { node, packages } = presentSuite();
  return { command: node, args: [join(packages, path), ...programArguments] };
}

interface SuiteCheck {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

interface ExpectedFailure {
  /** A scenario, or `scenario:check`. */
  readonly what: string;
}

const PROGRAMS: Record<Release, string> = {
  released: '@modelcontextprotocol/conformance/dist/index.js',
  next: 'conformance-next/dist/index.js',
};
const EXPECTED_FAILURES = fileURLToPath(new URL('../mcp-suite/expected-failures.yaml', import.meta.url));
const MAX_OUTPUT_CHARACTERS = 1_000_000;
const MAX_SHOWN_CHARACTERS = 2_000;

function presentSuite(): Suite {
  const suite = findSuite();
  if (!suite.isThere) throw new Error(suite.reason);
  return suite;
}

async function execute(run: SuiteRun, resultFolder: string): Promise<string> {
  const programArguments = [run.role, ...run.arguments, '--output-dir', resultFolder];
  const { command, args } = suiteProgram(PROGRAMS[run.release], programArguments);
  // It runs whole groups or single scenarios, and a process for each costs a start: our client leaves out the others.
  const scenarios = run.scenarios === undefined ? {} : { CODEMODE_SUITE_SCENARIOS: run.scenarios.join() };
  const env = { ...process.env, ...scenarios };
  const child: ChildProcess = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (bytes: Buffer) => {
      output = (output + bytes.toString()).slice(-MAX_OUTPUT_CHARACTERS);
    });
  }
  // Its exit status is its opinion without our list.
  await once(child, 'close');
  return output;
}

/** Failed checks by scenario. A folder without results is a scenario that did not come to its end. */
function readResults(folder: string, role: SuiteRun['role']): Map<string, readonly SuiteCheck[]> {
  const results = new Map<string, readonly SuiteCheck[]>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const stamped = relative(folder, path).match(/^(?<scenario>.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/)?.groups?.scenario;
    if (!entry.isDirectory() || stamped === undefined) continue;
    const scenario = role === 'server' ? stamped.replace(/^server-/, '') : stamped;
    const file = join(path, 'checks.json');
    const checks = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SuiteCheck[]) : [];
    results.set(scenario, failuresOf(checks, clientError(path)));
  }
  return results;
}

/**
 * Warnings are about what a server or client may do, and some of them about how fast this machine is: they count for
 * nothing. But a scenario that looked at nothing has not been passed, though the suite says so.
 */
function failuresOf(checks: readonly SuiteCheck[], clientSaid: string): readonly SuiteCheck[] {
  const isChecked = checks.some(({ status }) => status === 'SUCCESS' || status === 'FAILURE');
  const nothing: SuiteCheck = {
    id: 'nothing-checked',
    status: 'FAILURE',
    errorMessage: 'the scenario came to no check',
  };
  return (isChecked ? checks.filter(({ status }) => status === 'FAILURE') : [nothing]).map((check) => ({
    ...check,
    errorMessage: `${check.errorMessage ?? ''} ${clientSaid}`.trim(),
  }));
}

/** What our client had to say, where the suite tested one. */
function clientError(resultFolder: string): string {
  const file = join(resultFolder, 'stderr.txt');
  const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  return text === '' ? '' : `(${text.slice(-MAX_SHOWN_CHARACTERS)})`;
}

function judge(failures: Map<string, readonly SuiteCheck[]>, expected: readonly ExpectedFailure[]): Verdict {
  const list = [...failures].flatMap(([scenario, failed]) => failed.map((check) => ({ scenario, check })));
  const isAbout = ({ what }: ExpectedFailure, scenario: string, check: string): boolean =>
    what === scenario || what === `${scenario}:${check}`;
  const unexpected = list
    .filter(({ scenario, check }) => !expected.some((failure) => isAbout(failure, scenario, check.id)))
    .map(({ scenario, check }) => `${scenario}:${check.id} ${check.errorMessage ?? ''}`);
  const passingNow = expected
    .filter(({ what }) => failures.has(what.replace(/:.*/s, '')))
    .filter((failure) => !list.some(({ scenario, check }) => isAbout(failure, scenario, check.id)))
    .map(({ what }) => what);
  const passed = [...failures].filter(([, failed]) => failed.length === 0).map(([scenario]) => scenario);
  return { unexpected, passingNow, passed };
}

function expectedFailures(run: string): ExpectedFailure[] {
  const groups = parse(readFileSync(EXPECTED_FAILURES, 'utf8')) as {
    readonly reason: string;
    readonly runs: readonly string[];
    readonly failures: readonly string[];
  }[];
  return groups.flatMap(({ reason, runs, failures }) => {
    if (reason.trim() === '') throw new Error(`expected-failures.yaml: ${failures.join(', ')}: no reason is given`);
    return runs.includes(run) ? failures.map((what) => ({ what })) : [];
  });
}
