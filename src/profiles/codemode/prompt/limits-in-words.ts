import type { AskedLimits, LimitTable } from '../../../domain/limits.js';

/** One entry per limit key: the key, what it means, and its figures in words. */
export function limitsInWords({ defaults, maximum }: LimitTable): readonly {
  readonly key: keyof AskedLimits;
  readonly meaning: string;
  readonly figures: string;
}[] {
  return (Object.keys(MEANINGS) as (keyof AskedLimits)[]).map((key) => ({
    key,
    meaning: MEANINGS[key],
    figures: `default ${inWords(defaults[key])}, at most ${inWords(maximum[key])}`,
  }));
}

const MEANINGS: Readonly<Record<keyof AskedLimits, string>> = {
  timeoutMs: 'milliseconds of computing and waiting for tools',
  maxMemoryBytes: 'memory of the program',
  maxLogBytes: 'console output that is kept',
  maxToolCalls: 'tool calls',
};

/** Grouped digits by hand: the text must not depend on the machine's locale. */
function inWords(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
