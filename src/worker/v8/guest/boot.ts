import { intrinsics, takeBase64 } from './prepare.js';
// After the preparation: the same code as in QuickJS, except for stacks (see `scripts/build-worker.mjs`).
import '../../quickjs/guest/boot.js';
import { seedRandom } from './alike.js';
import { hideText, revealTexts } from './engine-errors.js';
import { missingNames } from './trim.js';

takeBase64();
const entry = (globalThis as unknown as { __entry: Record<string, unknown> }).__entry;
entry['seedRandom'] = seedRandom;
entry['hideText'] = hideText;
entry['revealTexts'] = revealTexts;
entry['parseJson'] = JSON.parse;
entry['missing'] = missingNames(intrinsics);
