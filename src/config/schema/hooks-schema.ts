import { isAbsolute, resolve } from 'node:path';
import * as z from 'zod';
import { HOOK_MOMENTS, type Hook } from '../../domain/hook.js';
import { duration, means } from './units.js';

const MAX_HOOKS = 50;
const MAX_TIMEOUT_MS = 60_000;
const DEFAULT_TIMEOUT_MS = 5_000;
const TOOLS = 'a pattern such as files/write_*, or a list of them';

/** A pattern that matches nothing by mistake would let every call pass unseen. */
const toolPattern = z.string().regex(/^(?:\*|[^/]+\/.+)$/s, { error: TOOLS });

const hook = z
  .strictObject({
    tools: z
      .union([toolPattern, z.array(toolPattern).min(1)], { error: TOOLS })
      .default('*')
      .meta(means('Which calls: `server/tool` with `*`, or a list. Without it, all.', '"github/*"')),
    when: z
      .enum(HOOK_MOMENTS)
      .default('before')
      .meta(means('`before` may refuse the call, `after` is only told its outcome.', 'after')),
    command: z
      .string()
      .min(1)
      .optional()
      .meta(means('A command that gets the call as JSON on stdin. Exit status 2 refuses it.', './check-call.sh')),
    args: z.array(z.string()).optional().meta(means('Arguments of the command.', '[--strict]')),
    url: z
      .url({ protocol: /^https?$/, error: 'an address that starts with http:// or https://' })
      .optional()
      .meta(
        means('An address to which the call is posted as JSON, instead of a command.', 'http://127.0.0.1:9000/calls'),
      ),
    headers: z
      .record(z.string(), z.string())
      .optional()
      .meta(means('HTTP headers for `url`.', '{ Authorization: "Bearer ${HOOK_TOKEN}" }')),
    timeout: duration({ minMs: 1, maxMs: MAX_TIMEOUT_MS })
      .default(DEFAULT_TIMEOUT_MS)
      .meta(means('Time for an answer.', '2s')),
    onFailure: z
      .enum(['deny', 'allow'])
      .default('deny')
      .meta(means('What happens to a call whose hook `before` fails or does not answer in time.', 'allow')),
  })
  .superRefine(({ command, args, url, headers }, context) => {
    const complain = (path: string[], message: string) =>
      context.issues.push({ code: 'custom', message, path, input: undefined });
    if ((command === undefined) === (url === undefined)) complain([], 'either command or url');
    if (args !== undefined && command === undefined) complain(['args'], 'command, which args needs');
    if (headers !== undefined && url === undefined) complain(['headers'], 'url, which headers needs');
  });

export const hooksSchema = z.array(hook).max(MAX_HOOKS).default([]);

/** The hooks for the broker. A command with a slash is relative to `folder`. Any other is searched for in PATH. */
export function configuredHooks(hooks: z.output<typeof hooksSchema>, folder: string): Hook[] {
  return hooks.map(({ tools, when, command, args = [], url = '', headers = {}, timeout, onFailure }) => ({
    tools: typeof tools === 'string' ? [tools] : tools,
    when,
    target:
      command === undefined
        ? { kind: 'http', url, headers }
        : { kind: 'command', command: fileOf(command, folder), args, cwd: folder },
    timeoutMs: timeout,
    onFailure,
  }));
}

function fileOf(command: string, folder: string): string {
  return command.includes('/') && !isAbsolute(command) ? resolve(folder, command) : command;
}
