import type { PlaygroundHints } from '../profile.js';

export const PLAYGROUND: PlaygroundHints = {
  languages: ['node', 'python'],
  example: `console.log(6 * 7);
`,
  input: (code, timeoutMs) => (timeoutMs === undefined ? { code } : { code, timeout_ms: timeoutMs }),
};
