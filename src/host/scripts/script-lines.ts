import { toolSignature } from '../../catalog/declarations/typescript/signature.js';
import type { ScriptHead } from '../../domain/script.js';
import { clipText, visibleText, withoutMarkup } from '../../lib/text/visible-text.js';
import { scriptFunctions } from './script-functions.js';
import { scriptAsTool } from './search-scripts.js';

/** The most scripts listed by name; a program lists the rest. */
const MAX_NAMED = 20;
const MAX_DESCRIPTION_CHARACTERS = 120;

/** One line for each stored script, escaped so that it cannot pass for our own text. */
export function scriptLines(scripts: readonly ScriptHead[]): string {
  return linesOf(scripts, ({ name, inputSchema }) => {
    const properties = Object.keys((inputSchema?.properties as object | undefined) ?? {});
    const input = properties.length === 0 ? '' : ` { ${clipText(properties.join(', '), MAX_DESCRIPTION_CHARACTERS)} }`;
    return `${name}${input}`;
  });
}

/** The same as functions of the module, with input and output types. */
export function functionLines(scripts: readonly ScriptHead[]): string {
  const functions = scriptFunctions(scripts);
  return linesOf(scripts, (script) => {
    const name = functions.get(script.name);
    if (name === undefined) return `runScript("${script.name}")`;
    // Without a schema any object is accepted.
    return script.inputSchema === undefined ? `${name}(input?: object)` : toolSignature(scriptAsTool(script), name);
  });
}

function linesOf(scripts: readonly ScriptHead[], head: (script: ScriptHead) => string): string {
  const more = scripts.length - MAX_NAMED;
  const lines = scripts.slice(0, MAX_NAMED).map((script) => {
    const text = plainWords(script.description);
    const about = text === '' ? '' : `: ${clipText(text, MAX_DESCRIPTION_CHARACTERS)}`;
    return `- ${plainWords(head(script))}${about}`;
  });
  if (more > 0) lines.push(`- and ${more} more`);
  return lines.join('\n');
}

function plainWords(text: string): string {
  return withoutMarkup(visibleText(text)).replace(/\s+/g, ' ').replaceAll('`', "'").trim();
}
