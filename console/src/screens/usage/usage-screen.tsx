import type { ComponentChildren } from 'preact';
import type { UsageDay, UsageReport, UsageServer } from '../../../../src/domain/console/usage.js';
import { request } from '../../api/request.js';
import { useResource } from '../../api/use-resource.js';
import { bytes, count, counted, duration, percent } from '../../lib/format.js';
import { place, setOptions } from '../../lib/router.js';
import { useStore } from '../../lib/store.js';
import { BarChart } from '../../ui/charts.js';
import { Foreign } from '../../ui/foreign.js';
import { Empty, Loading, PageHead, Panel, Problem, Tabs } from '../../ui/parts.js';
import type { ScreenProps } from '../screen-props.js';

const RANGES = ['7', '30', '90'] as const;

/** Tokens that programs saved compared with direct calls, how long tools take, and what fails. */
export function UsageScreen(_: ScreenProps) {
  const { options } = useStore(place);
  const days = RANGES.find((each) => each === options.get('days')) ?? '30';
  const usage = useResource(days, (signal) => request<UsageReport>('usage', { query: { days }, signal }));
  return (
    <>
      <PageHead title="Usage" lead="What programs saved, how fast tools answer, and what fails.">
        <Tabs
          label="Days"
          tabs={RANGES.map((each) => [each, `${each} days`] as const)}
          chosen={days}
          onChoose={(next) => setOptions({ days: next })}
        />
      </PageHead>
      {usage.error !== undefined && <Problem error={usage.error} retry={usage.reload} />}
      {usage.data === undefined ? (
        usage.error === undefined && <Loading what="usage" />
      ) : (
        <Report report={usage.data} dayCount={Number(days)} />
      )}
    </>
  );
}

function Report({ report, dayCount }: { report: UsageReport; dayCount: number }) {
  const sum = (read: (day: UsageReport['days'][number]) => number) =>
    report.days.reduce((total, day) => total + read(day), 0);
  const answered = sum((day) => day.answerTokens);
  const read = sum((day) => day.readTokens);
  const { definitions, told, tools } = report.context;
  return (
    <div class="stack">
      <div class="tiles">
        <Tile name="Tokens saved on answers" value={signed(answered - read)} isGood={answered > read}>
          {answered === 0 && read === 0 ? 'No run has ended yet' : comparison(answered, read)}
        </Tile>
        <Tile name="Model turns saved" value={count(sum((day) => day.savedTurns))}>
          {counted(
            sum((day) => day.runCalls),
            'call',
          )}{' '}
          in{' '}
          {counted(
            sum((day) => day.runs),
            'run',
          )}{' '}
          that ended
        </Tile>
        <Tile name="Tokens before the first program" value={count(told)}>
          {tools === 0 ? 'No tools yet' : `instead of ${count(definitions)} for ${counted(tools, 'tool definition')}`}
        </Tile>
        <Tile
          name="Calls that failed"
          value={percent(
            sum((day) => day.errors),
            sum((day) => day.calls),
          )}
        >
          {count(sum((day) => day.errors))} of {count(sum((day) => day.calls))}
        </Tile>
      </div>
      {report.ownCalls > 0 && (
        <p class="muted small">
          Left out: {counted(report.ownCalls, 'call')} of codemode doctor, measure and demo, which no agent made.
        </p>
      )}
      {report.days.length === 0 ? (
        <div class="panel">
          <Empty icon="usage" title={`No calls in the last ${dayCount} days`}>
            <p>
              <a href="#/playground">Write a program</a> and run it, or <a href="#/connect">set up a client</a>.
            </p>
          </Empty>
        </div>
      ) : (
        <div class="run-columns">
          <Panel title="Tokens that the model reads, by day">
            <BarChart
              title="Tokens that the model reads, by day"
              series={['Direct calls', 'Programs']}
              bars={daysIn(report, dayCount).map(({ day, answerTokens = 0, readTokens = 0 }) => ({
                label: day,
                values: [answerTokens, readTokens],
              }))}
            />
          </Panel>
          <Panel title="Calls, by day">
            <BarChart
              title="Calls, by day"
              series={['Calls', 'Runs', 'Failed calls']}
              bars={daysIn(report, dayCount).map(({ day, calls = 0, runs = 0, errors = 0 }) => ({
                label: day,
                values: [calls, runs, errors],
              }))}
            />
          </Panel>
        </div>
      )}
      {report.servers.length > 0 && <Servers servers={report.servers} />}
      <p class="muted small">
        <Foreign text={report.method} limit={1_000} lines />
        {report.isCut && ' There were more calls than were read.'}
      </p>
    </div>
  );
}

