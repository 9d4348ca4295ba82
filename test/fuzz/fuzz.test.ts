import { describe, expect, test } from 'vitest';
import { needs } from '../support/needs.js';
import { openApprovalForms } from './approval-forms.js';
import { configurationFiles } from './configuration-files.js';
import { declarationsInThreeLanguages } from './declarations.js';
import { openEngines } from './engines.js';
import { fuzz } from './fuzzer.js';
import { openImages } from './images.js';
import { mcpMessages, openMcpServers } from './mcp-messages.js';
import { openRecordings } from './recordings.js';
import { openRequests } from './requests.js';
import { workerFrames } from './worker-frames.js';

/** A second each here, from another seed each time; for longer: `npm run fuzz -- NAME --seconds 3600`. */
const SECONDS = Number(process.env.CODEMODE_FUZZ_SECONDS ?? 1);
const SEED = Number(process.env.CODEMODE_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 32));
const timeout = (SECONDS + 120) * 1_000;

const FUZZERS = {
  'worker-frames': async () => workerFrames,
  'mcp-messages': async () => mcpMessages,
  'mcp-servers': openMcpServers,
  declarations: async () => declarationsInThreeLanguages,
  'configuration-files': async () => configurationFiles,
  requests: openRequests,
  images: openImages,
  engines: openEngines,
  recordings: openRecordings,
  'approval-forms': openApprovalForms,
};

describe('fuzzing', needs('bubblewrap'), () => {
  test.each(Object.entries(FUZZERS))('%s', { timeout }, async (name, open) => {
    await using fuzzer = await open();
    const cases = await fuzz(name, fuzzer, { seconds: SECONDS, seed: SEED });
    expect(cases).toBeGreaterThan(0);
    if (process.env.CODEMODE_FUZZ_SECONDS !== undefined) console.log(`${name}: ${cases} cases from seed ${SEED}`);
  });
});
