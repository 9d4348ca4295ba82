// The upstream of this group: a small tool and one with 10 MB of rows, over stdio.
import { serveTools } from '../../test/fixtures/stdio-tools.mjs';

const numbers = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] };
const rows = Array.from({ length: 43_000 }, (_, id) => ({
  id,
  email: `user${id}@example.com`,
  score: (id * 7_919) % 100,
  note: 'lorem ipsum dolor sit amet '.repeat(6),
}));

serveTools('bench', {
  list: () => [
    { name: 'add', annotations: { readOnlyHint: true }, inputSchema: numbers },
    { name: 'rows', annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } },
  ],
  call: (tool, { a, b }) => ({ content: [], structuredContent: tool === 'add' ? { sum: a + b } : { rows } }),
});
