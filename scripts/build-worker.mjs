// Builds what runs inside the jail: the worker's bundle, the patched engine and its image. Everything lies in dist/worker, with
// a manifest of hashes that the host checks before it mounts anything.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const output = join(root, 'dist/worker');

const ENGINE = 'node_modules/quickjs-wasi/quickjs.wasm';
/** The one binary that programs run in. A new version of the package is a decision, not an update. */
const ENGINE_SHA256 = 'd4c9375f2b1ca4dc95f72c8aa2982a7a9951ac8011490d79c6582df732b4bbd9';
/** What CPython is given in its jail, as it is. */
const PYTHON_FILES = ['main.py', 'check_calls.py', 'codemode_client.py', 'failures.py', 'frames.py', 'text_data.py'];
/** Compiled on the user's machine, by its own Go. */
const GO_FILES = [
  ...[
    'go.mod',
    'go.work',
    'client.go',
    'deadline.go',
    'encode.go',
    'main.go',
    'open.go',
    'text.go',
    'values.go',
    'frames/frames.go',
  ],
  ...['builder/main.go', 'builder/build.go', 'builder/imports.go', 'builder/prepare.go', 'builder/warm.go'],
  ...['builder/cache.go', 'starter/main.go'],
];
const BUILD_PLACEHOLDER = 'codemode-build-id-placeholder';

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

const bundle = async (entry, options) => {
  const result = await build({
    entryPoints: [join(root, entry)],
    bundle: true,
    write: false,
    metafile: true,
    legalComments: 'none',
    absWorkingDir: root,
    ...options,
  });
  return { text: result.outputFiles[0].text, inputs: Object.keys(result.metafile.inputs).sort() };
};

const forNode = {
  platform: 'node',
  format: 'esm',
  target: 'node20',
  define: { BUILD_ID: JSON.stringify(BUILD_PLACEHOLDER) },
};

const guestScript = {
  platform: 'neutral',
  format: 'iife',
  target: 'es2023',
  minifyWhitespace: true,
  minifySyntax: true,
};

/** Stacks are made differently in each engine; everything else of the boot code is the same. */
const stacksOfV8 = {
  name: 'stacks-of-v8',
  setup(build) {
    const path = join(root, 'src/worker/v8/guest/stack.ts');
    build.onResolve({ filter: /^\.\/stack\.js$/ }, () => ({ path }));
  },
};

export async function buildWorker() {
  for (const folder of ['python', 'go/frames', 'go/builder', 'go/starter'])
    await mkdir(join(output, folder), { recursive: true });
  const [worker, returns, nodeProgram, boot, v8Main, v8Worker, v8Boot, lister, maker] = await Promise.all([
    bundle('src/worker/main.ts', forNode),
    // With the second parser in it: loaded by the first script that needs it, where it would cost every start 5 ms.
    bundle('src/worker/transpiler/second-parser.ts', { ...forNode, format: 'cjs', minify: true }),
    bundle('src/worker/node/main.ts', forNode),
    // Names stay: programs see the names of error classes. Lines do not: nobody sees those.
    bundle('src/worker/quickjs/guest/boot.ts', guestScript),
    bundle('src/worker/v8/main.ts', { ...forNode, format: 'cjs' }),
    // The body of a function that is compiled for a realm of its own.
    bundle('src/worker/v8/worker.ts', {
      ...forNode,
      format: 'cjs',
      define: { ...forNode.define, 'import.meta.url': '"file:///codemode/v8-worker.js"' },
    }),
    bundle('src/worker/v8/guest/boot.ts', { ...guestScript, plugins: [stacksOfV8] }),
    bundle('src/worker/v8/guest/list-intrinsics.ts', guestScript),
    bundle('scripts/image-maker.ts', forNode),
  ]);

  const engine = await readFile(join(root, ENGINE));
  if (sha256(engine) !== ENGINE_SHA256) {
    throw new Error(
      `quickjs.wasm has the hash ${sha256(engine)}, not the pinned one. Check what changed in quickjs-wasi, then pin the new hash.`,
    );
  }
  const makerFile = join(output, 'image-maker.mjs');
  await writeFile(makerFile, maker.text);
  const { makeEngineAndImage } = await import(`${pathToFileURL(makerFile).href}?${Date.now()}`);
  const { binary, image, intrinsics } = makeEngineAndImage(engine, boot.text, lister.text);
  await rm(makerFile);

  const python = await Promise.all(
    PYTHON_FILES.map(async (name) => [`python/${name}`, await readFile(join(root, 'src/worker/python', name), 'utf8')]),
  );
  const go = await Promise.all(
    GO_FILES.map(async (name) => [`go/${name}`, await readFile(join(root, 'src/worker/go', name), 'utf8')]),
  );
  const texts = Object.fromEntries([
    ...[
      ['worker.js', worker.text],
      ['returns.cjs', returns.text],
      ['node-program.js', nodeProgram.text],
      ['v8-main.cjs', v8Main.text],
      ['v8-worker.js', v8Worker.text],
      ['v8-boot.js', v8Boot.text],
      ['intrinsics.json', intrinsics],
    ],
    ...python,
    ...go,
  ]);
  const build = sha256(Buffer.concat([Buffer.from(JSON.stringify(texts)), binary, image])).slice(0, 32);
  const files = {
    ...Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [name, Buffer.from(text.replaceAll(BUILD_PLACEHOLDER, build))]),
    ),
    'quickjs.wasm': Buffer.from(binary),
    'image.bin': Buffer.from(image),
    // Node reads it to know that these files are modules.
    'package.json': Buffer.from('{"type":"module"}\n'),
  };
  const hashes = {};
  for (const [name, bytes] of Object.entries(files)) {
    await writeFile(join(output, name), bytes);
    hashes[name] = sha256(bytes);
  }
  const inputs = {
    ...{ 'worker.js': worker.inputs, 'returns.cjs': returns.inputs, 'node-program.js': nodeProgram.inputs },
    ...{ 'v8-main.cjs': v8Main.inputs, 'v8-worker.js': v8Worker.inputs, 'v8-boot.js': v8Boot.inputs },
    'intrinsics.json': lister.inputs,
    guest: boot.inputs,
  };
  await writeFile(join(output, 'manifest.json'), `${JSON.stringify({ build, files: hashes, inputs }, null, 2)}\n`);
  return { build, imageBytes: image.length, inputs: [...Object.values(inputs).flat(), ENGINE] };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await buildWorker());
