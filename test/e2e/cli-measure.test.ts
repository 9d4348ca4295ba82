import { describe, expect, test } from 'vitest';
import { Home } from '../support/cli.js';
import { needs } from '../support/needs.js';
import { fixture } from '../support/upstreams.js';

interface Measured {
  readonly verdict: { readonly isWorthIt: boolean; readonly reason: string };
  readonly tokens: Record<'tools' | 'definitions' | 'catalog' | 'perServer' | 'perTool', number> & { encoding: string };
  readonly search: { tasks: number; top1: number; top10: number; missed: { missing: string[] }[] } | null;
  readonly drift: { changes: number; detection: { p50: number; p95: number } } | null;
  readonly overhead: Record<'run' | 'call' | 'broker', { p50: number; p95: number }> | null;
  readonly notes: readonly string[];
}

const server = (name: string) => ({ command: process.execPath, args: [fixture(name)] });

describe('measure', () => {
  test(
    'counts tokens of the user’s own servers, tries search on tasks, and times real changes and runs [B14, B25]',
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
      expect(tokens).toMatchObject({ encoding: 'o200k_base' });
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

  test('says that code mode is not worth it for a few small tools, and what it could not measure [B25]', async () => {
    using home = new Home();
    home.write('codemode.config.yaml', { mcpServers: { noting: server('noting-server.mjs') } });
    const { stdout, status } = await home.run(['measure']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Code mode is not worth it here: \d tools with [\d,]+ tokens of definitions are below/);
    expect(stdout).toContain('(a) all definitions up front');
    expect(stdout).toContain('search was not measured: name a file with tasks');
  });

  test('names the line of a task file that is no task, and starts no server for it', async () => {
    using home = new Home();
    home.write('tasks.jsonl', '{"query": "x", "expected": "y"}\n{"query": 1}\n');
    const { stderr, status } = await home.run(['measure', '--tasks', 'tasks.jsonl']);
    expect(status).toBe(2);
    expect(stderr).toBe(
      'codemode: line 2 of the task file is no task; give a line for each: {"query": "find open issues", "expected": "github/list_issues"}\n',
    );
  });
});
