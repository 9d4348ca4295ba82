import { useEffect, useRef, useState } from 'preact/hooks';
import type { AuditRecord } from '../../../../src/domain/audit.js';
import type { AuditPage } from '../../../../src/domain/console/audit.js';
import { ifDefined, omitUndefined } from '../../../../src/lib/omit-undefined.js';
import { download, request } from '../../api/request.js';
import { usePages } from '../../api/use-pages.js';
import { callerLabel } from '../../lib/caller-label.js';
import { bytes, duration, time } from '../../lib/format.js';
import { useKeys } from '../../lib/keys.js';
import { linkTo, place, setOptions } from '../../lib/router.js';
import { runLink } from '../../lib/run-link.js';
import { useStore } from '../../lib/store.js';
import { ForeignLine, foreignLabel } from '../../ui/foreign.js';
import { JsonTree } from '../../ui/json-tree.js';
import { ActionButton, Badge, Empty, Loading, OwnMark, PageHead, Panel, Problem } from '../../ui/parts.js';
import { VirtualList } from '../../ui/virtual-list.js';
import type { ScreenProps } from '../screen-props.js';
import { ChainCheck } from './chain-check.js';

const PAGE = 200;
const ROW = 40;
const FILTERS = ['runId', 'serverId', 'toolName'] as const;
const LABELS = { runId: 'Run', serverId: 'Server', toolName: 'Tool' } as const;

/** Every call and every decision, in the order of the chain. */
export function AuditScreen(_: ScreenProps) {
  const { options } = useStore(place);
  const filters = Object.fromEntries(FILTERS.map((name) => [name, options.get(name) ?? '']));
  const [isOff, setOff] = useState(false);
  const [ownCallers, setOwnCallers] = useState<readonly string[]>([]);
  const [chosen, setChosen] = useState<AuditRecord>();
  const pages = usePages<AuditRecord>(
    JSON.stringify(filters),
    async (cursor, signal) => {
      const query = { ...filters, before: cursor, limit: PAGE };
      const page = await request<AuditPage>('audit', { query, signal });
      setOff(page.isOff === true);
      setOwnCallers(page.ownCallers);
      return { items: page.records, ...omitUndefined({ cursor: ifDefined(page.before, String) }) };
    },
    (event) => event.type === 'audit',
  );
  const index = pages.items.findIndex(({ number }) => number === chosen?.number);
  const move = (step: number) => setChosen(pages.items[Math.max(0, Math.min(pages.items.length - 1, index + step))]);
  useKeys([
    { key: 'j', label: 'Next record', run: () => move(1) },
    { key: 'k', label: 'Previous record', run: () => move(-1) },
  ]);
  const isFiltered = Object.values(filters).some((value) => value !== '');
  return (
    <>
      <PageHead
        title="Audit"
        lead="Every call and every decision. Each record contains the hash of the one before it; arguments and results are not in the log."
      >
        <ActionButton run={() => download('exportAudit', { query: filters }, 'codemode-audit.jsonl')}>
          Export
        </ActionButton>
      </PageHead>
      <div class="stack">
        <ChainCheck />
        <fieldset class="filters even" aria-label="Filters">
          {FILTERS.map((name) => (
            <label key={name} class="field grow">
              <span>{LABELS[name]}</span>
              <input
                class="input"
                type="search"
                placeholder="Any"
                value={filters[name]}
                onChange={(event) => setOptions({ ...filters, [name]: event.currentTarget.value.trim() })}
              />
            </label>
          ))}
        </fieldset>
        {pages.error !== undefined && <Problem error={pages.error} retry={pages.reload} />}
        {isOff && (
          <p class="note wait">The audit log is switched off in the configuration: new calls are not recorded.</p>
        )}
        {pages.items.length === 0 ? (
          pages.isLoading ? (
            <Loading what="records" />
          ) : (
            <div class="panel">
              <Empty icon="audit" title={isFiltered ? 'No record matches' : 'No records yet'}>
                {isFiltered ? (
                  <p>Change the filters.</p>
                ) : (
                  <p>
                    The first call of a program appears here. <a href="#/playground">Write a program</a>, or{' '}
                    <a href="#/connect">set up a client</a>.
                  </p>
                )}
              </Empty>
            </div>
          )
        ) : (
          <div class={chosen === undefined ? '' : 'audit-split'}>
            <section class="panel audit" aria-label="Records">
              <div class="audit-row audit-head" aria-hidden="true">
                <span>No.</span>
                <span>Time</span>
                <span>Verdict</span>
                <span>Tool</span>
                <span class="audit-side">Caller</span>
                <span class="end audit-side">Duration</span>
                <span class="end audit-side">Answer</span>
              </div>
              <VirtualList
                label="Records"
                count={pages.items.length}
                rowHeight={ROW}
                height={`min(${pages.items.length * ROW}px, max(280px, calc(100vh - 340px)))`}
                active={index}
                onNearEnd={pages.loadMore}
                row={(index) => {
                  const record = pages.items[index];
                  return (
                    record !== undefined && (
                      <Row
                        record={record}
                        isOwn={ownCallers.includes(record.caller)}
                        isChosen={record.number === chosen?.number}
                        onChoose={() => setChosen(record)}
                      />
                    )
                  );
                }}
              />
            </section>
            {chosen !== undefined && <Record record={chosen} />}
          </div>
        )}
      </div>
    </>
  );
}

