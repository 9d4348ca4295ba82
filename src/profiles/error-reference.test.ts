import { expect, test } from 'vitest';
import { ERRORS } from '../domain/errors.js';
import type { Failure } from '../domain/run.js';
import { CODES } from './codemode/render.js';
import { resultError } from './runner/errors.js';
import { BY_KIND } from './unified/render.js';

test('docs/reference/errors.md lists every code (npx vitest run src/profiles/error-reference -u)', async () => {
  const hostErrors = Object.entries(ERRORS).map(
    ([code, { blame, http, exit, retry, meaning, next }]) =>
      `| \`${code}\` | ${meaning} | ${next} | ${blame} | ${http} | ${exit} | ${retry ? 'yes' : 'no'} |`,
  );
  const failures = (Object.keys(FAILURES) as Failure['kind'][]).map((kind) => {
    const [type, code] = BY_KIND[kind];
    return `| ${FAILURES[kind]} | \`${CODES[kind]}\` | \`${code}\` (${type}) | ${runnerType(kind)} |`;
  });
  const page = HEAD.replace('HOST_ERRORS', hostErrors.join('\n')).replace('FAILURES', failures.join('\n'));
  await expect(page).toMatchFileSnapshot('../../docs/reference/errors.md');
});

/** The class of an exception is the program's own. */
function runnerType(kind: Failure['kind']): string {
  if (kind === 'exception') return 'the class that was thrown';
  if (kind === 'limit') return '`Timeout`, `MemoryLimit` and others, by the limit';
  return `\`${resultError({ kind, name: 'Error', message: '' }).type}\``;
}

/** How a program can fail. */
const FAILURES: Readonly<Record<Failure['kind'], string>> = {
  syntax: 'the source does not parse; nothing ran',
  type: 'a call would surely fail, by the types of its tool; nothing was sent',
  import: 'a module or a name does not exist, or its server is down',
  exception: 'the program threw and did not catch it',
  limit: 'the program exceeded a limit: time, memory, stack, output, calls, disk, processes or CPU',
  never_settled: 'the program awaits something that nothing will settle',
  not_serializable: 'the result is not JSON',
  cancelled: 'the client cancelled the run, or the user did',
  forbidden: 'the program named a server that its request does not allow',
  worker_lost: 'the worker died with this program too often',
};

const HEAD = `# Errors

<!-- Generated from src/domain/errors.ts and the profiles. Renew: npx vitest run src/profiles/error-reference -u -->

An **error** means that codemode could not do its work. A program that fails is a **result**: the request succeeded, and the response says
what went wrong. By symptom: [troubleshooting](../guides/troubleshooting.md).

## Errors of codemode

One table for every surface. The library throws a \`HostError\` with \`code\`, REST and WebSocket send the code with the HTTP status, the
command line prints the message and exits with the status, and MCP answers with a tool result that holds code and message. *Blame* says who has to act.

| code | happens when | do | blame | HTTP | exit | retry may help |
|---|---|---|---|---|---|---|
HOST_ERRORS

\`codemode run\` exits with 0 after success, with 1 if the program failed; every command's \`--help\` lists its statuses.

## Failed programs

The codes under which each contract reports a failure. \`code_execution\` and \`go\` have the names of their own contracts:
[code-execution](../guides/code-execution.md), [go](../guides/go.md).

| a program fails because | \`codemode\`: diagnostic | \`unified\`: code (type) | \`runner\`: type |
|---|---|---|---|
FAILURES

## Errors that a program can catch

Calls throw classes of \`@codemode/errors\`; each has \`message\` and, where there is one, \`hint\`.

| class | thrown when |
|---|---|
| \`ToolCallError\` | the tool answered with an error, its server failed, or a person or the policy refused the call |
| \`ToolNotFoundError\`, \`ServerNotFoundError\` | a name does not exist |
| \`AuthenticationError\` | the server needs a login |
| \`SchemaValidationError\` | the arguments do not fit the tool's schema; the message names the path |
| \`SandboxLimitError\` | one call exceeded a limit, such as its size |
`;
