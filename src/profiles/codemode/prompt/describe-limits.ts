import { LIMIT_NAMES, LIMITS, type LimitName, type LimitTable } from '../../../domain/limits.js';

/** One entry per limit: its key, its meaning, and its values in words. */
export function describeLimits({ defaults, maximum }: LimitTable): readonly {
  readonly key: LimitName;
  readonly meaning: string;
  readonly figures: string;
}[] {
  return LIMIT_NAMES.map((key) => ({
    key,
    meaning: LIMITS[key].meaning,
    figures: `default ${inWords(defaults[key])}, at most ${inWords(maximum[key])}`,
  }));
}

/** Digits are grouped without the locale API: the text must not depend on the machine's locale. */
function inWords(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
