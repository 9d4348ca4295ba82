import type { ScriptDetail, ScriptItem } from '../../../../src/domain/console/scripts.js';
import type { JsonObject, JsonValue } from '../../../../src/domain/json.js';
import { request } from '../../api/request.js';
import { useResource } from '../../api/use-resource.js';
import { callerLabel } from '../../lib/caller-label.js';
import { time } from '../../lib/format.js';
import { linkTo } from '../../lib/router.js';
import { CodeView } from '../../ui/code-view.js';
import { Foreign, ForeignLine, foreignLabel } from '../../ui/foreign.js';
import { Badge, Empty, Facts, Loading, Panel, Problem } from '../../ui/parts.js';
import { KEPT_PLACE } from './server-list.js';
import { UseOfProgram } from './use-of-program.js';

/** The programs that were kept as tools, and one of them in full. */
export function KeptPrograms({
  programs,
  error,
  chosen,
}: {
  programs: readonly ScriptItem[] | undefined;
  error: unknown;
  chosen: string | undefined;
}) {
  if (programs === undefined) return error === undefined ? <Loading what="kept programs" /> : <Problem error={error} />;
  if (programs.length === 0) {
    return (
      <div class="panel whole">
        <Empty icon="tools" title="No programs are kept yet">
          <p>
            A program that worked can become a tool of its own. Open a run that succeeded and press{' '}
            <span class="strong">Keep as tool</span>.
          </p>
          <a class="button" href={linkTo(['runs'], { state: 'succeeded' })}>
            Show runs that succeeded
          </a>
        </Empty>
      </div>
    );
  }
  const name = chosen ?? programs[0]?.name ?? '';
  return (
    <>
      <section class="panel" aria-label="Kept programs">
        {programs.map((program) => (
          <a
            key={program.name}
            class={`tool-row kept-row ${program.name === name ? 'selected' : ''}`}
            aria-current={program.name === name ? 'true' : undefined}
            href={linkTo(['tools', KEPT_PLACE, program.name])}
          >
            <span class="row tight spread">
              <span class="mono strong clip">
                <ForeignLine text={program.name} limit={80} />
              </span>
              <span class="small muted nowrap">version {program.version}</span>
            </span>
            <span class="small muted clip">
              <ForeignLine text={program.description || 'No description'} limit={160} />
            </span>
          </a>
        ))}
      </section>
      <div class="stack">
        <a class="button small back" href={linkTo(['tools', KEPT_PLACE])}>
          Back to all kept programs
        </a>
        <Program key={name} name={name} />
      </div>
    </>
  );
}

function Program({ name }: { name: string }) {
  const { data, error, reload } = useResource(name, (signal) =>
    request<ScriptDetail>('script', { path: { name }, signal }),
  );
  if (data === undefined)
    return error === undefined ? <Loading what="the program" /> : <Problem error={error} retry={reload} />;
  return (
    <>
      <Panel
        title={
          <>
            <span class="mono">
              <Foreign text={data.name} limit={80} />
            </span>{' '}
            <Badge>version {data.version}</Badge>
          </>
        }
      >
        <div class="stack">
          {data.description !== '' && (
            <p>
              <Foreign text={data.description} limit={600} lines />
            </p>
          )}
          <Facts
            facts={[
              ['Kept at', time(data.createdAtMs)],
              ['By', data.savedBy === undefined ? 'a person' : foreignLabel(callerLabel(data.savedBy), 60)],
              ['Profile', data.profile],
              data.fromRun === undefined
                ? undefined
                : [
                    'From',
                    <a key="run" href={linkTo(['runs', data.fromRun])}>
                      its run
                    </a>,
                  ],
              ['Calls', data.tools.length === 0 ? 'no tools' : foreignLabel(data.tools.join(', '), 400)],
            ]}
          />
          <UseOfProgram program={data} example={exampleOf(data.inputSchema)} profile={data.profile} />
        </div>
      </Panel>
      <Panel title="Program" flush>
        <CodeView source={data.source} language={data.language} label="Program" />
      </Panel>
    </>
  );
}

/** The input it was run with when it was kept. */
function exampleOf(schema: JsonValue | undefined): JsonObject {
  const properties = objectOf(objectOf(schema)['properties']);
  return Object.fromEntries(
    Object.entries(properties).map(([name, each]) => {
      const { examples } = objectOf(each) as { readonly examples?: JsonValue };
      return [name, (Array.isArray(examples) ? examples[0] : undefined) ?? null];
    }),
  );
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
