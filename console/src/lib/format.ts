const NUMBERS = new Intl.NumberFormat('en');
const CLOCK = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
const DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });

export function count(value: number): string {
  return NUMBERS.format(value);
}

/** `1 call`, `2 calls`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function duration(ms: number): string {
  if (ms < 1) return '<1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${trimmed(ms / 1000, ms < 10_000 ? 2 : 1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.floor((ms % 3_600_000) / 60_000)} min`;
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  if (value < 1024 * 1024) return `${trimmed(value / 1024, 1)} KB`;
  return `${trimmed(value / 1024 / 1024, 1)} MB`;
}

/** Without the zeros of a round number: a limit is 30 s, not 30.0 s. */
export function trimmed(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.0+$/, '');
}

/** The time of day, with the date if it is not today. */
export function time(ms: number): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return 'unknown';
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? CLOCK.format(date) : `${DAY.format(date)}, ${CLOCK.format(date)}`;
}

export function percent(part: number, whole: number): string {
  return part === 0 || whole === 0 ? '0%' : `${((part / whole) * 100).toFixed(part === whole ? 0 : 1)}%`;
}

/** Enough of an id to tell it from others. */
export function shortId(id: string): string {
  return id.length > 14 ? `${id.slice(0, 12)}…` : id;
}

/** A clause from the host, as a sentence. */
export function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`;
}
