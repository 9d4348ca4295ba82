import { parse as parseToml, stringify, TomlError } from 'smol-toml';
import { HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { ClientFormat } from './client-format.js';
import { tablesOf } from './toml-tables.js';

/** Servers as tables `[key.NAME]` of a TOML file. */
export function tomlFormat(key: string): ClientFormat {
  return {
    key,
    parse: (text, file) => {
      try {
        // Through JSON: dates are objects, and only equality matters here.
        return JSON.parse(JSON.stringify(parseToml(text.replace(/^\ufeff/, '')))) as JsonObject;
      } catch (error) {
        if (!(error instanceof TomlError)) throw error;
        const [why = 'unknown syntax'] = error.message.split('\n');
        const problem = why.replace(/^Invalid TOML document: /, '');
        throw new HostError(
          'bad_input',
          `${file}:${error.line}:${error.column}: this is not valid TOML: ${problem}; nothing was written. Correct the file, then type the command again.`,
        );
      }
    },
    add: (text, name, entry) => appended(text, stringify({ [key]: { [name]: entry } })),
    remove: (text, name) => {
      let result = text;
      for (const { start, end } of tablesUnder(text, key, name).reverse())
        result = result.slice(0, start) + result.slice(end);
      return result;
    },
    copy: (text, name, from) => {
      const tables = tablesUnder(from, key, name).map(({ start, end }) => from.slice(start, end));
      return appended(text, tables.join(''));
    },
  };
}

function tablesUnder(text: string, key: string, name: string) {
  return tablesOf(text).filter(({ path }) => path[0] === key && path[1] === name);
}

/** After everything else, one blank line apart. */
function appended(text: string, tables: string): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const block = `${tables.trim().replace(/\r?\n/g, eol)}${eol}`;
  if (text.trim() === '') return text + block;
  const gap = text.endsWith(`${eol}${eol}`) ? '' : text.endsWith('\n') ? eol : eol + eol;
  return `${text}${gap}${block}`;
}
