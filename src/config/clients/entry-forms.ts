import type { JsonObject } from '../../domain/json.js';
import { isObject } from '../shape.js';

interface StartCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** `{ command, args }`: what most clients understand. */
export function stdioEntry({ command, args }: StartCommand): JsonObject {
  return { command, args: [...args] };
}

/** The same with the transport, as VS Code writes it itself. */
export function typedEntry({ command, args }: StartCommand): JsonObject {
  return { type: 'stdio', command, args: [...args] };
}

/**
 * Claude Code connects servers in the background and sends its first request without those that are not there yet.
 * `alwaysLoad` makes it wait for this one: `claude -p` would otherwise run without our tool.
 */
export function claudeCodeEntry(start: StartCommand): JsonObject {
  return { ...typedEntry(start), alwaysLoad: true };
}

export function opencodeEntry({ command, args }: StartCommand): JsonObject {
  return { type: 'local', command: [command, ...args], enabled: true };
}

/** `source` is what versions of 2025 ask for; later ones ignore it. */
export function zedEntry({ command, args }: StartCommand): JsonObject {
  return { source: 'custom', command, args: [...args], env: {} };
}

export function asIs(entry: JsonObject): JsonObject {
  return entry;
}

export function fromOpenCode({ type: _, command, environment, enabled, ...rest }: JsonObject): JsonObject {
  const [program, ...args] = Array.isArray(command) ? command : [];
  return {
    ...rest,
    ...(program === undefined ? {} : { command: program, args }),
    ...(environment === undefined ? {} : { env: environment }),
    ...(enabled === false ? { disabled: true } : {}),
  };
}

/** The command is text, or in older files a map with `path`, `args` and `env`. */
export function fromZed({ source: _, command, enabled, ...rest }: JsonObject): JsonObject {
  const { path, ...inner } = isObject(command) ? command : { path: command };
  return {
    ...rest,
    ...inner,
    ...(path === undefined ? {} : { command: path }),
    ...(enabled === false ? { disabled: true } : {}),
  };
}
