import { type Failure, outOfTime } from '../../domain/run.js';
import { MAX_VALUE_BYTES } from '../../wire/messages.js';
import type { Progress } from '../guest.js';
import type { Engine } from './engine.js';
import { failureOfThrown, notSerializable, resultTooLarge } from './failures.js';
import { type Ended, type LeftOpen, leftBy, lostIn, noticedIn } from './final-inspection.js';
import type { EntryName, Image } from './image.js';
import type { Library } from './library.js';
import type { QuickJsRunOptions, QuickJsRunState } from './run-state.js';
import { suggestionsFrom } from './suggestions.js';

/** The outcome of a program in QuickJS: its result, or its failure and the result it had assigned so far. */
export class RunEnding {
  readonly #engine: Engine;
  readonly #image: Image;
  readonly #library: Library;
  readonly #options: QuickJsRunOptions;
  readonly #state: QuickJsRunState;
  /** From then on the timeout is the cause of any outcome. */
  isTimedOut = false;
  /** The instance hit an error that its memory did not survive; it must not be reused. */
  isTrapped = false;

  constructor(engine: Engine, image: Image, library: Library, options: QuickJsRunOptions, state: QuickJsRunState) {
    this.#engine = engine;
    this.#image = image;
    this.#library = library;
    this.#options = options;
    this.#state = state;
  }

  withResult(left: LeftOpen | undefined): Progress {
    const engine = this.#engine;
    const { form } = this.#options;
    const result = this.#enter(form === 'script' ? 'jsonOfValue' : 'collectResult', this.#valueOfScript);
    if (engine.isException(result)) {
      if (this.isTimedOut) return this.#outOfTime();
      return endedWith(notSerializable(this.#describe(engine.exports.qjs_get_exception()), form));
    }
    const resultJson = engine.readBytes(result);
    if (resultJson.byteLength > MAX_VALUE_BYTES)
      return endedWith(resultTooLarge(resultJson.byteLength, MAX_VALUE_BYTES));
    const noticed =
      form === 'script' ? lostIn(this.lastLook, 'lostInValue') : noticedIn(this.lastLook, left, resultJson);
    return { state: 'ended', failure: null, resultJson, ...noticed };
  }

  get lastLook(): Ended {
    const engine = this.#engine;
    return {
      ask: (name) => {
        const answer = this.#enter(name, this.#valueOfScript);
        return engine.isException(answer) ? undefined : engine.readBytes(answer);
      },
    };
  }

  /** Keeps the result assigned so far, and calls that were not awaited. */
  withFailure(failure: Failure): Progress {
    try {
      return { state: 'ended', failure, ...leftBy(this.lastLook, failure, this.#options.form) };
    } catch {
      this.isTrapped = true;
      return endedWith(failure);
    }
  }

  withException(): Progress {
    if (this.isTimedOut) return this.#outOfTime();
    return this.withThrown(this.#engine.exports.qjs_get_exception());
  }

  withThrown(thrown: number): Progress {
    const failure = this.#describe(thrown);
    return this.isTimedOut ? this.#outOfTime() : this.withFailure(failure);
  }

  /** The value of a script is the value of its promise; a module has assigned its own. */
  get #valueOfScript(): number[] {
    const isScript = this.#options.form === 'script';
    return isScript ? [this.#engine.exports.qjs_promise_result(this.#state.mainPromise)] : [];
  }

  #outOfTime(): Progress {
    return endedWith(outOfTime(this.#options.timeoutMs));
  }

  #describe(thrown: number): Failure {
    const engine = this.#engine;
    const description = this.#enter('describeThrown', [thrown]);
    const json = engine.isException(description) ? '{}' : engine.readText(description);
    return failureOfThrown(json, suggestionsFrom(this.#library), this.#options.form);
  }

  #enter(name: EntryName, list: readonly number[]): number {
    return this.#engine.call(this.#image.entry[name], list);
  }
}

export function endedWith(failure: Failure): Progress {
  return { state: 'ended', failure };
}
