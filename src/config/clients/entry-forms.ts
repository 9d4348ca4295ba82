import type { JsonObject } from '../../domain/json.js';

interface StartCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** `{ command, args }`: the form that most clients understand. */
export function stdioEntry({ command, args }: StartCommand): JsonObject {
  return { command, args: [...args] };
}

/** The same with the transport, as VS Code writes it itself. */
export function typedEntry({ command, args }: StartCommand): JsonObject {
  return { type: 'stdio', command, args: [...args] };
}

/**
 * Claude Code connects servers in the background and sends its first request without those that are not ready. `alwaysLoad` makes
 * it wait for this one: `claude -p` would otherwise run without our tool.
 */
export function claudeCodeEntry(start: StartCommand): JsonObject {
  return { ...typedEntry(start), alwaysLoad: true };
}

export function opencodeEntry({ command, args }: StartCommand): JsonObject {
  return { type: 'local', command: [command, ...args], enabled: true };
}

/** Versions from 2025 require `source`. Later versions ignore it. */
export function zedEntry({ command, args }: StartCommand): JsonObject {
  return { source: 'custom', command, args: [...args], env: {} };
}
