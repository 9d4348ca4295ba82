import { useRef, useState } from 'preact/hooks';
import type { RunItem, RunPage } from '../../../../src/domain/console/runs.js';
import type { ProfileName } from '../../../../src/domain/profile-name.js';
import type { RunState } from '../../../../src/domain/run.js';
import { omitUndefined } from '../../../../src/lib/omit-undefined.js';
import { request } from '../../api/request.js';
import { usePages } from '../../api/use-pages.js';
import { callerLabel } from '../../lib/caller-label.js';
import { count, counted, duration, shortId, time } from '../../lib/format.js';
import { useKeys } from '../../lib/keys.js';
import { goTo, linkTo, place, setOptions } from '../../lib/router.js';
import { useStore } from '../../lib/store.js';
import { useLate } from '../../lib/use-late.js';
import { useMedia } from '../../lib/use-media.js';
import { ForeignLine, foreignLabel } from '../../ui/foreign.js';
import { Empty, Loading, OwnMark, PageHead, Problem, RunBadge, SAVED_TITLE, SavedTokens } from '../../ui/parts.js';
import { say } from '../../ui/toasts.js';
import { VirtualList } from '../../ui/virtual-list.js';
import { openFile } from '../run/opened-file.js';

const PAGE = 100;
const TYPING_MS = 180;
const ROW = 56;
/** Height of a row with three lines. */
const NARROW_ROW = 84;
const NARROW = '(max-width: 860px)';
const STATES: readonly RunState[] = ['queued', 'running', 'suspended', 'succeeded', 'failed', 'cancelled'];
const SINCE = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;
/** Only types are imported from the host: a contract that is missing here does not compile. */
const PROFILES = Object.keys({
  codemode: true,
  unified: true,
  code_execution: true,
  runner: true,
  go: true,
} satisfies Record<ProfileName, true>);

const FILTERS = ['text', 'state', 'profile', 'caller', 'since'] as const;

