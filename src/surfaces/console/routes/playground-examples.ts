import type { ProfileName } from '../../../domain/profile-name.js';

/** What programs of each contract are written in. */
export const LANGUAGES: Readonly<Record<ProfileName, readonly string[]>> = {
  codemode: ['typescript'],
  unified: ['typescript'],
  code_execution: ['javascript'],
  runner: ['node', 'python'],
  go: ['go'],
};

/** A first program of each contract. It works without any server. */
export const EXAMPLES: Readonly<Record<ProfileName, string>> = {
  codemode: `import { listServers } from '@codemode/discovery';

const servers = await listServers();
console.log(servers.length, 'servers');
globalThis.__codemode_result__ = servers;
`,
  unified: `console.log('hello');
return { answer: 6 * 7 };
`,
  code_execution: `const answer = 6 * 7;
({ answer });
`,
  runner: `console.log(6 * 7);
`,
  go: `fmt.Println(6 * 7)
return nil
`,
};
