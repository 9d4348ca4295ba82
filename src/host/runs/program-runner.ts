import type { Catalog } from '../../catalog/catalog.js';
import type { ObservedTypeOf } from '../../catalog/declarations/typescript/typescript.js';
import type { CatalogSnapshot, CatalogTool } from '../../catalog/snapshot.js';
import { HostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import type {
  KeptOutput,
  ProcessHandlers,
  ProcessLanguage,
  ProcessProgram,
  ProcessReport,
  ProgramLanguage,
} from '../../domain/process-program.js';
import type { CallReply, Outcome, RunId } from '../../domain/run.js';
import type { StepSource } from '../../domain/step.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { GoReport, GoRuntime } from '../../sandbox/go/go-runtime.js';
import type { ProcessRuntimes } from '../../sandbox/processes/process-runtimes.js';
import type { ProgramNames } from '../calls/called-tool.js';
import { answerGoCatalog, isGoCatalog } from '../processes/go-catalog.js';
import { goFunctionOf, goToolsFile } from '../processes/go-package.js';
import { functionOf, moduleOf, packageFiles } from '../processes/process-packages.js';
import { FIRST_COMPILE } from '../processes/warm-go.js';
import type { RuntimeParts } from '../runtime.js';
import { answerToolCatalog, isToolCatalog } from '../tools/tool-catalog.js';

/** What differs between the languages of process programs: their files, and what runs them. */
export interface ProgramRunner {
  /** Version of the interpreter or compiler. */
  readonly version: string;
  /** The slow steps before a program runs. */
  readonly starting: StepSource;
  /** The files a program gets besides its source. */
  filesFor(source: string, snapshot: CatalogSnapshot): ReadonlyMap<string, string>;
  /** What a program writes to call a tool. */
  namesOf(tool: CatalogTool, snapshot: CatalogSnapshot): ProgramNames;
  run(program: Omit<ProcessProgram, 'language'>, handlers: ProcessHandlers): Promise<ProcessReport>;
  /** Answers a question about the tools; undefined if the target is not such a question. */
  answerAbout(
    target: string,
    input: readonly JsonValue[],
    snapshot: CatalogSnapshot,
    catalog: Catalog,
    observedTypeOf?: ObservedTypeOf,
  ): CallReply | undefined;
}

/** The runner for a language. Throws `not_found` if this machine cannot run it. */
export async function programRunner(
  language: ProgramLanguage,
  { processes, go }: Pick<RuntimeParts, 'processes' | 'go'>,
): Promise<ProgramRunner> {
  return language === 'go' ? compiled(await go()) : interpreted(language, await processes());
}

function interpreted(language: ProcessLanguage, runtimes: ProcessRuntimes): ProgramRunner {
  const status = runtimes.available().find((each) => each.language === language);
  return {
    version: status?.isAvailable === true ? status.version : 'unknown',
    starting: () => ({ doing: `starting ${language}` }),
    filesFor: (source, snapshot) => packageFiles(source, snapshot, language),
    namesOf: (tool, snapshot) => ({
      serverName: moduleOf(tool.server, snapshot),
      exportName: functionOf(tool, language),
    }),
    run: (program, handlers) => runtimes.run({ ...program, language }, handlers),
    answerAbout: (target, input, snapshot, catalog, observedTypeOf) =>
      isToolCatalog(target)
        ? answerToolCatalog(target, input, {
            ...{ snapshot, catalog, languages: [language] },
            ...omitUndefined({ observedTypeOf }),
          })
        : undefined,
  };
}

const TOOLS_FILE = 'tools.go';

function compiled(runtime: GoRuntime): ProgramRunner {
  const toolchain = runtime.available();
  if ('reason' in toolchain)
    throw new HostError('not_found', `Go is not available: ${toolchain.reason}. ${toolchain.fix}`);
  return {
    version: toolchain.version.replace(/^go/, ''),
    starting: () => (runtime.progress().total === 0 ? FIRST_COMPILE : { doing: 'compiling the program' }),
    filesFor: (source, snapshot) => new Map([[TOOLS_FILE, goToolsFile(source, snapshot)]]),
    namesOf: (tool, snapshot) => ({ serverName: tool.server.id, exportName: goFunctionOf(tool, snapshot) }),
    run: async ({ source, files, limits }, handlers) =>
      reportOf(await runtime.run({ source, tools: files.get(TOOLS_FILE) ?? '', limits }, handlers), handlers.runId),
    answerAbout: (target, input, snapshot, catalog, observedTypeOf) =>
      isGoCatalog(target) ? answerGoCatalog(target, input, snapshot, catalog, observedTypeOf) : undefined,
  };
}

const NOTHING: KeptOutput = { text: '', isCut: false, totalBytes: 0 };

/** A program that the compiler refused has no run time and no output. */
function reportOf({ report, failure }: GoReport, runId = '' as RunId): ProcessReport {
  const nothing: Outcome = { status: 'completed', resultJson: 'null' };
  const started = report ?? notStarted(runId, nothing);
  return failure === undefined ? started : { ...started, outcome: { status: 'failed', failure } };
}

/** The report of a program that never ran. */
export function notStarted(runId: RunId, outcome: Outcome): ProcessReport {
  return {
    ...{ runId, outcome, resultSource: 'none', stdout: NOTHING, stderr: NOTHING, durationMs: 0 },
    ...{ exitCode: undefined, signal: undefined, cpuMs: undefined, peakMemoryBytes: undefined },
  };
}
