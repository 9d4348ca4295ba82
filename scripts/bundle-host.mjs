// @ts-check
// Bundles the program and the library with all packages that are plain JavaScript. Split, so that `await import()` of a
// part loads it then and not before. See docs/decisions/0032-only-native-packages-are-installed.md.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, transform } from 'esbuild';
import { withChanges } from './library-changes.mjs';
import { ROOT } from './repository.mjs';

const PROGRAM = 'src/main.ts';
const LIBRARY = ['src/index.ts', 'src/langchain.ts', 'src/ai-sdk.ts'];

/** Starts the program, on a Node that is new enough. Without static imports: an old Node must be able to parse it. */
const STARTER = 'src/bin.ts';

const TARGET = 'node20.19';

/** How a part names another one. */
const PART_NAME = /(?<=")\.\/(part-\w+)\.js(?=")/g;

/** @param {string} outdir relative to the root @returns which files went into it */
export async function bundleHost(outdir) {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [PROGRAM, ...LIBRARY],
    outdir,
    bundle: true,
    splitting: true,
    // Beside the entries, which find `worker/` from there.
    chunkNames: 'part-[hash]',
    external: Object.keys({ ...dependencies, ...optionalDependencies }),
    plugins: [unusedPackages, smallPackages, noSchemaCompiler],
    platform: 'node',
    // Only this format can be split.
    format: 'esm',
    target: TARGET,
    legalComments: 'none',
    sourcemap: 'inline',
    sourcesContent: false,
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  const parts = await Promise.all(outputFiles.map(({ path, text }) => writePart(path, text)));
  for (const [path, { entryPoint, exports }] of Object.entries(metafile.outputs)) {
    if (LIBRARY.includes(entryPoint ?? '')) writeFacade(join(ROOT, path), exports);
  }
  await build({
    absWorkingDir: ROOT,
    entryPoints: [STARTER],
    outdir,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'es2020',
    define: { BUILD: JSON.stringify(createHash('sha256').update(parts.join('')).digest('hex').slice(0, 16)) },
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'warning',
  });
  return Object.keys(metafile.inputs);
}

/**
 * Makes CommonJS of a part: V8 compiles it once for many starts (`src/start/load-parts.ts`), and Node takes half as long to load it.
 * The map is for tests that ask which source is in which part. Not published: our own code is not minified, so stack traces
 * have its names without a map.
 *
 * @param {string} path of the part as a module @param {string} text @returns its new text
 */
async function writePart(path, text) {
  const { code, map } = await transform(text, {
    sourcefile: basename(path),
    platform: 'node',
    format: 'cjs',
    target: TARGET,
    // `import()` becomes `require()`, a turn later.
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'FILE_URL' },
    banner: text.includes('import.meta.url')
      ? "const FILE_URL = require('node:url').pathToFileURL(__filename).href;"
      : '',
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'warning',
  });
  const file = path.replace(/\.js$/, '.cjs');
  const part = code.replaceAll(PART_NAME, './$1.cjs');
  writeFileSync(file, part);
  writeFileSync(`${file}.map`, map);
  return part;
}

/** An entry of the library as a module: an `import` of CommonJS sees the names that are listed. @param {string} path @param {string[]} names */
function writeFacade(path, names) {
  writeFileSync(path, `export { ${names.join(', ')} } from './${basename(path, '.js')}.cjs';\n`);
}

/**
 * Packages that the bundled ones load only for features that we do not use, with the reason. Loading one throws, so that a
 * change that starts to use such a feature fails in the first test that gets there.
 */
const UNUSED = {
  pino: 'fastify is created with `logger: false`',
  'light-my-request': '`inject` of fastify is for tests',
  '@fastify/ajv-compiler': 'routes have no schema: requests are read with zod',
  '@fastify/fast-json-stringify-compiler': 'routes have no schema: requests are read with zod',
};

/** Written here, because the package comes without the text of its licence: what fastify logs to where nobody listens. */
const NULL_LOGGER = `
  const nothing = () => {};
  module.exports = { fatal: nothing, error: nothing, warn: nothing, info: nothing, debug: nothing, trace: nothing };`;

/**
 * What stands in for packages that are loaded but must do nothing. graphile-worker looks for settings in the current folder with
 * cosmiconfig, and would run a `.js` file that it finds there.
 */
const REPLACED = {
  'abstract-logging': NULL_LOGGER,
  cosmiconfig: 'module.exports = { cosmiconfigSync: () => ({ search: () => null }) };',
};

const unusedPackages = {
  name: 'unused-packages',
  /** @param {import('esbuild').PluginBuild} bundler */
  setup({ onResolve, onLoad }) {
    const namespace = 'unused-packages';
    const names = [...Object.keys(UNUSED), ...Object.keys(REPLACED)];
    onResolve({ filter: new RegExp(`^(${names.join('|')})$`) }, ({ path }) => ({ path, namespace }));
    onLoad({ filter: /.*/, namespace }, ({ path }) => {
      if (Object.hasOwn(REPLACED, path)) return { contents: REPLACED[/** @type {keyof typeof REPLACED} */ (path)] };
      const reason = `${path} is not in the bundle: ${UNUSED[/** @type {keyof typeof UNUSED} */ (path)]}`;
      return { contents: `throw new Error(${JSON.stringify(reason)});` };
    });
  },
};

/** What the engine must read before it runs anything is a fifth of a start; our own code stays as it is in stack traces. */
const smallPackages = {
  name: 'small-packages',
  /** @param {import('esbuild').PluginBuild} bundler */
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path }) => {
      const options = /** @type {const} */ ({ loader: 'js', minify: true, keepNames: false, legalComments: 'none' });
      const text = withChanges(path, readFileSync(path, 'utf8'));
      return { contents: (await transform(text, options)).code, loader: 'js' };
    });
  },
};

/**
 * The protocol's libraries bring a validator that compiles schemas to code, as a default that we never use: it would be
 * most of what they weigh, and foreign schemas must not get to it.
 */
const noSchemaCompiler = {
  name: 'no-schema-compiler',
  /** @param {import('esbuild').PluginBuild} bundler */
  setup({ onResolve, onLoad }) {
    const namespace = 'no-schema-compiler';
    onResolve({ filter: /^@modelcontextprotocol\/(client|server)\/_shims$/ }, ({ path }) => ({ path, namespace }));
    onLoad({ filter: /.*/, namespace }, () => ({ contents: SHIMS, loader: 'js', resolveDir: ROOT }));
  },
};

/** The names that the libraries take from `_shims` on Node. */
const SHIMS = `
  import process from 'node:process';
  export { process };
  export const CORS_IS_POSSIBLE = false;
  export class DefaultJsonSchemaValidator {
    getValidator() { throw new Error('schemas are not compiled here: pass a jsonSchemaValidator'); }
  }`;
