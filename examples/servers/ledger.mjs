// A ledger of lines, kept in a file: node ledger.mjs FILE
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { serve } from './stdio-server.mjs';

const [file = 'ledger.txt'] = process.argv.slice(2);
const linesOf = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []);
const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const number = (name) => ({ type: 'object', properties: { [name]: { type: 'integer' } }, required: [name] });

serve({
  name: 'ledger',
  version: '1.0.0',
  instructions: 'Lines of a small ledger.',
  tools: [
    {
      name: 'look',
      description: 'Counts the lines that contain a text.',
      inputSchema,
      outputSchema: number('lines'),
      run: ({ text }) => ({ lines: linesOf().filter((line) => line.includes(text)).length }),
    },
    {
      name: 'write',
      description: 'Adds a line.',
      inputSchema,
      outputSchema: number('line'),
      annotations: { readOnlyHint: false, destructiveHint: false },
      run: ({ text }) => {
        appendFileSync(file, `${text.replaceAll('\n', ' ')}\n`);
        return { line: linesOf().length };
      },
    },
    {
      name: 'erase',
      description: 'Takes the last line with exactly this text out of the ledger.',
      inputSchema,
      outputSchema: number('line'),
      annotations: { readOnlyHint: false, destructiveHint: true },
      run: ({ text }) => {
        const lines = linesOf();
        const at = lines.lastIndexOf(text);
        if (at < 0) throw new Error(`there is no line ${JSON.stringify(text)}`);
        writeFileSync(
          file,
          lines
            .toSpliced(at, 1)
            .map((line) => `${line}\n`)
            .join(''),
        );
        return { line: at + 1 };
      },
    },
  ],
});
