import { basename } from 'node:path';
import { HostError } from '../../domain/errors.js';
import type { Hook, HookDecision, HookEvent, HookOutcome } from '../../domain/hook.js';
import { isJsonObject, type JsonValue } from '../../domain/json.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { visibleLine } from '../../lib/text/visible-text.js';
import type { BrokerCall, BrokerOutcome } from '../call.js';
import { Slots } from '../limits/slots.js';
import { fitsAnySpelling, readToolPattern, TOOL_PATTERN_EXAMPLE, type ToolPattern } from '../policy/tool-pattern.js';
import type { CommandSurroundings } from './command-hook.js';

/** Concurrent hooks of one caller, of each kind; the others wait. Each command is a process. */
const MAX_AT_ONCE = 8;

/** Bytes of one caller's outcomes that wait for their hooks. No call waits for these hooks, so they do not slow a program down. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;

export interface HooksOptions extends CommandSurroundings {
  readonly hooks: readonly Hook[];
  /** Called for failed hooks that do not refuse a call. */
  readonly warn: (message: string) => void;
}

interface PatternedHook extends Hook {
  readonly patterns: readonly ToolPattern[];
}

/** The user's own commands and URLs that are notified of every call, of programs and clients alike, and may refuse it. */
export class Hooks {
  readonly #options: HooksOptions;
  readonly #hooks: readonly PatternedHook[];
  /**
   * Slots by caller: calls of one caller must not delay another's hooks until they time out, which is a refusal or, with
   * `onFailure: allow`, a skipped check. Hooks that only receive outcomes do not delay hooks that decide.
   */
  readonly #slots = new Map<string, Slots>();
  /** Bytes of outcomes that were not sent to their hooks yet, by caller. */
  readonly #heldBytes = new Map<string, number>();

  constructor(options: HooksOptions) {
    this.#options = options;
    this.#hooks = options.hooks.map((hook) => ({
      ...hook,
      patterns: hook.tools.map(patternOf),
    }));
  }

  /** Why the call is refused; undefined if no hook refuses it. Stops at the first refusal. */
  async refusalOf(call: BrokerCall): Promise<string | undefined> {
    for (const hook of this.#matching(call, 'before')) {
      const event = eventOf(call, 'before');
      const answer = await this.#run(hook, event, JSON.stringify(event), call.signal);
      if (answer.decision === 'deny') return answer.reason;
    }
    return undefined;
  }

  /** Sends the outcome to the hooks. Nothing waits for them, and their answers have no effect. If too many outcomes wait, it is dropped. */
  tellOutcome(call: BrokerCall, outcome: BrokerOutcome, durationMs: number): void {
    const hooks = this.#matching(call, 'after');
    if (hooks.length === 0) return;
    const about = eventOf(call, 'after');
    const text = JSON.stringify({ ...about, outcome: outcomeOf(outcome, durationMs) } satisfies HookEvent);
    for (const hook of hooks) {
      if (!this.#hold(about, text.length)) {
        this.#options.warn(`${unheard(hook, about)}: too many outcomes of ${visibleLine(about.caller)} wait for it`);
        continue;
      }
      void this.#run({ ...hook, onFailure: 'allow' }, about, text, undefined).finally(() =>
        this.#hold(about, -text.length),
      );
    }
  }

  #hold({ caller }: HookEvent, bytes: number): boolean {
    const held = (this.#heldBytes.get(caller) ?? 0) + bytes;
    if (bytes > 0 && held > MAX_HELD_BYTES) return false;
    if (held === 0) this.#heldBytes.delete(caller);
    else this.#heldBytes.set(caller, held);
    return true;
  }

  #matching({ tool, serverPath }: BrokerCall, when: Hook['when']): PatternedHook[] {
    return this.#hooks.filter(
      (hook) => hook.when === when && hook.patterns.some((pattern) => fitsAnySpelling(pattern, tool, serverPath)),
    );
  }

  async #run(hook: Hook, event: HookEvent, text: string, ofCall: AbortSignal | undefined): Promise<HookDecision> {
    const timeout = AbortSignal.timeout(hook.timeoutMs);
    const signal = ofCall === undefined ? timeout : AbortSignal.any([timeout, ofCall]);
    try {
      const place = await this.#slotsOf(event).enter(signal);
      if (place.kind !== 'entered') throw new Error('too many calls wait for hooks');
      try {
        return await this.#send(hook, text, signal);
      } finally {
        place.leave();
        this.#dropIdle(event);
      }
    } catch (error) {
      const why = timeout.aborted ? `it gave no answer within ${hook.timeoutMs} ms` : messageOf(error);
      const message = `${unheard(hook, event)}: ${why}`;
      if (hook.onFailure === 'deny') return { decision: 'deny', reason: message };
      this.#options.warn(message);
      return { decision: 'allow' };
    }
  }

  #slotsOf(event: HookEvent): Slots {
    const key = keyOf(event);
    const slots = this.#slots.get(key) ?? new Slots(MAX_AT_ONCE);
    this.#slots.set(key, slots);
    return slots;
  }

  #dropIdle(event: HookEvent): void {
    const key = keyOf(event);
    if (this.#slots.get(key)?.isIdle === true) this.#slots.delete(key);
  }

  async #send({ target }: Hook, event: string, signal: AbortSignal): Promise<HookDecision> {
    if (target.kind === 'http') {
      const { runHttpHook } = await import('./http-hook.js');
      return runHttpHook(target, event, signal);
    }
    const { runCommandHook } = await import('./command-hook.js');
    return runCommandHook(target, event, this.#options, signal);
  }
}

function unheard(hook: Hook, { server, tool }: HookEvent): string {
  return `the hook ${nameOf(hook)} failed for ${server}/${tool}`;
}

function keyOf({ event, caller }: HookEvent): string {
  return `${event} ${caller}`;
}

function patternOf(text: string): ToolPattern {
  const pattern = readToolPattern(text);
  if (pattern === undefined) throw new HostError('bad_config', `hooks: expected ${TOOL_PATTERN_EXAMPLE}, not ${text}`);
  return pattern;
}

function eventOf({ run, number, tool, input }: BrokerCall, event: Hook['when']): HookEvent {
  return {
    event,
    runId: run.runId,
    callId: `${run.runId}/${number}`,
    ...omitUndefined({ parentId: ifDefined(run.parentCall, (parentCall) => `${run.runId}/${parentCall}`) }),
    caller: run.caller,
    profile: run.profile,
    server: tool.serverId,
    tool: tool.name,
    arguments: isJsonObject(input) ? input : omitUndefined({ input }),
  };
}

function outcomeOf(outcome: BrokerOutcome, durationMs: number): HookOutcome {
  const rounded = Math.round(durationMs);
  if (!outcome.ok) return { ok: false, durationMs: rounded, error: outcome.error.message };
  const { structuredContent, content } = outcome.reply;
  return { ok: true, durationMs: rounded, result: (structuredContent ?? content) as JsonValue };
}

/** Agents read this name. So it has no folders of the user, no arguments and no full URL, which may hold a secret. */
function nameOf({ target }: Hook): string {
  return visibleLine(target.kind === 'command' ? basename(target.command) : new URL(target.url).host);
}

function messageOf(error: unknown): string {
  return visibleLine(error instanceof Error ? error.message : String(error));
}
