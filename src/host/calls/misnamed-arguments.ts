import { isJsonObject, type JsonValue } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';

const MAX_NAMES = 200;
const MAX_SHOWN = 40;

/** Arguments that a tool does not declare and whose names differ from a declared one only in case, hyphens or underscores. */
export function misnamedArguments(name: () => string, { inputSchema }: Tool, input: JsonValue | undefined): string[] {
  const declared = inputSchema?.properties;
  if (!isJsonObject(declared) || !isJsonObject(input)) return [];
  const given = Object.keys(input)
    .slice(0, MAX_NAMES)
    .filter((key) => !Object.hasOwn(declared, key));
  if (given.length === 0) return [];
  const names = new Map(
    Object.keys(declared)
      .slice(0, MAX_NAMES)
      .map((key) => [folded(key), key]),
  );
  return given.flatMap((key) => {
    const meant = names.get(folded(key));
    if (meant === undefined || Object.hasOwn(input, meant)) return [];
    return [`${name()} was sent ${quoted(key)}, which it does not declare: it has ${quoted(meant)}`];
  });
}

function folded(key: string): string {
  return key.toLowerCase().replaceAll(/[-_ .]/g, '');
}

function quoted(key: string): string {
  return JSON.stringify(key.slice(0, MAX_SHOWN));
}
