import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { deferred } from '../../../src/lib/async/deferred.js';
import { openWorkFolder } from '../../support/command.js';
import { needs } from '../../support/needs.js';
import {
  AS_SHIPPED,
  type ClientOptions,
  type Era,
  everyday,
  openHome,
  openStdio,
  run,
  startServe,
  until,
} from '../../support/program.js';
import { hung, slow, timed } from '../../support/slow-server.js';

const ERAS: readonly Era[] = ['legacy', 'modern'];

interface Profile {
  readonly tool: string;
  /** A program that calls `hello` of the server `late`, whose tools are not known yet. */
  readonly code: string;
  /** What has to be granted for it. */
  readonly more?: object;
}

const PROFILES: Readonly<Record<string, Profile>> = {
  codemode: {
    tool: 'codemode.run',
    code: `import { hello } from '@codemode/servers/late'; globalThis.__codemode_result__ = await hello({ who: 'you' });`,
  },
  code_execution: { tool: 'code_execution', code: `call_tool('late', 'hello', { who: 'you' }).result` },
  unified: {
    tool: 'execute_code',
    code: `return await mcp.late.hello({ who: 'you' });`,
    more: { capabilities: ['mcp:late'] },
  },
  runner: {
    tool: 'run_node',
    code: `import { hello } from './servers/late/index.js'; globalThis.result = (await hello({ who: 'you' })).content[0].text;`,
  },
  go: { tool: 'execute_go_code', code: 'out, err := hello(ctx, HelloInput{Who: "you"})\nfmt.Println(out, err)' },
};

async function descriptionsOf(client: Client): Promise<string> {
  return (await client.listTools()).tools.map(({ description }) => description).join('\n');
}

async function callAs({ tool, code, more }: Profile, client: Client): Promise<CallToolResult> {
  for (;;) {
    const answer = (await client.callTool({ name: tool, arguments: { code, ...more } })) as CallToolResult;
    // The first program of a new Go on this machine: nothing of it has run then.
    if (!JSON.stringify(answer.structuredContent).includes('still being compiled')) return answer;
  }
}

describe.concurrent.each(ERAS)('in the %s era', (era) => {
  test('the first list over stdio waits for a server that is starting, and stderr names it', async () => {
    using home = openHome({ mcpServers: { fast: slow(), late: slow('--delay', '2500', '--tools', 'late_tool') } });
    await using program = await openStdio(home, era);
    expect(await descriptionsOf(program.client)).toContain('late_tool');
    expect(program.stderr()).toMatch(/waiting for (fast, )?late, \d of 2 servers ready/);
  });

  test('stderr says why a server failed, and what to do about it', async () => {
    using home = openHome({ mcpServers: { fast: slow(), missing: { command: 'no-such-command' } } });
    await using program = await openStdio(home, era);
    await descriptionsOf(program.client);
    await until(() => program.stderr().includes('warning: server "missing"'));
    expect(program.stderr()).toMatch(
      /server "missing": command not found: no-such-command; install it, or correct `command` of this server; what to do about it: codemode servers\n/,
    );
  });

  test('the first list over HTTP waits for a server that is starting', async () => {
    using home = openHome({ mcpServers: { late: slow('--delay', '2500', '--tools', 'late_tool') } });
    await using server = await startServe(home);
    await using connected = await server.connect(era);
    expect(await descriptionsOf(connected.client)).toContain('late_tool');
  });
});

test.concurrent('the first list has the tools that are excluded from code', async () => {
  using home = openHome({
    mcpServers: { late: slow('--delay', '2500', '--tools', 'late_tool') },
    defaults: { codeMode: { excludedTools: ['late_tool'] } },
  });
  await using program = await openStdio(home);
  expect((await program.client.listTools()).tools.map(({ name }) => name)).toContain('late_tool');
});

test.concurrent('the first list of profile go has the declarations', needs('go'), async () => {
  using home = openHome({ profile: 'go', mcpServers: { late: slow('--delay', '2500', '--tools', 'late_tool') } });
  await using program = await openStdio(home);
  expect(await descriptionsOf(program.client)).toContain('lateTool func(ctx context.Context');
});

