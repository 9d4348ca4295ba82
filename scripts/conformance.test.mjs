// @ts-check
import { describe, expect, test } from 'vitest';
import { findCitations, findProblems, quoteTotals, render } from './conformance.mjs';
import { findStatementProblems, titlesIn } from './statements.mjs';

const contracts = {
  A: { document: 'First', profile: 'first', requirements: { A1: 'does one thing', A2: 'does | another' } },
  X: { document: 'All', requirements: { X1: 'holds everywhere' } },
};

const idsIn = (text) => findCitations('test/a.test.ts', text).map(({ id }) => id);

describe('citations', () => {
  test('stand in brackets at the end of the title of a test or a group', () => {
    const text = `
      describe('a group [X1]', () => {
        test('one [A1]', () => {});
        it("two [A1, A2]", async () => {});
        test.skipIf(late)('three [A2]', () => {});
        test.each([1, 2])(\`case %i of \${name} [A1]\`, () => {});
        test('four [A2]', needs('bubblewrap'), () => {});
      });`;
    expect(idsIn(text)).toEqual(['X1', 'A1', 'A1', 'A2', 'A2', 'A1', 'A2']);
  });

  test('carry the file and the line', () => {
    expect(findCitations('test/a.test.ts', "\ntest('one [A1]', f);")).toEqual([
      { id: 'A1', file: 'test/a.test.ts', line: 2 },
    ]);
  });

  test('do not count in comments, in other strings, or in tests that never run', () => {
    const text = `
      // test('not me [A1]')
      run("test('nor me [A1]', f)");
      test.skip('nor me [A1]', f);
      test.todo('nor me [A1]');
      describe.skip('nor me [A1]', () => { test('nor me [A2]', f); });
      test('plain [0] title', f);`;
    expect(idsIn(text)).toEqual([]);
  });

  test.for(['one [A1] two', 'one [A1 A2]', 'one [a1]'])('are refused when badly written: %s', (title) => {
    const citations = findCitations('test/a.test.ts', `test('${title}', f);`);
    expect(findProblems(contracts, {}, citations)).toHaveLength(1);
  });
});

describe('problems', () => {
  test('an id that does not exist is named with its place', () => {
    const citations = [{ id: 'A9', file: 'test/a.test.ts', line: 7 }];
    expect(findProblems(contracts, {}, citations)).toEqual(['test/a.test.ts:7: there is no requirement A9']);
  });

  test('a remark about a requirement that does not exist is refused', () => {
    expect(findProblems(contracts, { Q1: 'all of it' }, [])).toHaveLength(1);
  });

  test('a gap in the numbers of a contract is refused', () => {
    const gap = { A: { document: 'First', requirements: { A1: 'one', A3: 'three' } } };
    expect(findProblems(gap, {}, [])).toEqual(['test/requirements.ts: A3 is out of order under A']);
  });
});

const statements = [
  { id: 'A1.1', clause: '2.1', says: 'it does it', test: /** @type {const} */ (['e2e/a.test.ts', 'does it']) },
  { id: 'A1.2', clause: '2.2', says: 'it sings', differs: 'nobody listens' },
];

describe('the statements of a document', () => {
  const titlesOf = (file) => (file === 'test/e2e/a.test.ts' ? new Map([['does it', 3]]) : undefined);
  const problemsOf = (...changes) =>
    findStatementProblems(
      changes.map((change, index) => ({ statement: { ...statements[index], ...change }, file: 's.ts' })),
      new Set(['A1']),
      titlesOf,
    );

  test('are fine where each names a test that is there, or says why we differ', () => {
    expect(problemsOf({}, {})).toEqual([]);
  });

  test('are refused where a number, a stand or a test is wrong', () => {
    expect(problemsOf({ id: 'A1.2' })).toEqual(['s.ts: A1.2: out of order; it should be A1.1']);
    expect(problemsOf({ id: 'A7.1' })).toEqual(['s.ts: A7.1: there is no requirement A7']);
    expect(problemsOf({ open: 'all' })).toEqual(['s.ts: A1.1: needs one of test, measured, differs and open']);
    expect(problemsOf({ test: ['e2e/b.test.ts', 'x'] })).toEqual(['s.ts: A1.1: there is no test/e2e/b.test.ts']);
    expect(problemsOf({ test: ['e2e/a.test.ts', 'x'] })).toEqual(['s.ts: A1.1: test/e2e/a.test.ts has no test "x"']);
  });

  test('name titles as the source has them, with their lines, without the ids at their end', () => {
    const text = "test.each(rows)('of %s [A1, A2]', f);\ndescribe(`it's ${x}`, f); run('test(1)');";
    expect([...titlesIn('a.test.ts', text)]).toEqual([
      ['of %s', 1],
      ["it's ${x}", 2],
    ]);
  });
});

describe('the table', () => {
  const citations = [
    { id: 'A1', file: 'test/e2e/a.test.ts', line: 1 },
    { id: 'A1', file: 'test/e2e/a.test.ts', line: 9 },
    { id: 'A2', file: 'test/b.test.ts', line: 1 },
  ];

  test('links each requirement and statement to its tests and says what is unproven or open', () => {
    const titlesOf = () => new Map([['does it', 3]]);
    const table = { contracts, unproven: { A2: 'the other half' }, citations, statements, titlesOf };
    const lines = render(table, '').split('\n');
    expect(lines.filter((line) => /^\| <a id/.test(line))).toEqual([
      '| <a id="a1"></a>**A1** | | **does one thing** | [e2e/a.test.ts](https://github.com/codemode/codemode/blob/main/test/e2e/a.test.ts#L1) [2](https://github.com/codemode/codemode/blob/main/test/e2e/a.test.ts#L9) |',
      '| <a id="a1.1"></a>A1.1 | A § 2.1 | it does it | [does it](https://github.com/codemode/codemode/blob/main/test/e2e/a.test.ts#L3) |',
      '| <a id="a1.2"></a>A1.2 | A § 2.2 | it sings | differs: nobody listens |',
      '| <a id="a2"></a>**A2** | | **does \\| another** | [b.test.ts](https://github.com/codemode/codemode/blob/main/test/b.test.ts#L1)<br>not yet: the other half |',
      '| <a id="x1"></a>**X1** | | **holds everywhere** | open |',
    ]);
    expect(lines).toContain('Of the 2 statements that the documents make, 1 have a test of their own, 0 are');
    expect(lines).toContain('2 of 3 requirements have a test that goes through the real path and names them.');
  });

  test('keeps the hand-written deviations, and is stable', () => {
    const first = render({ contracts, unproven: {}, citations, statements }, '').replace(
      'None yet.',
      'The clock is paused.\n\nReally.',
    );
    const second = render({ contracts, unproven: {}, citations, statements }, first);
    expect(second).toContain('The clock is paused.\n\nReally.');
    expect(render({ contracts, unproven: {}, citations, statements }, second)).toBe(second);
  });
});

test('the README quotes the totals', () => {
  const statement = { id: 'A1.1', clause: 'A § 1', says: 'it is there' };
  const tested = { ...statement, test: /** @type {const} */ (['test/a.test.ts', 'is there']) };
  const statements = [...Array(1_004).fill(tested), statement];
  expect(quoteTotals('has [3 of 4](docs/CONFORMANCE.md) here', statements)).toBe(
    'has [1,004 of 1,005](docs/CONFORMANCE.md) here',
  );
});
