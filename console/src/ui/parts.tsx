import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Decision } from '../../../src/domain/policy.js';
import type { RunState } from '../../../src/domain/run.js';
import { messageOf, RequestError } from '../api/request.js';
import { count, sentence } from '../lib/format.js';
import { Foreign } from './foreign.js';
import { Icon, type IconName } from './icons.js';
import { say } from './toasts.js';

export type Tone = 'good' | 'bad' | 'wait' | 'live' | 'info' | 'calm';

export function Badge({ tone = 'calm', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

const RUN_TONES: Readonly<Record<RunState, Tone>> = {
  queued: 'calm',
  running: 'live',
  suspended: 'wait',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'calm',
};

export function RunBadge({ state }: { state: RunState }) {
  return <Badge tone={RUN_TONES[state]}>{state}</Badge>;
}

export const SAVED_TITLE =
  'What tools answered, less what the run answered: a model that calls the tools itself reads it all';

/** Shows losses too: a run whose response is larger than its tools' answers has saved nothing. */
export function SavedTokens({ tokens }: { tokens: number | undefined }) {
  if (tokens === undefined) return <>–</>;
  return <span class={tokens > 0 ? 'tone-good' : 'muted'}>{tokens < 0 ? `−${count(-tokens)}` : count(tokens)}</span>;
}

/** Marks runs of codemode itself: no agent made them, and no figure counts them. */
export function OwnMark() {
  return (
    <span class="badge own" title="Codemode ran it itself, to check or to measure: it is left out of Usage">
      own check
    </span>
  );
}

const DECISION_TONES: Readonly<Record<Decision, Tone>> = { allow: 'good', ask: 'wait', deny: 'bad' };

export function DecisionBadge({ decision }: { decision: Decision }) {
  return <Badge tone={DECISION_TONES[decision]}>{decision}</Badge>;
}

export function PageHead({
  title,
  lead,
  children,
}: {
  title: ComponentChildren;
  lead?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <header class="page-head">
      <div class="grow">
        <h1>{title}</h1>
        {lead !== undefined && <p>{lead}</p>}
      </div>
      {children !== undefined && <div class="row">{children}</div>}
    </header>
  );
}

export function Panel({
  title,
  actions,
  children,
  flush = false,
  class: extra = '',
}: {
  title?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
  flush?: boolean;
  class?: string;
}) {
  return (
    <section class={`panel ${extra}`}>
      {title !== undefined && (
        <div class="panel-head">
          <h2>{title}</h2>
          {actions !== undefined && <div class="row">{actions}</div>}
        </div>
      )}
      {flush ? children : <div class="panel-body">{children}</div>}
    </section>
  );
}

/** The empty state of a list: why it is empty, and what to do. */
export function Empty({ icon, title, children }: { icon: IconName; title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A text to type or paste, with a copy button. */
export function Command({ text, label = 'Copy' }: { text: string; label?: string }) {
  return (
    <div class="command">
      <pre>{text}</pre>
      <CopyButton text={text} label={label} />
    </div>
  );
}

/** A sentence that may end with a command: the command is not broken at its hyphens. */
export function Advice({ text }: { text: string }) {
  const [, words = text, command] = /^(.*: )(codemode [\w -]*\w)\.?$/s.exec(text) ?? [];
  return (
    <>
      <Foreign text={words} lines />
      {command !== undefined && <code class="nowrap">{command}</code>}
    </>
  );
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say('Copied.');
    } catch {
      say('The browser did not allow copying. Select the text instead.', 'bad');
    }
  };
  return (
    <button type="button" class="button small quiet" onClick={() => void copy()}>
      {label}
    </button>
  );
}

/** A failed request: the host's message, and a retry button. */
export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  if (error === undefined) return null;
  const isLost = error instanceof RequestError && error.code === 'unreachable';
  return (
    <div class="note bad row spread" role="alert">
      <span>
        <Advice text={sentence(messageOf(error))} />
      </span>
      {retry !== undefined && (
        <button type="button" class="button small" onClick={retry}>
          {isLost ? 'Connect again' : 'Try again'}
        </button>
      )}
    </div>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <div class="empty" role="status">
      <span class="spin" aria-hidden="true" />
      <span class="muted">Loading {what}</span>
    </div>
  );
}

/** A button that shows that its action is in progress, and what went wrong. */
export function ActionButton({
  run,
  class: extra = '',
  children,
  disabled = false,
  title,
  label,
  isDefault = false,
}: {
  run: () => Promise<unknown>;
  class?: string;
  children: ComponentChildren;
  disabled?: boolean;
  title?: string;
  /** For screen readers, where several buttons have the same text. */
  label?: string;
  /** Enter in a field of the form presses it too. */
  isDefault?: boolean;
}) {
  const [isBusy, setBusy] = useState(false);
  const isShown = useRef(true);
  const isRunning = useRef(false);
  useEffect(
    () => () => {
      isShown.current = false;
    },
    [],
  );
  const press = async () => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    try {
      await run();
    } catch (error) {
      say(messageOf(error), 'bad');
    }
    isRunning.current = false;
    if (isShown.current) setBusy(false);
  };
  return (
    <button
      type={isDefault ? 'submit' : 'button'}
      class={`button ${extra}`}
      disabled={disabled}
      // Not `disabled`: a button that is disabled loses the focus.
      aria-disabled={isBusy}
      title={title}
      aria-label={label}
      onClick={() => void press()}
    >
      {isBusy && <span class="spin" aria-hidden="true" />}
      {children}
    </button>
  );
}

export function Tabs<T extends string>({
  label,
  tabs,
  chosen,
  onChoose,
}: {
  label: string;
  tabs: readonly (readonly [T, string])[];
  chosen: T;
  onChoose: (tab: T) => void;
}) {
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const index = tabs.findIndex(([id]) => id === chosen);
    const next = tabs[(index + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    onChoose(next[0]);
    const list = event.currentTarget as HTMLElement;
    requestAnimationFrame(() => list.querySelector<HTMLElement>('[aria-selected="true"]')?.focus());
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKey}>
      {tabs.map(([id, name]) => (
        <button
          key={id}
          type="button"
          role="tab"
          aria-selected={id === chosen}
          tabIndex={id === chosen ? 0 : -1}
          onClick={() => onChoose(id)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

export function Facts({
  facts,
  isStrip = false,
}: {
  facts: readonly (readonly [string, ComponentChildren] | undefined)[];
  /** Packed by content width instead of in columns, if there is room. */
  isStrip?: boolean;
}) {
  return (
    <dl class={`facts ${isStrip ? 'strip' : ''}`}>
      {facts.map(
        (fact) =>
          fact !== undefined && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
