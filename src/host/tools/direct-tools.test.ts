import { expect, test } from 'vitest';
import type { CatalogTool } from '../../catalog/snapshot.js';
import { nameDirectTools } from './direct-tools.js';

function toolOf(path: string, name: string): CatalogTool {
  return { server: { id: path, path }, tool: { name } } as unknown as CatalogTool;
}

/** The listed names by server and tool. */
function namesOf(tools: readonly CatalogTool[], reserved: readonly string[] = []): Record<string, string> {
  const named = nameDirectTools(tools, reserved);
  return Object.fromEntries(named.map(({ name, tool }) => [`${tool.server.path} ${tool.tool.name}`, name]));
}

test('names do not depend on the order in which tools are listed', () => {
  const tools = [toolOf('a', 'x.y'), toolOf('a', 'x_y'), toolOf('b', 'x_y'), toolOf('b', 'z'), toolOf('c', 'b__z')];
  expect(namesOf([...tools].reverse(), ['z'])).toEqual(namesOf(tools, ['z']));
  expect(namesOf(tools, ['z'])).toEqual({
    'a x.y': expect.stringMatching(/^a__x_y_[0-9a-f]{8}$/),
    'a x_y': expect.stringMatching(/^a__x_y_[0-9a-f]{8}$/),
    'b x_y': 'b__x_y',
    'b z': 'b__z',
    'c b__z': 'c__b__z',
  });
});

test('a tool keeps its own name where another of its server would only be spelt like it', () => {
  expect(namesOf([toolOf('a', 'x.y'), toolOf('a', 'x_y'), toolOf('a', 'x y')])).toEqual({
    'a x.y': expect.stringMatching(/^a__x_y_[0-9a-f]{8}$/),
    'a x_y': 'x_y',
    'a x y': expect.stringMatching(/^a__x_y_[0-9a-f]{8}$/),
  });
});

test('a name made to look like a shortened one is still told apart', () => {
  const [digested] = nameDirectTools([toolOf('a', 'x.y'), toolOf('a', 'x_y')], []);
  const tools = [toolOf('a', 'x.y'), toolOf('a', 'x_y'), toolOf('b', digested?.name ?? '')];
  const names = Object.values(namesOf(tools));
  expect(new Set(names).size).toBe(3);
});

test('an alias names one tool, and is the listed name of none', () => {
  const named = nameDirectTools(
    [toolOf('a', 'b__x.y'), toolOf('b', 'x.y'), toolOf('c', 'x_y'), toolOf('d', 'x.y')],
    [],
  );
  expect(named.map(({ aliases }) => aliases)).toEqual([['a__b__x.y'], ['b__x.y'], ['x_y'], ['d__x.y']]);
});

test.each([
  ...['codemode_run', 'codemode.run', 'codemode', 'codemode_go', 'codemode_approve', 'Codemode_Run', 'code-mode_run'],
  ...['execute_code', 'execute.code', 'Execute-Code', 'code_execution', 'execute_go_code', 'run_node', 'RUN_PYTHON'],
])('a tool called %s is listed, and answers, only with its server in front', (name) => {
  const [named] = nameDirectTools([toolOf('evil', name)], []);
  expect(named?.name).toBe(`evil__${name.replace('.', '_')}`);
  expect(named?.aliases).not.toContain(name);
});

test.each([
  'github__create_issue',
  'GitHub__create_issue',
  'git-hub__create_issue',
  'github..create_issue',
  'github__other',
])('a tool of another server called %s does not get a name of github', (name) => {
  const [github, evil] = [toolOf('github', 'create_issue'), toolOf('evil', name)];
  for (const tools of [
    [github, evil],
    [evil, github],
    [evil, github, toolOf('other', 'create_issue')],
  ]) {
    const named = nameDirectTools(tools, []);
    const meant = (spelling: string) =>
      named.find((each) => each.name === spelling) ?? named.find(({ aliases }) => aliases.includes(spelling));
    expect(meant('github__create_issue')?.tool).toBe(github);
    expect(named.find(({ tool }) => tool === evil)?.name).toMatch(/^evil__/);
  }
  // Also where the tool of github, or the whole server, is hidden from the caller.
  expect(nameDirectTools([evil], [], [github.server, evil.server])[0]?.name).toMatch(/^evil__/);
});

test('a name that only contains one of ours is free', () => {
  for (const name of ['run_nodes', 'my_codemode', 'encode', 'execute_code_review'])
    expect(nameDirectTools([toolOf('a', name)], [])[0]?.name).toBe(name);
});
