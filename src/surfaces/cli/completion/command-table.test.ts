import { expect, test } from 'vitest';
import { allCommands } from '../commands.js';
import { manPage } from '../man-page.js';
import { createProgram } from '../program.js';
import { NOTHING_COMPOSED } from '../reference.test-support.js';
import { bashCompletion } from './bash.js';
import { commandTable, everyCommand, pathOf, visibleOptions } from './command-table.js';
import { fishCompletion } from './fish.js';
import { zshCompletion } from './zsh.js';

const program = createProgram(await allCommands(), NOTHING_COMPOSED, () => {});
const table = commandTable(program);
const commands = everyCommand(program);

test('the table has every command of the program, and every option of each', () => {
  expect(commands.length).toBeGreaterThan(40);
  for (const command of commands) {
    const found = table.find(({ path }) => path === pathOf(command));
    const names = new Set(found?.options.flatMap((option) => option.names));
    for (const { long, short } of visibleOptions(command))
      for (const name of [long, short])
        if (name != null)
          expect([pathOf(command), [...names]]).toEqual([pathOf(command), expect.arrayContaining([name])]);
    for (const below of command.commands) expect(found?.commands.map(({ name }) => name)).toContain(below.name());
  }
});

test.each([
  ['bash', bashCompletion],
  ['zsh', zshCompletion],
  ['fish', fishCompletion],
])('the script for %s has every command and every option', (_, render) => {
  const script = render(table);
  for (const { path, options } of table) {
    expect(script).toContain(`'${path}'`.replace("'codemode'", 'codemode'));
    for (const { names } of options) for (const name of names) expect(script).toContain(name);
  }
});

test('the man page has every command and every option, with its description', () => {
  const page = manPage(program, '2026-05-01').replaceAll('\\-', '-').replaceAll('\\&', '');
  for (const command of commands) {
    if (command !== program) expect(page).toContain(`.SS "${pathOf(command)}"`);
    for (const { flags, description } of visibleOptions(command)) {
      expect(page).toContain(`.B "${flags}"`);
      expect(page.replaceAll('\n', ' ')).toContain(description.split(/["\\\n]/)[0]);
    }
  }
});

test('values are looked up where they can be, and the words of a choice are offered', () => {
  const optionValue = (path: string, name: string) =>
    table.find((each) => each.path === path)?.options.find(({ names }) => names.includes(name))?.value;
  expect(optionValue('codemode', '--config')).toBe('files');
  expect(optionValue('codemode tools', '--config')).toBe('files');
  expect(optionValue('codemode tools', '--server')).toBe('servers');
  expect(optionValue('codemode audit', '--run')).toBe('runs');
  expect(optionValue('codemode tools', '--detail')).toEqual(['name', 'description', 'full']);
  expect(optionValue('codemode runs', '--json')).toBeUndefined();
  const argumentsOf = (path: string) => table.find((each) => each.path === path)?.values;
  expect(argumentsOf('codemode runs show')).toEqual(['runs']);
  expect(argumentsOf('codemode replay')).toEqual(['runs']);
  expect(argumentsOf('codemode approvals approve')).toEqual(['approvals']);
  expect(argumentsOf('codemode scripts run')).toEqual(['scripts']);
  expect(argumentsOf('codemode auth login')).toEqual(['servers']);
});
