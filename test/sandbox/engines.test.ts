import { afterAll, describe } from 'vitest';
import { useEngine } from '../support/sandbox.js';

/** What holds for programs in QuickJS holds in V8: the same tests, with a process of V8 for each program. */
useEngine('v8');
// Files of a worker share their modules: the next one starts with what it expects.
afterAll(() => useEngine('quickjs'));
const SAME = ['programs', 'limits', 'bodies', 'call-places'];

// The query makes it another module than the one that another file of this worker may have loaded.
describe.each(SAME)('in V8: %s', (name) => import(`./${name}.test.ts?in-v8`));
