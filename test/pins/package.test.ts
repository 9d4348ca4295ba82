import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** What a user gets besides the built product. A red line here means: the package changed; was it meant? */
const TEXTS = ['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md', 'STYLE.md'];

/** What other programs read: the MCP registry, Claude Code, Codex, container tools. */
const DISTRIBUTION = [
  '.claude-plugin/marketplace.json',
  '.claude-plugin/plugin.json',
  '.codex-plugin/plugin.json',
  'Containerfile',
  'server.json',
  'skills/codemode/SKILL.md',
];

/** Guides, reference, decisions, security, and what the tests prove. */
const DOCS =
  /^docs\/((README|glossary|tutorial|CONFORMANCE)\.md|(guides|reference|decisions|security)\/[\w-]+\.md|images\/[\w-]+\.svg)$/;

/** The demonstration and the guides run these. */
const EXAMPLES = [
  'README.md',
  'cluster/codemode.config.yaml',
  'cluster/compose.yaml',
  'cluster/kubernetes.yaml',
  'cluster/nginx.compose.conf',
  'cluster/nginx.conf',
  'codemode.config.yaml',
  'fan-out.ts',
  'join.ts',
  'library.mjs',
  'measure.config.yaml',
  'openapi.mjs',
  'servers/changing.mjs',
  'servers/customers.mjs',
  'servers/ledger.mjs',
  'servers/orders.mjs',
  'servers/stdio-server.mjs',
  'servers/weather.mjs',
  'summarise.ts',
  'unified.mjs',
].map((file) => `examples/${file}`);

/** Everything else in the package is built, and lies in one of these places. */
const BUILT = [
  /^dist\/(bin|index|langchain|ai-sdk)\.js$/,
  /^dist\/(main|index|langchain|ai-sdk|part-[A-Z0-9]{8})\.cjs$/,
  /^dist\/third-party-notices\.txt$/,
  /^dist\/console\/(index\.html|assets\/[\w-]+\.(js|css|svg))$/,
  /^man\/codemode\.1$/,
  /^dist\/types\/.+\.d\.ts$/,
  /^dist\/worker\/[^/]+\.(js|cjs|wasm|bin|json)$/,
  /^dist\/worker\/python\/\w+\.py$/,
  /^dist\/worker\/go\/((frames|builder|starter)\/)?\w+\.go$|^dist\/worker\/go\/go\.(mod|work)$/,
];

test('the package offers one program, one library entry, two adapters, and nothing deeper', () => {
  expect({ bin: manifest.bin, main: manifest.main, types: manifest.types, exports: manifest.exports }).toEqual({
    bin: { codemode: 'dist/bin.js' },
    main: 'dist/index.js',
    types: 'dist/types/index.d.ts',
    exports: {
      '.': { types: './dist/types/index.d.ts', default: './dist/index.js' },
      './langchain': { types: './dist/types/langchain.d.ts', default: './dist/langchain.js' },
      './ai-sdk': { types: './dist/types/ai-sdk.d.ts', default: './dist/ai-sdk.js' },
    },
  });
});

test('the package asks for Node 20.19 and for exact versions of what it depends on', () => {
  expect(manifest.engines).toEqual({ node: '>=20.19' });
  const { dependencies, optionalDependencies, devDependencies } = manifest;
  const versions = Object.values({ ...dependencies, ...optionalDependencies, ...devDependencies });
  expect(versions.filter((version) => !/^(?:npm:[\w@/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version)))).toEqual(
    [],
  );
});

test('only native packages are installed: the database, and the parser for each C library', () => {
  expect(Object.keys(manifest.dependencies)).toEqual(['libsql']);
  const parsers = ['arm64-gnu', 'arm64-musl', 'x64-gnu', 'x64-musl'].map(
    (end) => `@oxc-transform/binding-linux-${end}`,
  );
  expect(Object.keys(manifest.optionalDependencies)).toEqual(parsers);
  // One release of the parser, which the tests of its users have too.
  const { 'oxc-transform': version } = manifest.devDependencies;
  expect(new Set(Object.values(manifest.optionalDependencies))).toEqual(new Set([version]));
});