/** Every run in this state folder, newest first. */
export function RunsScreen() {
  const { options } = useStore(place);
  const filters = Object.fromEntries(FILTERS.map((name) => [name, options.get(name) ?? ''])) as Record<
    (typeof FILTERS)[number],
    string
  >;
  // A search reads thousands of runs: it starts when the person stops typing.
  const searched = { ...filters, text: useLate(filters.text, TYPING_MS) };
  const compare = options.get('compare') ?? undefined;
  const isFiltered = FILTERS.some((name) => filters[name] !== '');
  const pages = usePages<RunItem>(
    JSON.stringify(searched),
    async (cursor, signal) => {
      const { since, ...query } = searched;
      const ageMs = SINCE[since as keyof typeof SINCE];
      const sinceMs = ageMs === undefined ? undefined : Date.now() - ageMs;
      const page = await request<RunPage>('runs', { query: { ...query, sinceMs, limit: PAGE, cursor }, signal });
      return { items: page.runs, ...omitUndefined({ cursor: page.cursor }) };
    },
    (event, change) => {
      if (event.type !== 'runs') return false;
      if (isFiltered || event.hasMore) return true;
      change((items) => mergeRuns(items, event.runs));
      return false;
    },
  );
  const rowHeight = useMedia(NARROW) ? NARROW_ROW : ROW;
  const [active, setActive] = useState(-1);
  const go = (run: RunItem | undefined) => {
    if (run === undefined) return;
    if (compare === undefined) goTo(['runs', run.runId]);
    else goTo(['runs', 'compare', compare, run.runId]);
  };
  const move = (step: number) => {
    const next = Math.min(pages.items.length - 1, Math.max(0, active + step));
    setActive(next);
    requestAnimationFrame(() =>
      document.getElementById(`run-${pages.items[next]?.runId}`)?.focus({ preventScroll: true }),
    );
  };
  useKeys([
    { key: 'j', label: 'Next run', run: () => move(1) },
    { key: 'k', label: 'Previous run', run: () => move(-1) },
    { key: 'o', label: 'Open the run', run: () => go(pages.items[active]) },
  ]);
  const setFilter = (name: string, value: string) => setOptions({ ...filters, compare, [name]: value });

  return (
    <>
      <PageHead title="Runs" lead="Every program that ran, newest first.">
        <OpenFileButton />
      </PageHead>
      {compare !== undefined && (
        <div class="note row spread">
          <span>
            Choose the run to compare with <code>{foreignLabel(compare.slice(0, 8))}</code>.
          </span>
          <a class="button small" href={linkTo(['runs'])}>
            Stop comparing
          </a>
        </div>
      )}
      <fieldset class="filters" aria-label="Filters">
        <label class="field grow">
          <span>Search</span>
          <input
            class="input"
            type="search"
            placeholder="Title, id or caller ( / )"
            value={filters.text}
            onInput={(event) => setFilter('text', event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>State</span>
          <select
            class="input"
            value={filters.state}
            onChange={(event) => setFilter('state', event.currentTarget.value)}
          >
            <option value="">Any</option>
            {STATES.map((state) => (
              <option key={state} value={state}>
                {state}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Profile</span>
          <select
            class="input"
            value={filters.profile}
            onChange={(event) => setFilter('profile', event.currentTarget.value)}
          >
            <option value="">Any</option>
            {PROFILES.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Caller</span>
          <input
            class="input narrow"
            placeholder="Any"
            list="callers"
            value={filters.caller}
            onChange={(event) => setFilter('caller', event.currentTarget.value)}
          />
          <datalist id="callers">
            {[...new Set(pages.items.map(({ caller }) => caller))].slice(0, 50).map((caller) => (
              <option key={caller} value={foreignLabel(caller)} />
            ))}
          </datalist>
        </label>
        <label class="field">
          <span>Started</span>
          <select
            class="input"
            value={filters.since}
            onChange={(event) => setFilter('since', event.currentTarget.value)}
          >
            <option value="">Any time</option>
            <option value="hour">Last hour</option>
            <option value="day">Last 24 hours</option>
            <option value="week">Last 7 days</option>
          </select>
        </label>
      </fieldset>
      {pages.error !== undefined && <Problem error={pages.error} retry={pages.reload} />}
      {pages.items.length === 0 ? (
        pages.isLoading ? (
          <Loading what="runs" />
        ) : (
          <NoRuns isFiltered={isFiltered} />
        )
      ) : (
        <section class="panel runs" aria-label="Runs">
          <div class="run-row run-head" aria-hidden="true">
            <span>State</span>
            <span>Program</span>
            <span>Caller, profile</span>
            <span class="end run-figure">Calls</span>
            <span class="end run-figure" title={SAVED_TITLE}>
              Tokens saved
            </span>
            <span class="end">Duration</span>
            <span class="end">Started</span>
          </div>
          <VirtualList
            label="Runs"
            count={pages.items.length}
            rowHeight={rowHeight}
            height={`min(${pages.items.length * rowHeight}px, max(320px, calc(100vh - 260px)))`}
            active={active}
            onNearEnd={pages.loadMore}
            row={(index) => {
              const run = pages.items[index];
              if (run === undefined) return null;
              const href =
                compare === undefined ? linkTo(['runs', run.runId]) : linkTo(['runs', 'compare', compare, run.runId]);
              return <Row run={run} href={href} />;
            }}
          />
        </section>
      )}
    </>
  );
}

function Row({ run, href }: { run: RunItem; href: string }) {
  return (
    <a class="run-row" id={`run-${run.runId}`} href={href}>
      <span class="run-state">
        <RunBadge state={run.state} />
      </span>
      <span class="run-title">
        <span class="strong clip">
          <ForeignLine text={run.title ?? 'No title'} limit={160} />
        </span>
        <span class="small muted clip">
          <Second run={run} />
        </span>
      </span>
      <span class="run-caller run-side">
        <span class="clip" title={foreignLabel(run.caller)}>
          {foreignLabel(callerLabel(run.caller), 60)} {run.isOwn === true && <OwnMark />}
        </span>
        <span class="clip small muted">
          <ForeignLine text={run.profile} limit={40} />
        </span>
      </span>
      <span class="num end run-side run-figure">
        {run.toolCalls === undefined ? '–' : count(run.toolCalls)}
        <span class="sr-only"> calls</span>
      </span>
      <span class="num end run-side run-figure">
        <SavedTokens tokens={run.savedTokens} />
        <span class="sr-only"> tokens saved</span>
      </span>
      <span class="num end run-side">{durationOf(run)}</span>
      <span class="num end muted">{time(run.createdAtMs)}</span>
    </a>
  );
}

/** Below the title: what the run waits for, or why it failed. Otherwise its id and, if they have no columns, its figures. */
function Second({ run: { pendingApprovals, problem, runId, toolCalls, savedTokens } }: { run: RunItem }) {
  if (pendingApprovals > 0) {
    return (
      <span class="tone-wait">
        {pendingApprovals === 1 ? '1 call waits' : `${pendingApprovals} calls wait`} for a decision
      </span>
    );
  }
  if (problem !== undefined) {
    return (
      <span class="run-problem">
        <ForeignLine text={problem} limit={200} />
      </span>
    );
  }
  return (
    <>
      <span class="mono run-id">{foreignLabel(runId, 60)}</span>
      <span class="run-figures">
        {toolCalls === undefined ? (
          shortId(foreignLabel(runId, 60))
        ) : (
          <>
            {counted(toolCalls, 'call')}, <SavedTokens tokens={savedTokens} /> tokens saved
          </>
        )}
      </span>
    </>
  );
}

/** A run that is not over has no duration: the time it waits does not count. */
function durationOf({ state, durationMs, updatedAtMs, createdAtMs }: RunItem): string {
  if (durationMs !== undefined) return duration(durationMs);
  return state === 'cancelled' ? duration(updatedAtMs - createdAtMs) : '–';
}

function NoRuns({ isFiltered }: { isFiltered: boolean }) {
  return (
    <div class="panel">
      {isFiltered ? (
        <Empty icon="runs" title="No run matches">
          <p>Change the filters, or remove them.</p>
          <a class="button" href={linkTo(['runs'])}>
            Remove the filters
          </a>
        </Empty>
      ) : (
        <Empty icon="runs" title="No runs yet">
          <p>
            A run appears here as soon as an agent sends a program. <a href="#/connect">Set up a client</a>, or{' '}
            <a href="#/playground">write a program</a> yourself.
          </p>
        </Empty>
      )}
    </div>
  );
}

function OpenFileButton() {
  const input = useRef<HTMLInputElement>(null);
  const open = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      await openFile(file);
      goTo(['runs', 'file']);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), 'bad');
    }
    if (input.current !== null) input.current.value = '';
  };
  return (
    <>
      <input
        ref={input}
        class="sr-only"
        type="file"
        accept=".json,application/json"
        aria-label="Exported run"
        tabIndex={-1}
        onChange={(event) => void open(event.currentTarget.files?.[0])}
      />
      <button type="button" class="button" onClick={() => input.current?.click()}>
        Open a file
      </button>
    </>
  );
}

/** Updates changed runs in place, and puts new runs on top. */
export function mergeRuns(items: readonly RunItem[], changed: readonly RunItem[]): readonly RunItem[] {
  const byId = new Map(changed.map((run) => [run.runId, run]));
  const known = new Set(items.map(({ runId }) => runId));
  const added = changed.filter(({ runId }) => !known.has(runId)).sort((a, b) => b.createdAtMs - a.createdAtMs);
  const kept = items.map((run) => byId.get(run.runId) ?? run);
  const newest = kept[0]?.createdAtMs ?? 0;
  // A run that was created before the newest in the list belongs further down, perhaps on a page that is not loaded.
  const above = added.filter(({ createdAtMs }) => createdAtMs >= newest);
  return [...above, ...kept];
}