describe.concurrent.each(Object.entries(PROFILES))('in profile %s', (name, profile) => {
  const need = name === 'go' ? { ...needs('bubblewrap', 'go'), timeout: 300_000 } : needs('bubblewrap');

  test('a server that is only starting is called that, and a run that names it waits for it', need, async () => {
    using home = openHome({
      profile: name,
      catalog: { firstListing: '300ms' },
      mcpServers: { late: slow('--delay', '4000') },
    });
    await using program = await openStdio(home);
    const told = `${program.client.getInstructions()}\n${await descriptionsOf(program.client)}`;
    expect(told).toMatch(/late[^\n]*starting|starting[^\n]*late|starting[^\n]*\n[^\n]*late/);
    expect(told).not.toMatch(/not available|is unavailable/i);
    // One line for all of them, not a module for each.
    expect(told).not.toContain('module "@codemode/servers/');
    expect(told).not.toMatch(/\n{4}/);
    const answer = await callAs(profile, program.client);
    expect(JSON.stringify(answer.structuredContent)).toContain('hello you');
  });

  test('our own tools stay as listed, and a late server is announced with an answer', need, async () => {
    using files = openWorkFolder();
    const sign = join(files.path, 'go-on');
    using home = openHome({
      profile: name,
      catalog: { firstListing: '4s' },
      mcpServers: {
        early: slow('--tools', 'early_tool'),
        late: slow('--until', sign, '--tools', ['late_tool', ...MORE_TOOLS].join()),
      },
      defaults: { codeMode: { excludedTools: ['grow'] } },
    });
    let changes = { tools: deferred<void>(), resources: deferred<void>() };
    const onChanged = (what: keyof typeof changes) => () => changes[what].resolve();
    const heard = { autoRefresh: false, debounceMs: 0 };
    const options: ClientOptions = {
      listChanged: {
        tools: { ...heard, onChanged: onChanged('tools') },
        resources: { ...heard, onChanged: onChanged('resources') },
      },
    };
    await using program = await openStdio(home, 'legacy', options);
    const { client } = program;
    const own = async () => (await client.listTools()).tools.filter(({ name: each }) => each === profile.tool);
    const before = await own();
    changes = { tools: deferred(), resources: deferred() };
    writeFileSync(sign, '');
    await Promise.all([changes.tools.promise, changes.resources.promise]);
    const { tools } = await client.listTools();
    expect(tools.map((each) => each.name)).toEqual(expect.arrayContaining(['early__grow', 'late__grow']));
    expect(await own()).toEqual(before);
    const nothing = name === 'go' ? 'fmt.Println(1)' : name === 'unified' ? 'return 1' : '1';
    const answers = [
      await callAs({ ...profile, code: nothing }, client),
      await callAs({ ...profile, code: nothing }, client),
    ];
    const said = answers.map((answer) => JSON.stringify(answer));
    expect(said[0]).toMatch(/late_tool|lateTool/);
    expect(said[0]).not.toContain('early_tool');
    // A server of many tools is told by the names of some.
    expect(said[0]?.length).toBeLessThan(3_500);
    expect(said[1]).not.toMatch(/late_tool|lateTool/);
  });
});

test.concurrent('servers that come late together are announced in 800 tokens', async () => {
  using files = openWorkFolder();
  const sign = join(files.path, 'go-on');
  const names = ['first', 'second', 'third'];
  const tools = Array.from({ length: 10 }, (_, index) => `tool_that_comes_late_as_number_${index}`);
  using home = openHome({
    ...AS_SHIPPED,
    catalog: { firstListing: '2s' },
    mcpServers: Object.fromEntries(names.map((name) => [name, slow('--until', sign, '--tools', tools.join())])),
    defaults: { codeMode: { excludedTools: ['grow'] } },
  });
  await using program = await openStdio(home);
  await program.client.listTools();
  writeFileSync(sign, '');
  await until(async () => {
    const listed = (await program.client.listTools()).tools.map(({ name }) => name);
    return names.every((name) => listed.includes(`${name}__grow`));
  });
  const { structuredContent } = await program.client.callTool({ name: 'codemode_run', arguments: { code: '1' } });
  const news = (structuredContent as { diagnostics: { path?: string }[] }).diagnostics;
  expect(news.map(({ path }) => path).sort()).toEqual(names.map((name) => `@codemode/servers/${name}`).sort());
  expect(countTokens(JSON.stringify(news))).toBeLessThanOrEqual(800);
});

const MORE_TOOLS = Array.from({ length: 60 }, (_, index) => `tool_that_comes_late_as_number_${index}`);

test.concurrent('a session over HTTP keeps its tool as it was listed, and the next session sees what is new', async () => {
  using home = openHome({
    catalog: { firstListing: '300ms' },
    mcpServers: { late: slow('--delay', '3000', '--tools', 'late_tool') },
  });
  await using server = await startServe(home);
  await using first = await server.connect();
  const before = (await first.client.listTools()).tools;
  await run(first.client, `import { late_tool } from '@codemode/servers/late'; await late_tool();`);
  expect((await first.client.listTools()).tools).toEqual(before);
  await using second = await server.connect();
  expect(await descriptionsOf(second.client)).toContain('late_tool');
});

// These are timed, and so run alone.

test('the first list is answered at once when every server has answered or failed', async () => {
  using home = openHome({
    catalog: { firstListing: '40s' },
    mcpServers: { fast: slow(), broken: slow('--crash', '3') },
  });
  await using program = await openStdio(home);
  const { value, ms } = await timed(descriptionsOf(program.client));
  expect(value).toMatch(/fast \(2\).*/s);
  expect(value).toContain('broken (0, not available now)');
  expect(ms).toBeLessThan(20_000);
});

test('a hanging server delays the first list as long as the setting says, and no later list', async () => {
  using home = openHome({ catalog: { firstListing: '2s' }, mcpServers: { fast: slow(), stuck: hung() } });
  await using program = await openStdio(home);
  const first = await timed(descriptionsOf(program.client));
  expect(first.ms).toBeGreaterThan(1_500);
  expect(first.value).toContain('- starting (import it, the run waits for it): stuck');
  expect((await timed(program.client.listTools())).ms).toBeLessThan(1_000);
  expect(program.stderr()).toMatch(/stuck: no answer for 2 s \(catalog\.firstListing\)/);
});

test('with the catalog on disk the first list does not wait for a server that hangs now', async () => {
  using home = openHome({ mcpServers: { everyday: everyday() } });
  await using warmed = await openStdio(home);
  await warmed.client.listTools();
  await warmed.client.close();
  await using program = await openStdio(home);
  const { value, ms } = await timed(descriptionsOf(program.client));
  expect(value).toContain('echo');
  expect(ms).toBeLessThan(1_500);
});
