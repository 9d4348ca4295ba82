import type { PlaygroundHints } from '../profile.js';

export const PLAYGROUND: PlaygroundHints = {
  languages: ['typescript'],
  example: `console.log('hello');
return { answer: 6 * 7 };
`,
  input: (code, timeoutMs) => (timeoutMs === undefined ? { code } : { code, timeout: timeoutMs }),
};
