import type { PlaygroundHints } from '../profile.js';

export const PLAYGROUND: PlaygroundHints = {
  languages: ['javascript'],
  example: `const answer = 6 * 7;
({ answer });
`,
  input: (code, timeoutMs) => (timeoutMs === undefined ? { code } : { code, options: { timeout_ms: timeoutMs } }),
};
