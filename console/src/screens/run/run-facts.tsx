import type { RunDetail } from '../../../../src/domain/console/runs.js';
import { callerLabel } from '../../lib/caller-label.js';
import { bytes, count, duration, time } from '../../lib/format.js';
import { Foreign, foreignLabel } from '../../ui/foreign.js';
import { Facts, SAVED_TITLE, SavedTokens } from '../../ui/parts.js';

const ENGINE_NAMES: Readonly<Record<string, string>> = { quickjs: 'QuickJS', v8: 'V8' };

/** Caller, times, duration and engine of a run. */
export function RunFacts({ run }: { run: RunDetail }) {
  const { engine, usage } = run;
  const limit = (name: string, show: (value: number) => string) => {
    const value = run.limits?.[name];
    return typeof value === 'number' ? <span class="muted"> of {show(value)}</span> : null;
  };
  return (
    <div class="panel panel-body">
      <Facts
        isStrip
        facts={[
          [
            'Caller',
            <span key="caller" title={foreignLabel(run.caller)}>
              {foreignLabel(callerLabel(run.caller), 80)}
            </span>,
          ],
          ['Profile', <Foreign key="profile" text={run.profile} limit={40} />],
          ['Started', time(run.createdAtMs)],
          run.durationMs === undefined
            ? undefined
            : [
                'Duration',
                <>
                  {duration(run.durationMs)}
                  {limit('timeoutMs', duration)}
                </>,
              ],
          [
            'Calls',
            <>
              {count(run.callCount)}
              {limit('maxToolCalls', count)}
            </>,
          ],
          run.savedTokens === undefined
            ? undefined
            : [
                'Tokens saved',
                <span key="saved" title={SAVED_TITLE}>
                  <SavedTokens tokens={run.savedTokens} />
                </span>,
              ],
          usage?.cpuMs === undefined ? undefined : ['CPU', duration(usage.cpuMs)],
          usage?.memoryBytes === undefined
            ? undefined
            : [
                'Memory',
                <>
                  {bytes(usage.memoryBytes)}
                  {limit('maxMemoryBytes', bytes)}
                </>,
              ],
          engine === undefined
            ? undefined
            : ['Engine', <Foreign key="engine" text={ENGINE_NAMES[engine.name] ?? engine.name} limit={60} />],
          engine === undefined
            ? undefined
            : ['Isolation', <Foreign key="isolation" text={engine.isolation} limit={80} />],
        ]}
      />
    </div>
  );
}
