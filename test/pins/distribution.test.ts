import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const readJson = (file: string) => JSON.parse(read(file));
const manifest = readJson('package.json');
const REPOSITORY = 'https://github.com/codemode/codemode';
const START = { command: 'npx', args: ['-y', 'codemode', 'mcp'] };

/** What the MCP registry's schema of 2025-12-11 says about the fields that we use. Fields that it does not have are refused. */
const registrySchema = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z.string().regex(/^\d+\.\d+\.\d+(-[\w.]+)?$/),
  repository: z.strictObject({ url: z.url(), source: z.literal('github') }),
  packages: z.tuple([
    z.strictObject({
      registryType: z.literal('npm'),
      registryBaseUrl: z.literal('https://registry.npmjs.org'),
      identifier: z.string(),
      version: z.string().regex(/^\d+\.\d+\.\d+(-[\w.]+)?$/),
      runtimeHint: z.literal('npx'),
      transport: z.strictObject({ type: z.literal('stdio') }),
      packageArguments: z.array(z.strictObject({ type: z.literal('positional'), value: z.string() })),
    }),
  ]),
});

describe('server.json', () => {
  const server = registrySchema.parse(readJson('server.json'));

  test('names the npm package, its version and the command that starts the server', () => {
    const { identifier, version, packageArguments } = server.packages[0];
    expect({ identifier, version, ours: server.version }).toEqual({
      identifier: manifest.name,
      version: manifest.version,
      ours: manifest.version,
    });
    expect(packageArguments.map(({ value }) => value)).toEqual(['mcp']);
  });

  test('has the name that package.json proves to be ours', () => {
    expect(server.name).toBe(manifest.mcpName);
    expect(server.repository.url).toBe(REPOSITORY);
  });
});

test('package.json says where the sources, the issues and the documentation are', () => {
  const { repository, bugs, homepage, keywords } = manifest;
  expect({ repository, bugs, homepage }).toEqual({
    repository: { type: 'git', url: `git+${REPOSITORY}.git` },
    bugs: { url: `${REPOSITORY}/issues` },
    homepage: `${REPOSITORY}#readme`,
  });
  expect(keywords).toEqual(expect.arrayContaining(['mcp', 'mcp-server', 'code-mode']));
});

const author = z.strictObject({ name: z.string() });
const pluginFacts = {
  name: z.literal('codemode'),
  version: z.literal(manifest.version),
  description: z.string(),
  author,
  homepage: z.literal(manifest.homepage),
  repository: z.literal(REPOSITORY),
  license: z.literal('MIT'),
  keywords: z.array(z.string()),
  mcpServers: z.strictObject({
    codemode: z.strictObject({
      command: z.literal('npx'),
      args: z.tuple([z.literal('-y'), z.literal('codemode'), z.literal('mcp')]),
    }),
  }),
};

test('the Claude Code plugin starts the server with npx and has our version', () => {
  z.strictObject(pluginFacts).parse(readJson('.claude-plugin/plugin.json'));
  const plugin = z.strictObject({ name: z.literal('codemode'), source: z.literal('./'), description: z.string() });
  z.strictObject({
    name: z.literal('codemode'),
    owner: author,
    description: z.string(),
    plugins: z.tuple([plugin]),
  }).parse(readJson('.claude-plugin/marketplace.json'));
});

test('the Codex plugin starts the same server, names its skills and keeps the prompt limits', () => {
  const line = z.string().min(1);
  z.strictObject({
    ...pluginFacts,
    skills: z.literal('./skills/'),
    interface: z.strictObject({
      ...{ displayName: line, shortDescription: line, longDescription: line, developerName: line, category: line },
      capabilities: z.array(line),
      // Codex drops prompts past the third, and those of more than 128 characters.
      defaultPrompt: z.array(line.max(128)).max(3),
    }),
  }).parse(readJson('.codex-plugin/plugin.json'));
});

