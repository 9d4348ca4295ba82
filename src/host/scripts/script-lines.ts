import type { ScriptHead } from '../../domain/script.js';
import { clipText, visibleText, withoutMarkup } from '../../lib/visible-text.js';

/** Scripts that are named one by one; a program lists the rest. */
const MAX_NAMED = 20;
const MAX_DESCRIPTION_CHARACTERS = 120;

/** A line for each stored script, in words that cannot pass for ours. */
export function scriptLines(scripts: readonly ScriptHead[]): string {
  const more = scripts.length - MAX_NAMED;
  const lines = scripts.slice(0, MAX_NAMED).map(lineOf);
  if (more > 0) lines.push(`- and ${more} more`);
  return lines.join('\n');
}

function lineOf({ name, description, inputSchema }: ScriptHead): string {
  const properties = Object.keys((inputSchema?.properties as object | undefined) ?? {});
  const input = properties.length === 0 ? '' : ` { ${clipText(properties.join(', '), MAX_DESCRIPTION_CHARACTERS)} }`;
  const text = withoutMarkup(visibleText(description)).replace(/\s+/g, ' ').replaceAll('`', "'").trim();
  const about = text === '' ? '' : `: ${clipText(text, MAX_DESCRIPTION_CHARACTERS)}`;
  return `- ${name}${withoutMarkup(visibleText(input)).replace(/\s+/g, ' ').replaceAll('`', "'")}${about}`;
}
