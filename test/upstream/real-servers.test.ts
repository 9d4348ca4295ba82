import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { QUESTION_KINDS, type Respondent } from '../../src/domain/question.js';
import { createRegistry, definition, packageProgram, stdio, textOf } from '../support/upstreams.js';

test.concurrent('the reference server "everything" is listed, called, and gets answers to its questions', async () => {
  const asked: string[] = [];
  const respondent: Respondent = {
    key: 'client',
    caller: 'caller',
    capabilities: { sampling: {}, elicitation: {}, roots: {} },
    answer: async ({ upstream, kind, params }) => {
      if (kind === 'roots') return { roots: [{ uri: 'file:///work', name: 'work' }] };
      asked.push(kind === 'sampling' ? `sample for ${upstream}` : `elicit: ${String(params.message)}`);
      if (kind === 'elicitation') return { action: 'accept', content: { name: 'Ada' } };
      return { role: 'assistant', content: { type: 'text', text: 'sampled' }, model: 'none' };
    },
  };
  const audience = { announced: () => QUESTION_KINDS, onlyClient: () => respondent };
  await using registry = createRegistry({ audience });
  const adapter = registry.register(definition('everything', stdio(packageProgram('server-everything'), ['stdio'])));
  const { tools, warnings } = await adapter.listTools();
  expect(warnings).toEqual([]);
  expect(tools.length).toBeGreaterThan(10);
  const call = async (tool: string, args = {}) => adapter.call({ tool, arguments: args, respondent });
  expect(textOf(await call('echo', { message: 'hello' }))).toBe('Echo: hello');
  expect(await call('get-structured-content', { location: 'Chicago' })).toMatchObject({
    reply: { structuredContent: { temperature: 36 } },
  });
  expect(await call('get-tiny-image')).toMatchObject({
    reply: { content: [{ type: 'text' }, { type: 'image' }, { type: 'text' }] },
  });
  expect(textOf(await call('trigger-sampling-request', { prompt: 'p' }))).toContain('sampled');
  expect(JSON.stringify(await call('trigger-elicitation-request'))).toContain('Ada');
  expect(JSON.stringify(await call('get-roots-list'))).toContain('file:///work');
  expect(asked).toEqual(['sample for everything', expect.stringContaining('elicit: ')]);
  const reports: number[] = [];
  await adapter.call({
    tool: 'trigger-long-running-operation',
    arguments: { duration: 0.2, steps: 2 },
    onProgress: ({ progress }) => reports.push(progress),
  });
  expect(reports).toEqual([1, 2]);
}, 20_000);

test.concurrent('a task of the reference server "everything" is polled to its end', async () => {
  await using registry = createRegistry();
  const adapter = registry.register(definition('everything', stdio(packageProgram('server-everything'), ['stdio'])));
  await adapter.listTools();
  const outcome = await adapter.call({ tool: 'simulate-research-query', arguments: { topic: 'tides' } });
  expect(outcome).toMatchObject({ status: 'answered', reply: { isError: false, taskId: expect.any(String) } });
  expect(textOf(outcome)).toContain('tides');
}, 20_000);

test.concurrent('the reference servers for files, memory and thinking work', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'codemode-files-'));
  try {
    await writeFile(join(folder, 'note.txt'), 'remember the milk');
    await using registry = createRegistry();
    const files = registry.register(definition('files', stdio(packageProgram('server-filesystem'), [folder])));
    const memory = registry.register(
      definition(
        'memory',
        stdio(packageProgram('server-memory'), [], { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }),
      ),
    );
    const thinking = registry.register(definition('thinking', stdio(packageProgram('server-sequential-thinking'))));
    const listed = await registry.listAll();
    expect(listed.map(({ id, problem, listing }) => [id, problem, listing?.warnings])).toEqual([
      ['files', undefined, []],
      ['memory', undefined, []],
      ['thinking', undefined, []],
    ]);
    expect(textOf(await files.call({ tool: 'read_text_file', arguments: { path: join(folder, 'note.txt') } }))).toBe(
      'remember the milk',
    );
    expect(await files.call({ tool: 'read_text_file', arguments: { path: '/etc/passwd' } })).toMatchObject({
      reply: { isError: true },
    });
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }];
    await memory.call({ tool: 'create_entities', arguments: { entities } });
    expect(await memory.call({ tool: 'search_nodes', arguments: { query: 'Ada' } })).toMatchObject({
      reply: { structuredContent: { entities: [{ name: 'Ada' }] } },
    });
    const thought = { thought: 'first', thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: true };
    expect(await thinking.call({ tool: 'sequentialthinking', arguments: thought })).toMatchObject({
      reply: { isError: false },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}, 20_000);