function signed(value: number): string {
  return value < 0 ? `−${count(-value)}` : count(value);
}

/** If the tools' answers were shorter than the program's own answer, says so. */
function comparison(answered: number, read: number): string {
  const direct = `${count(answered)} with direct calls`;
  if (read <= answered) return `${percent(answered - read, answered)} fewer: ${count(read)} with programs, ${direct}`;
  return `${count(read)} with programs, ${direct}`;
}

/** Every day of the range, including days without calls: a gap in the work is a gap in the chart. */
function daysIn({ days }: UsageReport, dayCount: number): readonly (Partial<UsageDay> & Pick<UsageDay, 'day'>)[] {
  const byDay = new Map(days.map((each) => [each.day, each]));
  const today = Date.now();
  const ageInDays = Math.ceil((today - Date.parse(days[0]?.day ?? '')) / DAY_MS);
  // Days before the first call are not shown: new users would see an empty chart.
  const length = Math.min(dayCount, Math.max(SHORTEST_DAYS, ageInDays || 0));
  return Array.from({ length }, (_, index) => {
    const day = new Date(today - (length - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    return byDay.get(day) ?? { day };
  });
}

const DAY_MS = 86_400_000;
const SHORTEST_DAYS = 7;

function Tile({
  name,
  value,
  isGood = false,
  children,
}: {
  name: string;
  value: string;
  isGood?: boolean;
  children: ComponentChildren;
}) {
  return (
    <div class="panel tile">
      <span class="small muted">{name}</span>
      <span class={`tile-value num ${isGood ? 'tone-good' : ''}`}>{value}</span>
      <span class="small muted">{children}</span>
    </div>
  );
}

function Servers({ servers }: { servers: readonly UsageServer[] }) {
  const slowest = Math.max(1, ...servers.map(({ p95Ms }) => p95Ms));
  return (
    <Panel title="By server" flush>
      <div class="table-wrap">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Server</th>
              <th scope="col" class="end">
                Calls
              </th>
              <th scope="col" class="end">
                Failed
              </th>
              <th scope="col">Latency: median, 95th percentile</th>
              <th scope="col" class="end">
                Answers
              </th>
              <th scope="col">Outcomes</th>
            </tr>
          </thead>
          <tbody>
            {servers.map((server) => (
              <tr key={server.serverId}>
                <td class="mono strong">
                  <Foreign text={server.serverId} limit={80} />
                </td>
                <td class="num end">{count(server.calls)}</td>
                <td class={`num end ${server.errors > 0 ? 'tone-bad' : ''}`}>{count(server.errors)}</td>
                <td>
                  <span class="latency">
                    <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                      <rect class="fill-soft" x="0" y="2" width={(server.p95Ms / slowest) * 100} height="6" />
                      <rect class="fill-1" x="0" y="2" width={(server.p50Ms / slowest) * 100} height="6" />
                    </svg>
                    <span class="num small nowrap">
                      {duration(server.p50Ms)}, {duration(server.p95Ms)}
                    </span>
                  </span>
                </td>
                <td class="num end">{bytes(server.resultBytes)}</td>
                <td class="small">
                  {Object.entries(server.byVerdict)
                    .map(([verdict, times]) => `${count(times)} ${verdict.replace('_', ' ')}`)
                    .join(', ')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
