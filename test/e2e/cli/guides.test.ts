import { appendFileSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Home } from '../../support/cli.js';
import { blocksOf, shell } from '../../support/guide.js';

/** Where `codemode add` wrote the first server: what a guide says of the configuration goes there. */
const configure = (home: Home, yaml: string) => appendFileSync(home.path('.config/codemode/config.yaml'), `\n${yaml}`);

/** An id is another one each time. */
const withoutIds = (text: string) => text.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID');

test('scripts.md: the script is stored, runs, and refuses the input that the guide refuses', () => {
  using home = new Home();
  const blocks = blocksOf('scripts');
  const of = (language: string) => blocks.filter((block) => block.language === language).map(({ text }) => text);
  const [program = ''] = of('ts');
  home.write('report.ts', program);
  home.write('report.schema.json', of('json')[0]);
  const [add = '', use = ''] = of('sh');
  shell(home, add);
  const said = shell(home, use);
  expect(said).toContain('Counts large orders.');
  expect(Number(/"result":(\d+)/.exec(said)?.[1])).toBeGreaterThan(0);
  const [stored = ''] = use.split('\n');
  const wrong = `${stored}\n! codemode scripts run report --input '{ "status": "late", "cents": "x" }' 2>&1`;
  const guide = readFileSync(new URL('../../../docs/guides/scripts.md', import.meta.url), 'utf8');
  const [message = ''] = /Invalid input for report at [^`]*/.exec(guide) ?? [];
  expect(shell(home, wrong).replaceAll('\\"', '"')).toContain(message);
});

test('kept-programs.md: a run is kept, run with another input, and undone as it is printed', () => {
  using home = new Home();
  let said = '';
  const expected: string[] = [];
  for (const { language, text } of blocksOf('kept-programs')) {
    if (language === 'sh') said += shell(home, text);
    if (language === 'yaml' && text.includes('undo:')) configure(home, text);
    if (language === 'text') expected.push(text);
  }
  const [proposed = '', , undone = ''] = expected;
  expect(withoutIds(said)).toContain(withoutIds(proposed));
  expect(said).toContain(undone);
  expect(said).toContain('{"month":"2026-12","lines":0}');
  expect(readFileSync(home.path('ledger.txt'), 'utf8')).toBe('');
});

test('hooks.md: the hook refuses the call that the guide says, and no other', () => {
  using home = new Home();
  const blocks = blocksOf('hooks').map(({ text }) => text);
  const find = (part: string) => blocks.find((text) => text.includes(part)) ?? '';
  shell(home, 'codemode add ledger node "$EXAMPLES/servers/ledger.mjs" "$PWD/ledger.txt"');
  configure(home, find('command: ./check-call.sh }'));
  home.write('.config/codemode/check-call.sh', find('# check-call.sh:'), 0o755);
  const guide = readFileSync(new URL('../../../docs/guides/hooks.md', import.meta.url), 'utf8');
  const [refusal = ''] = /a hook refuses ledger\.write: [^`]*/.exec(guide) ?? [];
  expect(shell(home, find('codemode run -'))).toContain(`"result":"${refusal}"`);
  expect(readFileSync(home.path('ledger.txt'), 'utf8')).toBe('staging: two boxes\n');
});
