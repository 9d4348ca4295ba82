import type { KeptProgram } from '../../../../src/domain/console/scripts.js';
import type { JsonObject } from '../../../../src/domain/json.js';
import { isOwner } from '../../api/session-state.js';
import { goTo } from '../../lib/router.js';
import { Command } from '../../ui/parts.js';
import { writeDraft } from '../playground/draft.js';

/** How a kept program is run: by a program, and by a person. */
export function UseOfProgram({
  program,
  example,
  profile = 'codemode',
}: {
  program: KeptProgram;
  example: JsonObject;
  profile?: string;
}) {
  const { name, functionName } = program;
  const source = `import { ${functionName} } from '@codemode/scripts';\n\nconst result = await ${functionName}(${written(example)});\nglobalThis.__codemode_result__ = result;\n`;
  const input =
    Object.keys(example).length === 0 ? '' : ` --input '${JSON.stringify(example).replaceAll("'", "'\\''")}'`;
  const tryIt = () => {
    writeDraft({ source, profile: 'codemode', language: 'typescript' });
    goTo(['playground']);
  };
  return (
    <div class="stack">
      {profile === 'codemode' && (
        <div>
          <h3>In a program</h3>
          <Command text={source.trimEnd()} />
        </div>
      )}
      <div>
        <h3>In a terminal</h3>
        <Command text={`codemode scripts run ${name}${input}`} />
      </div>
      <p class="small muted">
        To list it to clients as a tool of its own, name it in the configuration: <code>scripts.expose</code>.
      </p>
      {profile === 'codemode' && isOwner() && (
        <div class="row">
          <button type="button" class="button primary" onClick={tryIt}>
            Open in the playground
          </button>
        </div>
      )}
    </div>
  );
}

/** As a person writes it: `{ month: "2026-11" }`. */
function written(example: JsonObject): string {
  const fields = Object.entries(example).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}
