import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packagesFor } from '../../src/catalog/packages/packages.js';
import type { ProcessLanguage } from '../../src/domain/process-program.js';
import type { GuestCall } from '../../src/domain/run.js';
import type { Tool } from '../../src/domain/tool.js';
import { snapshotOf } from '../support/catalog.js';
import { needs } from '../support/needs.js';
import { openRuntimes, type TestRuntimes } from '../support/process-runtimes.js';

let box: TestRuntimes;
beforeAll(async () => {
  box = await openRuntimes();
});
afterAll(() => box[Symbol.asyncDispose]());

/** Answers with what was asked for, as MCP does. */
const handlers = {
  onCall: async ({ target, argumentsJson }: GuestCall) => {
    const [input] = JSON.parse(argumentsJson) as unknown[];
    return { ok: true, json: JSON.stringify({ content: [], structuredContent: { target, input } }) } as const;
  },
};

describe.each(['node', 'python'] as const)('a %s program', needs('bubblewrap', 'python3'), (language) => {
  const value = (sources: Record<ProcessLanguage, string>, tools: readonly Omit<Tool, 'serverId'>[]) => {
    const snapshot = snapshotOf([{ id: 'google-drive', tools }]);
    return box.value(language, sources[language], {
      files: Object.fromEntries(packagesFor(snapshot, language)),
      handlers,
    });
  };

  test('calls tools through the module of their server, under the name that the protocol knows [B4, B5, B10]', async () => {
    const sources = {
      node: `import * as drive from "./servers/google_drive/index.js";
        const { listFiles, delete_ } = drive;
        const answers = [await listFiles({ page: 1 }), await drive.getDocument(), await delete_({}), await drive._2faOn()];
        globalThis.result = [answers.map((each) => each.structuredContent), drive.__meta__.tools.length];`,
      python: `import servers.google_drive as drive
from servers.google_drive import list_files, delete
answers = [await list_files({"page": 1}), await drive.getDocument(), await delete({}), await drive._2fa_on()]
result = [[each["structuredContent"] for each in answers], len(drive.__meta__["tools"])]`,
    };
    const tools = ['files.list-Files', 'list.files', 'getDocument', 'delete', '2fa.on'].map((name) => ({ name }));
    expect(await value(sources, tools)).toEqual([
      [
        { target: 'google-drive/list.files', input: { page: 1 } },
        { target: 'google-drive/getDocument', input: {} },
        { target: 'google-drive/delete', input: {} },
        { target: 'google-drive/2fa.on', input: {} },
      ],
      5,
    ]);
  });

  test('imports a module whose tools say what they can to break it, and calls every one of them [B12]', async () => {
    const tools = HOSTILE.map((text, index) => ({
      // No JSON message can carry half of a pair in a name.
      name: `${text.replace('\ud800', '')}${index}`,
      title: text,
      description: text,
      inputSchema: {
        type: 'object',
        properties: { [text]: { description: text, enum: [text, 1.5, null], default: text }, from: { type: text } },
        required: [text],
      },
      outputSchema: { type: 'object', properties: { x: { $ref: '#/$defs/x' } }, $defs: { x: { title: text } } },
      icons: [{ src: text }],
      unheardOf: { [text]: text },
    })) as unknown as Omit<Tool, 'serverId'>[];
    const sources = {
      node: `import * as drive from "./servers/google_drive/index.js";
        const names = Object.keys(drive).filter((name) => name !== "__meta__");
        globalThis.result = await Promise.all(names.map(async (name) => (await drive[name]()).structuredContent.target));`,
      python: `import asyncio, servers.google_drive as drive
called = await asyncio.gather(*(getattr(drive, name)() for name in drive.__all__))
result = [each["structuredContent"]["target"] for each in called]
for stub in ("__init__", "_types"):
    compile(open(f"servers/google_drive/{stub}.pyi", encoding="utf-8").read(), stub, "exec")`,
    };
    const called = (await value(sources, tools)) as string[];
    expect(called.sort()).toEqual(tools.map(({ name }) => `google-drive/${name}`).sort());
  });
});

test(
  'a Python program names arguments, and is told of a mistake in a name',
  needs('bubblewrap', 'python3'),
  async () => {
    const source = `from servers.google_drive import ListFilesInput, list_files
page: ListFilesInput = {"page": 1}
answers = [await list_files(page=1), await list_files(page, size=2), await list_files(arguments=page)]
result = [each["structuredContent"]["input"] for each in answers]
for attempt in (lambda: list_files(page, page=2), lambda: list_files([1], size=2)):
    try:
        await attempt()
    except TypeError as error:
        result.append(str(error))
try:
    from servers.google_drive import list_fils
except ImportError as error:
    result.append("import failed")
import servers.google_drive as drive
try:
    drive.list_fils
except AttributeError as error:
    result.append(str(error))`;
    const inputSchema = { type: 'object', properties: { page: { type: 'integer' }, size: { type: 'integer' } } };
    const snapshot = snapshotOf([{ id: 'google-drive', tools: [{ name: 'list-files', inputSchema }] }]);
    expect(
      await box.value('python', source, { files: Object.fromEntries(packagesFor(snapshot, 'python')), handlers }),
    ).toEqual([
      { page: 1 },
      { page: 1, size: 2 },
      { page: 1 },
      "got multiple values for argument 'page'",
      'give the input as one value or by name, not both',
      'import failed',
      "module 'servers.google_drive' has no attribute 'list_fils'. Did you mean list_files?",
    ]);
  },
);

const HOSTILE = [
  '"""\nimport os\n"""',
  "'''; raise SystemExit #",
  '*/ throw new Error("out"); /*',
  '\\',
  '\\"\\"\\"',
  'ends in a quote"',
  '""""""',
  '${globalThis.x}`',
  '__proto__',
  'constructor',
  '\u2028throw 1\u2029',
  '\u202egnirts\u202c\u0000\u001b[31m',
  '# type: ignore\n# coding: latin-1',
  '\ud800lone',
  '\u{e0041}\u{1f680}',
  'x'.repeat(128),
  '',
];
