import { describe, expect, test } from 'vitest';
import { Home } from '../../support/cli.js';
import { needs } from '../../support/needs.js';
import { fixture } from '../../support/upstreams.js';

interface Measured {
  readonly verdict: {
    readonly isWorthIt: boolean;
    readonly reason: string;
  };
  readonly runtimes: readonly { readonly runtime: string; readonly run: { readonly p50: number } }[];
  readonly tokens: Record<'tools' | 'definitions' | 'catalog' | 'perServer' | 'perTool', number> & { encoding: string };
  readonly search: { tasks: number; top1: number; top10: number; missed: { missing: string[] }[] } | null;
  readonly drift: { changes: number; detection: { p50: number; p95: number } } | null;
  readonly overhead:
    | (Record<'run' | 'call' | 'broker', { p50: number; p95: number }> & { runtime: string; runs: number })
    | null;
  readonly notes: readonly string[];
}

const server = (name: string) => ({ command: process.execPath, args: [fixture(name)] });

describe('measure', () => {
  test(
    'counts tokens of the user’s servers, tries search on tasks, times real starts and runs [B14, B25]',
    needs('bubblewrap'),
    async () => {
      using home = new Home();
      home.write('codemode.config.yaml', { mcpServers: { everyday: server('everyday-server.mjs') } });
      home.write(
        'tasks.jsonl',
        '{"query": "echo a text back", "expected": "everyday/echo"}\n\n{"query": "fly to the moon", "expected": ["echo", "rocket"]}\n',
      );
      const { tokens, search, drift, overhead, notes } = await home.json<Measured>([
        'measure',
        '--tasks',
        'tasks.jsonl',
        '--json',
      ]);
      expect(tokens).toMatchObject({ encoding: 'o200k_base, estimated' });
      expect(tokens.tools).toBeGreaterThan(3);
      expect(tokens.definitions).toBeGreaterThan(tokens.perTool * (tokens.tools - 1));
      expect(tokens.catalog).toBeGreaterThan(0);
      expect(tokens.perServer).toBeGreaterThan(0);
      expect(search).toMatchObject({ tasks: 2, top1: 0.5, top10: 0.5 });
      expect(search?.missed.flatMap(({ missing }) => missing)).toContain('rocket');
      expect(drift?.changes).toBe(10);
      for (const times of [drift?.detection, overhead?.run, overhead?.call, overhead?.broker]) {
        expect(times?.p50).toBeGreaterThanOrEqual(0);
        expect(times?.p95).toBeGreaterThanOrEqual(times?.p50 as number);
      }
      // The broker's own step is a part of a call, whatever else the machine does.
      expect(overhead?.broker.p50).toBeGreaterThan(0);
      expect(notes).toEqual([]);
    },
  );

  test(
    "times a run and a call on the runner's real interpreter and counts what that profile sends [B25]",
    needs('bubblewrap', 'python3'),
    async () => {
      using home = new Home();
      home.write('codemode.config.yaml', { mcpServers: { everyday: server('everyday-server.mjs') } });
      const { overhead, runtimes, tokens } = await home.json<Measured>(['measure', '--profile', 'runner', '--json']);
      expect(overhead).toMatchObject({ runtime: 'node', runs: 10 });
      // A process of its own each time: no QuickJS engine takes this long.
      expect(overhead?.run.p50).toBeGreaterThan(5);
      expect(overhead?.broker.p50).toBeGreaterThan(0);
      expect(overhead?.call.p50).toBeGreaterThanOrEqual(overhead?.broker.p50 ?? Number.NaN);
      expect(runtimes.map(({ runtime }) => runtime)).toEqual(['node', 'python']);
      for (const { run } of runtimes) expect(run.p50).toBeGreaterThan(0);
      const { tools } = await home.json<{ tools: object[] }>(['prompt', '--profile', 'runner', '--json']);
      expect(tools.length).toBeGreaterThan(1);
      const { stdout } = await home.run(['prompt', '--profile', 'runner']);
      // Instructions and descriptions are in the prompt, schemas come on top.
      expect(tokens.catalog).toBeGreaterThan(stdout.length / 6);
    },
  );

  test('says that code mode is not worth it for a few small tools, and what it could not measure [B25]', async () => {
    using home = new Home();
    home.write('codemode.config.yaml', { mcpServers: { noting: server('noting-server.mjs') } });
    const { stdout, status } = await home.run(['measure']);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^Code mode is not worth it here: you have \d tools with [\d,]+ tokens of definitions, fewer than 10 tools/,
    );
    expect(stdout).toContain('(a) all definitions up front');
    expect(stdout).toContain('search was not measured: name a file with tasks');
  });

  /** A server of 80 tools whose declarations cost about as much as their definitions. */
  const manyTools = (description: string) => ({
    tools: Array.from({ length: 80 }, (_, index) => ({
      name: `tool_number_${index}`,
      description: `${description} ${index}.`,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(
          ['alpha', 'beta', 'gamma', 'delta', 'epsilon'].map((name) => [
            `${name}_${index}`,
            { type: 'string', description: `The ${name} of thing ${index}, as the user wrote it.` },
          ]),
        ),
      },
    })),
  });

  test('names the setting that is worth it where the one in force saves nothing', async () => {
    using home = new Home();
    home.write('tools.json', manyTools('Does the thing'));
    const scripted = { command: process.execPath, args: [fixture('scripted-server.mjs'), home.path('tools.json')] };
    home.write('codemode.config.json', { mcpServers: { many: scripted }, prompt: { tokenBudget: 100_000 } });
    const { stdout } = await home.run(['measure']);
    const told =
      /^Code mode is worth it here: with prompt\.tokenBudget: (\d+) \(\w+\) an agent reads \d+ tokens instead of/;
    expect(stdout).toMatch(told);
    const budget = Number(told.exec(stdout)?.[1]);
    // What the two numbers of a line are.
    expect(stdout).toMatch(/ {4}with prompt\.tokenBudget: \d+ +[\d,]+ tokens \(\w+\)\n/);
    expect(stdout).toContain(
      'prompt.tokenBudget is how much the list of servers and tools may take. The tokens beside it are all',
    );
    // The setting does what it promises.
    home.write('codemode.config.json', { mcpServers: { many: scripted }, prompt: { tokenBudget: budget } });
    const after = await home.json<Measured>(['measure', '--json']);
    expect(after.verdict).toEqual({ isWorthIt: true, reason: expect.stringContaining('% less') });
    expect(after.tokens.catalog).toBeLessThan(0.75 * after.tokens.definitions);
  });

  test('names the line of a task file that is not a task, and starts no server for it', async () => {
    using home = new Home();
    home.write('tasks.jsonl', '{"query": "x", "expected": "y"}\n{"query": 1}\n');
    const { stderr, status } = await home.run(['measure', '--tasks', 'tasks.jsonl']);
    expect(status).toBe(2);
    expect(stderr).toBe(
      'codemode: line 2 of the task file is not a task; give a line for each: {"query": "find open issues", "expected": "github/list_issues"}\n',
    );
  });
});