/** The verdict; for a decision, what was decided. */
function wordsOf({ verdict, approval }: AuditRecord): string {
  return verdict === 'decided' ? approval.state.toLowerCase() : verdict.replace('_', ' ');
}

function toneOf({ verdict }: AuditRecord): 'good' | 'bad' | 'wait' | 'calm' {
  if (verdict === 'ok') return 'good';
  if (verdict === 'pending' || verdict === 'limited') return 'wait';
  return verdict === 'sent' || verdict === 'decided' || verdict === 'output' ? 'calm' : 'bad';
}

function Row({
  record,
  isOwn,
  isChosen,
  onChoose,
}: {
  record: AuditRecord;
  isOwn: boolean;
  isChosen: boolean;
  onChoose: () => void;
}) {
  return (
    <button type="button" class={`audit-row ${isChosen ? 'selected' : ''}`} aria-pressed={isChosen} onClick={onChoose}>
      <span class="num muted">{record.number}</span>
      <span class="num clip">{time(record.atMs)}</span>
      <span>
        <Badge tone={toneOf(record)}>{wordsOf(record)}</Badge>
      </span>
      <span class="mono clip">
        <ForeignLine text={`${record.serverId}/${record.toolName}`} limit={100} />
      </span>
      <span class="clip audit-side" title={foreignLabel(record.caller)}>
        {foreignLabel(callerLabel(record.caller), 60)}
        {isOwn && <OwnMark />}
      </span>
      <span class="num end audit-side">{duration(record.durationMs)}</span>
      <span class="num end audit-side">{record.resultBytes === null ? '' : bytes(record.resultBytes)}</span>
    </button>
  );
}

function Record({ record }: { record: AuditRecord }) {
  const box = useRef<HTMLDivElement>(null);
  // If there is room for only one column, the record is below the list and would not be seen.
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [record.number]);
  return (
    <div ref={box}>
      <Panel
        title={`Record ${record.number}`}
        actions={
          <>
            <a class="button small" href={runLink(record.runId)}>
              Open the run
            </a>
            <a class="button small" href={linkTo(['audit'], { runId: record.runId })}>
              Records of this run
            </a>
          </>
        }
      >
        <p class="sr-only">{foreignLabel(record.toolName)}</p>
        <JsonTree value={JSON.parse(JSON.stringify(record))} label={`Record ${record.number}`} open={2} />
      </Panel>
    </div>
  );
}
