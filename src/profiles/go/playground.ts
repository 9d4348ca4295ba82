import type { PlaygroundHints } from '../profile.js';

export const PLAYGROUND: PlaygroundHints = {
  languages: ['go'],
  example: `fmt.Println(6 * 7)
return nil
`,
  input: (code) => ({ code }),
};
