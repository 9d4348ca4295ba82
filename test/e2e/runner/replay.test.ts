import { expect, test } from 'vitest';
import { needs } from '../../support/needs.js';
import { LANGUAGES, RunnerHome, type Sources } from '../../support/runner.js';

const ASKS: Sources = {
  node: `import { count, echo } from './servers/every_day/index.js';
    const both = await Promise.all([echo({ message: 'a' }), echo({ message: 'b' })]);
    globalThis.result = [...both, await count({})].map(({ content }) => content[0].text);`,
  python: `import asyncio
from servers.every_day import count, echo
both = await asyncio.gather(echo({'message': 'a'}), echo({'message': 'b'}))
result = [each['content'][0]['text'] for each in [*both, await count({})]]`,
};
const DIVERGES: Sources = {
  node: `import { echo } from './servers/every_day/index.js';
    globalThis.result = (await echo({ message: String(process.hrtime.bigint()) })).content.length;`,
  python: `import time\nfrom servers.every_day import echo\nresult = len((await echo({'message': str(time.perf_counter_ns())}))['content'])`,
};
/** Asks for the same, and makes something else of it. */
const DIFFERS: Sources = {
  node: `import { echo } from './servers/every_day/index.js';
    globalThis.result = { said: (await echo({ message: 'a' })).content[0].text, at: process.hrtime.bigint() + '' };`,
  python: `import time\nfrom servers.every_day import echo
result = { 'said': (await echo({'message': 'a'}))['content'][0]['text'], 'at': str(time.perf_counter_ns()) }`,
};

test.each(LANGUAGES)(
  'a recorded %s program is run again offline, and says where it goes another way [B21]',
  needs('bubblewrap', 'python3'),
  async (language) => {
    using home = new RunnerHome();
    const recorded = async (sources: Sources) => (await home.runner([language], sources[language])).envelope.run_id;
    const same = await recorded(ASKS);
    const other = await recorded(DIVERGES);
    const differs = await recorded(DIFFERS);
    // Nothing is called: there is nobody to call.
    home.write('codemode.config.json', {});
    const replay = (run: string) => home.run(['--config', home.config, 'replay', run, '--json']);
    const first = await replay(same);
    expect([first.status, JSON.parse(first.stdout)]).toEqual([0, { runId: same, same: true }]);
    const second = await replay(other);
    expect(second.status).toBe(1);
    expect(JSON.parse(second.stdout)).toEqual({
      runId: other,
      same: false,
      difference: 'its call 1 asks for every-day/echo with other arguments, which is not on record',
    });
    const third = await replay(differs);
    expect([third.status, JSON.parse(third.stdout)]).toEqual([
      1,
      { runId: differs, same: false, difference: expect.stringMatching(/^its result differs: at \$\.at /) },
    ]);
  },
);

const CHANCE: Sources = {
  node: `globalThis.result = [Math.random(), Math.random()];`,
  python: `import random\nresult = [random.random(), random.randint(0, 10**9), list({'b', 'a', 'c', 'zz', 'd'})]`,
};

test.each(LANGUAGES)(
  'random numbers and the order of sets are the same in the replay of a %s program [B21]',
  needs('bubblewrap', 'python3'),
  async (language) => {
    using home = new RunnerHome();
    const [one, two] = [
      await home.runner([language], CHANCE[language]),
      await home.runner([language], CHANCE[language]),
    ];
    expect((one.data as number[])[0]).not.toBe((two.data as number[])[0]);
    const replayed = await home.run(['--config', home.config, 'replay', one.envelope.run_id, '--json']);
    expect(JSON.parse(replayed.stdout)).toEqual({ runId: one.envelope.run_id, same: true });
  },
);
