import type { Failure } from '../domain/run.js';
import type { HostToWorker } from '../wire/messages.js';
import type { Progress } from './guest.js';
import type { ProgramForm } from './quickjs/run-state.js';
import { explainSyntax } from './transpiler/explain-syntax.js';
import { readBody } from './transpiler/read-body.js';
import { type ReadScript, readScript } from './transpiler/read-script.js';
import { RecentlyRead } from './transpiler/recently-read.js';
import { type Transpiled, transpile } from './transpiler/transpile.js';

export type StartMessage = Extract<HostToWorker, { type: 'execution/start' }>;

type ReadProgram =
  | { readonly ok: false; readonly failure: Failure }
  | { readonly ok: true; readonly begin: (run: StartableRun) => Progress };

type ReadModule =
  | { readonly ok: false; readonly failure: Failure }
  | {
      readonly ok: true;
      /** The author's original text. */
      readonly text: string;
      readonly code: string;
      readonly mapJson: string;
      /** For the body of a function. */
      readonly contextJson?: Buffer;
    };

interface StartableRun {
  start(code: Uint8Array, mapJson: string, contextJson?: Uint8Array): Progress;
  startScript(script: Extract<ReadScript, { ok: true }>, calls: readonly string[], inputJson: Uint8Array): Progress;
}

export function formOf({ script, body }: StartMessage): ProgramForm {
  if (script !== null) return 'script';
  return body === null ? 'module' : 'body';
}

/** Programs of one caller: a worker never serves another. */
const recentBodies = new RecentlyRead<Transpiled>();
const recentModules = new RecentlyRead<Transpiled>();
const recentScripts = new RecentlyRead<ReadScript>();

export function readProgram(message: StartMessage, body: Buffer): ReadProgram {
  const { script, language } = message;
  if (script === null) {
    const read = readModule(message, body);
    if (!read.ok) return read;
    const { text, code, mapJson, contextJson } = read;
    return begun(text, formOf(message), (run) => run.start(Buffer.from(code), mapJson, contextJson));
  }
  const { calls, inputBytes } = script;
  const text = body.toString('utf8', inputBytes);
  const source = recentScripts.of(language, text, () => readScript(text, language));
  if (!source.ok) return source;
  return begun(text, 'script', (run) => run.startScript(source, calls, body.subarray(0, inputBytes)));
}

/** Reads a module, or the body of a function as a module. */
export function readModule({ body: form, language }: StartMessage, body: Buffer): ReadModule {
  if (form === null) {
    const text = body.toString('utf8');
    const source = recentModules.of(language, text, () => transpile(text, language));
    return source.ok ? { ok: true, text, code: source.code, mapJson: source.mapJson } : source;
  }
  const { contextBytes, module, names } = form;
  const text = body.toString('utf8', contextBytes);
  const source = recentBodies.of(`${language} ${module} ${names.join()}`, text, () => readBody(text, language, form));
  if (!source.ok) return source;
  const { code, mapJson } = source;
  return { ok: true, text, code, mapJson, contextJson: body.subarray(0, contextBytes) };
}

/** If the engine refuses what the parser accepted, the failure is explained from the author's own text. */
function begun(text: string, form: ProgramForm, start: (run: StartableRun) => Progress): ReadProgram {
  return {
    ok: true,
    begin: (run) => {
      const progress = start(run);
      if (progress.state !== 'ended' || progress.failure === null) return progress;
      return { ...progress, failure: explainSyntax(progress.failure, text, form) };
    },
  };
}
