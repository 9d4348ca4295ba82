/**
 * Python's output for values that are not literals, as databases return them: dates and times become ISO texts, decimals and ids
 * become their text. Undefined: an unknown type.
 */
export function pythonCall(name: string, values: readonly unknown[], named: ReadonlyMap<string, unknown>): unknown {
  const [first] = values;
  switch (name.slice(name.lastIndexOf('.') + 1)) {
    case 'date':
      return values.length === 3 && areNumbers(values) ? dateOf(values) : undefined;
    case 'datetime':
      return dateTimeOf(values, named);
    case 'time':
      return areNumbers(values) ? timeOf(values) : undefined;
    case 'timedelta':
      return named.size > 0 && areNumbers([...named.values()])
        ? (numberIn(named, 'days') * 24 + numberIn(named, 'hours')) * 3_600 + numberIn(named, 'seconds')
        : undefined;
    case 'timezone':
      return typeof first === 'number' ? offsetOf(first) : undefined;
    case 'Decimal':
    case 'UUID':
      return typeof first === 'string' ? first : undefined;
    case 'set':
    case 'frozenset':
      return values.length === 0 ? [] : Array.isArray(first) ? first : undefined;
    case 'OrderedDict':
      return orderedDict(first);
    default:
      return undefined;
  }
}

function dateTimeOf(values: readonly unknown[], named: ReadonlyMap<string, unknown>): string | undefined {
  if (values.length < 3 || values.length > 7 || !areNumbers(values)) return undefined;
  const zone = named.get('tzinfo') ?? '';
  if (typeof zone !== 'string') return undefined;
  return `${dateOf(values)}T${timeOf(values.slice(3))}${zone === 'UTC' ? '+00:00' : zone}`;
}

function dateOf([year = 0, month = 0, day = 0]: readonly number[]): string {
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
}

function timeOf([hour = 0, minute = 0, second = 0, micro = 0]: readonly number[]): string {
  const fraction = micro === 0 ? '' : `.${padded(micro, 6)}`;
  return `${padded(hour, 2)}:${padded(minute, 2)}:${padded(second, 2)}${fraction}`;
}

/** The UTC offset for a number of seconds. */
function offsetOf(seconds: number): string {
  const minutes = Math.abs(Math.trunc(seconds / 60));
  return `${seconds < 0 ? '-' : '+'}${padded(Math.trunc(minutes / 60), 2)}:${padded(minutes % 60, 2)}`;
}

function orderedDict(value: unknown): unknown {
  if (value === undefined) return {};
  if (!Array.isArray(value)) return typeof value === 'object' ? value : undefined;
  const isPairs = value.every((pair) => Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string');
  return isPairs ? Object.fromEntries(value as [string, unknown][]) : undefined;
}

function areNumbers(values: readonly unknown[]): values is readonly number[] {
  return values.every((value) => Number.isSafeInteger(value));
}

function numberIn(named: ReadonlyMap<string, unknown>, name: string): number {
  return (named.get(name) as number | undefined) ?? 0;
}

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}