test('the MCP client loads with the first connection, and what runs programs with the first run', () => {
  // Follows what is needed at once, as a start does; the maps say what is in a part.
  const seen = new Set<string>();
  const packages = new Set<string>();
  const sources = new Set<string>();
  const follow = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(join(ROOT, 'dist', file), 'utf8');
    for (const [, from = ''] of text.matchAll(/^(?:var \w+ = (?:__toESM\()?)?require\("([^"$]+)"\)/gm)) {
      if (from.startsWith('./')) follow(from.slice(2));
      else if (!from.startsWith('node:')) packages.add(from);
    }
    const map = JSON.parse(readFileSync(join(ROOT, 'dist', `${file}.map`), 'utf8')) as { sources: string[] };
    for (const source of map.sources) {
      const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1];
      if (name !== undefined) packages.add(name);
      else sources.add(source.replace(/^\.\.\/src\//, ''));
    }
  };
  follow('main.cjs');
  expect([...packages].sort()).toEqual(['commander', 'smol-toml', 'yaml', 'zod']);
  const ofRuns = /^(wire\/|worker\/|sandbox\/(jail|sandbox|pool|execution)|broker\/(broker|arguments))\b/;
  expect([...sources].filter((source) => ofRuns.test(source))).toEqual([]);
});

/** A red line here means: other people's code came into the package, or left it. Was it meant? */
const BUNDLED = `
  @codemirror/autocomplete @codemirror/commands @codemirror/lang-go @codemirror/lang-javascript @codemirror/lang-python
  @codemirror/language @codemirror/state @codemirror/view @lezer/common @lezer/go @lezer/highlight @lezer/javascript
  @lezer/lr @lezer/python @marijn/find-cluster-break preact style-mod w3c-keyname
  @fastify/error @fastify/forwarded @fastify/proxy-addr @jridgewell/resolve-uri @jridgewell/sourcemap-codec
  @jridgewell/trace-mapping @modelcontextprotocol/client @modelcontextprotocol/core @modelcontextprotocol/server
  @opentelemetry/api acorn avvio bintrees commander eventsource eventsource-parser fast-decode-uri-component
  fast-deep-equal fast-json-stringify fast-querystring fastify fastq find-my-way ipaddr.js jose
  @graphile/logger graphile-config graphile-worker json5 pg pg-cloudflare pg-connection-string pg-int8 pg-pool pg-protocol
  pg-types pgpass postgres-array postgres-bytea postgres-date postgres-interval split2 tslib xtend
  pkce-challenge process-warning prom-client quickjs-wasi re2js ret reusify rfdc safe-regex2 secure-json-parse semver
  smol-toml tdigest toad-cache undici ws yaml zod`;

test('bundled packages are these, none compiles schemas, each with its licence beside it', () => {
  const notices = readFileSync(join(ROOT, 'dist/third-party-notices.txt'), 'utf8');
  const heads = [
    ...notices.matchAll(/^(\S+) \d+\.\d+\.\d+(?:-[\w.]+)? \((MIT|ISC|0BSD|BSD-2-Clause|BSD-3-Clause|Apache-2.0)\)$/gm),
  ];
  expect(heads.map(([, name]) => name).sort()).toEqual(BUNDLED.trim().split(/\s+/).sort());
});

test('installing the package runs no script of ours', () => {
  const onInstall = ['preinstall', 'install', 'postinstall', 'prepare'];
  expect(Object.keys(manifest.scripts).filter((name) => onInstall.includes(name))).toEqual([]);
});

describe('the packed files', () => {
  const packed = listPackedFiles();

  test('are the built product, the examples and the texts for its users, and nothing else', () => {
    const unexpected = packed.filter((file) => ![...BUILT, DOCS].some((place) => place.test(file)));
    expect(unexpected.sort()).toEqual([...TEXTS, ...DISTRIBUTION, ...EXAMPLES, 'package.json'].sort());
    const guides = readdirSync(join(ROOT, 'docs/guides')).map((file) => `docs/guides/${file}`);
    const more = ['docs/reference/cli.md', 'docs/CONFORMANCE.md', 'docs/security/rules.md'];
    expect(packed).toEqual(expect.arrayContaining([...guides, ...more]));
  });

  test('hold every file that a Markdown file among them links to, by path or repository name', () => {
    const broken = packed.filter((file) => file.endsWith('.md')).flatMap((file) => brokenLinks(file, new Set(packed)));
    expect(broken).toEqual([]);
  });

  test('hold everything that package.json points to, and a program that can be started', () => {
    const targets = [manifest.bin.codemode, manifest.main, manifest.types, ...manifest.man];
    expect(targets.filter((target) => !packed.includes(target))).toEqual([]);
    const program = join(ROOT, manifest.bin.codemode);
    expect(readFileSync(program, 'utf8').split('\n', 1)).toEqual(['#!/usr/bin/env node']);
    expect(statSync(program).mode & 0o111).toBe(0o111);
  });
});

function listPackedFiles(): string[] {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'];
  const [report] = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' }));
  return report.files.map((file: { path: string }) => file.path);
}

/** Links to files and folders of this repository that are not in the package. Code is not looked at. */
function brokenLinks(file: string, packed: ReadonlySet<string>): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, '');
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)|^\[[^\]\n]+\]: (\S+)$/gm)].map(
    ([, inline, address]) => inline ?? address,
  );
  const labels = [...text.matchAll(/\]\[([^\]\n]+)\]/g)].map(([, label]) => label as string);
  const isHere = (path: string) => packed.has(path) || [...packed].some((each) => each.startsWith(`${path}/`));
  const lost = targets.filter((target): target is string => {
    if (target === undefined || /^[a-z+]+:|^#/.test(target)) return false;
    const path = posix.join(posix.dirname(file), decodeURIComponent(target.replace(/#.*$/, '')));
    return !isHere(path.replace(/\/$/, ''));
  });
  const undefinedLabels = labels.filter((label) => !text.includes(`\n[${label}]: `));
  return [...lost, ...undefinedLabels].map((target) => `${file}: ${target}`);
}
