import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MAX_FRAME_BYTES, MAX_HEAD_BYTES } from './frames.js';
import { MAX_IMAGE_BYTES, MAX_VALUE_BYTES, PROTOCOL } from './messages.js';
import { messagesOf, type WireMessage } from './reference.test-support.js';

const UNIONS = {
  HostToWorker: 'Host to worker',
  WorkerToHost: 'Worker to host',
  HostToProcess: 'Host to program process',
  ProcessToHost: 'Program process to host',
};

test('docs/reference/wire.md has every message (renew: npx vitest run src/wire/reference -u)', async () => {
  const examples = goldenHeads();
  const sections = Object.entries(UNIONS).map(([union, title]) => {
    const { comment, messages } = messagesOf(union);
    return [`## ${title}`, '', comment, '', ...messages.map((message) => sectionOf(message, examples))].join('\n');
  });
  await expect(`${HEAD}\n${sections.join('\n')}`).toMatchFileSnapshot('../../docs/reference/wire.md');
});

test('every message has a comment that says what it is for', () => {
  const silent = Object.keys(UNIONS).flatMap((union) =>
    messagesOf(union).messages.flatMap(({ type, comment }) => (comment === '' ? [`${union} ${type}`] : [])),
  );
  expect(silent).toEqual([]);
});

function sectionOf({ type, comment, fields }: WireMessage, examples: ReadonlyMap<string, string>): string {
  const lines = [`### \`${type}\``, '', comment, ''];
  if (comment.startsWith('As described above')) return lines.join('\n');
  const rows = fields.map(([name, fieldType]) => `| \`${name}\` | \`${fieldType.replaceAll('|', '\\|')}\` |`);
  if (rows.length > 0) lines.push('| field | type |', '|---|---|', ...rows, '');
  const example = examples.get(type);
  if (example !== undefined) lines.push('```json', example, '```', '');
  return lines.join('\n');
}

/** The heads of `golden/`, by type: the first file of each. */
function goldenHeads(): Map<string, string> {
  const folder = new URL('./golden/', import.meta.url);
  const heads = new Map<string, string>();
  for (const file of readdirSync(folder).sort((left, right) => left.length - right.length || (left < right ? -1 : 1))) {
    const { head } = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
    if (!heads.has(head.type)) heads.set(head.type, JSON.stringify(head));
  }
  return heads;
}

const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`;

const HEAD = `# Wire protocol

<!-- Generated from src/wire. Renew: npx vitest run src/wire/reference -u -->

Host and worker exchange frames on a dedicated descriptor; a QuickJS or V8 worker receives them on its stdin. This is protocol ${PROTOCOL}. It is not a public interface: host and worker come from the
same build, and a worker of another build is rejected. [Jail and workers](../security/jail-and-workers.md) has the threats, and
\`src/wire/golden\` the exact bytes of every message, which the tests of each language read.

## Frames

\`\`\`text
u32 length of what follows | u32 length of the head | head: JSON | body: bytes
\`\`\`

All numbers are little-endian. The head names the message and has its fields. The body carries what may be large, unchanged.

| limit | bytes |
|---|---|
| head | ${MAX_HEAD_BYTES / 1024} KiB |
| frame | ${mebibytes(MAX_FRAME_BYTES)} |
| arguments of one call, or a result | ${mebibytes(MAX_VALUE_BYTES)} |
| image of a suspended program | ${mebibytes(MAX_IMAGE_BYTES)} |

The host checks the lengths before it collects a frame, and parses a head strictly: an unknown field, a wrong type or an id of another
program kills the worker. \`execution\` is the id of the run.
`;
