import { describe } from 'vitest';
import { useEngine } from '../support/sandbox.js';

/** What holds for programs in QuickJS holds in V8: the same tests, with a process of V8 for each program. */
useEngine('v8');
const SAME = ['programs', 'limits', 'bodies', 'call-places'];

describe.each(SAME)('in V8: %s', (name) => import(`./${name}.test.ts`));