describe('the skill', () => {
  const text = read('skills/codemode/SKILL.md');

  test('has a name and a description that fit the format of skills', () => {
    const [, head = ''] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? [];
    const fields = Object.fromEntries(head.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
    expect(Object.keys(fields)).toEqual(['name', 'description']);
    expect(fields.name).toBe('codemode');
    expect(fields.description.length).toBeLessThanOrEqual(1_024);
  });

  test('speaks of the tool by its name and of modules that exist', () => {
    expect(text).toContain('`codemode_run`');
    const modules = [...text.matchAll(/from '(@codemode\/[^']+)'/g)].map(([, name]) => name);
    expect([...new Set(modules)].sort()).toEqual([
      '@codemode/discovery',
      '@codemode/results',
      '@codemode/servers/github',
    ]);
  });
});

describe('install links of the README', () => {
  const links = [...read('README.md').matchAll(/\]\((https:\/\/[^)]*install[^)]*config=[^)]*)\)/g)].map(
    ([, link]) => new URL(link as string),
  );

  test('are one for Cursor and one for VS Code', () => {
    expect(links.map(({ origin, pathname }) => origin + pathname)).toEqual([
      'https://cursor.com/en/install-mcp',
      'https://insiders.vscode.dev/redirect/mcp/install',
    ]);
  });

  test('decode to the command that starts the server', () => {
    const [cursor, code] = links.map(({ searchParams }) => ({
      name: searchParams.get('name'),
      config: searchParams.get('config') ?? '',
    }));
    expect({ ...cursor, config: JSON.parse(Buffer.from(cursor?.config ?? '', 'base64').toString()) }).toEqual({
      name: 'codemode',
      config: START,
    });
    expect({ ...code, config: JSON.parse(code?.config ?? '') }).toEqual({
      name: 'codemode',
      config: { type: 'stdio', ...START },
    });
  });
});

test('the Containerfile and the guide to platforms name the flags that codemode itself advises', () => {
  const advice = read('src/sandbox/jail/advice.ts');
  const [, list = ''] = /const flags = isRestricted \? \[([^\]]+)\]/.exec(advice) ?? [];
  const flags = [...list.matchAll(/'([^']+)'/g)].map(([, flag]) => flag).join(' ');
  expect(flags).toBe('--security-opt seccomp=unconfined --security-opt apparmor=unconfined');
  for (const file of ['Containerfile', 'docs/guides/platforms.md']) expect(read(file)).toContain(flags);
  expect(read('Containerfile')).toContain(`ARG PACKAGE=codemode@${manifest.version}\n`);
});

describe('relative links', () => {
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'];
  const [report] = JSON.parse(
    execFileSync('npm', words, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  const packed: string[] = report.files.map((file: { path: string }) => file.path);
  const texts = packed.filter((file) => file.endsWith('.md'));

  test('of every packed text lead to a packed file or folder', () => {
    expect(texts).toEqual(expect.arrayContaining(['README.md', 'docs/reference/cli.md', 'docs/guides/platforms.md']));
    expect(texts.flatMap((file) => brokenLinks(file, packed))).toEqual([]);
  });

  test('of every packed text that name a heading name one that is there', () => {
    expect(texts.flatMap(brokenHeadings)).toEqual([]);
  });
});

/** Links of Markdown, without those in code. */
function relativeLinks(file: string): { target: string; heading: string | undefined }[] {
  const text = read(file).replace(/```[\s\S]*?```|`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [path = '', heading] = link.split('#');
      return { target: path === '' ? file : join(file, '..', path), heading };
    });
}

function brokenLinks(file: string, packed: readonly string[]): string[] {
  return relativeLinks(file)
    .filter(({ target }) => !packed.some((each) => each === target || each.startsWith(`${target.replace(/\/$/, '')}/`)))
    .map(({ target }) => `${file}: ${target}`);
}

function brokenHeadings(file: string): string[] {
  return relativeLinks(file)
    .filter(({ target, heading }) => heading !== undefined && target.endsWith('.md'))
    .filter(({ target, heading }) => !headingsOf(target).includes(heading as string))
    .map(({ target, heading }) => `${file}: ${target}#${heading}`);
}

/** As GitHub and npm make anchors of headings, and those that a text has itself. */
function headingsOf(file: string): string[] {
  const text = read(file);
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
  return [...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)];
}
