import type { PlaygroundHints } from '../profile.js';

export const PLAYGROUND: PlaygroundHints = {
  languages: ['typescript'],
  example: `import { listServers } from '@codemode/discovery';

const servers = await listServers();
console.log(servers.length, 'servers');
globalThis.__codemode_result__ = servers;
`,
  input: (code, timeoutMs) => (timeoutMs === undefined ? { code } : { code, limits: { timeoutMs } }),
};
