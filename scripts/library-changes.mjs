// @ts-check
// What we change in packages, in few words each. The build fails where a text is no longer there.

/**
 * zod writes and compiles a function for every object that it reads the first time. A start reads most objects once or twice, and
 * that took a sixth of it. Here it does so for an object that was read this often; before, it reads without, with the same outcome.
 */
const READS_BEFORE_COMPILATION = 8;

/**
 * What is changed in packages: the end of a file's path, and each text with what replaces it.
 *
 * graphile-worker does not wait for the statement that ends a job. One that fails, because the database is away just then, would be a
 * rejection that nobody handles, and end the host. The job stays taken; whatever it was for is added again with a heartbeat.
 *
 * @type {Readonly<Record<string, readonly (readonly [text: string, replacement: string])[]>>}
 */
const CHANGED = {
  'zod/v4/core/schemas.js': [
    ['const jit = !core.globalConfig.jitless;', 'const jit = !core.globalConfig.jitless; let reads = 0;'],
    [
      'if (jit && fastEnabled && ctx?.async === false && ctx.jitless !== true) {',
      `if (jit && fastEnabled && ctx?.async === false && ++reads > ${READS_BEFORE_COMPILATION} && ctx.jitless !== true) {`,
    ],
  ],
  'graphile-worker/dist/worker.js': [
    [
      'getJob, completeJob, failJob, } = params;',
      `getJob } = params;
      const ended = (end) => (job) => Promise.resolve(end(job)).catch(() => {});
      const [completeJob, failJob] = [ended(params.completeJob), ended(params.failJob)];`,
    ],
  ],
};

/** The text of a package's file as we run it. @param {string} path @param {string} text */
export function withChanges(path, text) {
  const changes =
    Object.entries(CHANGED).find(([end]) => path.replaceAll('\\', '/').endsWith(`node_modules/${end}`))?.[1] ?? [];
  return changes.reduce((changed, [part, replacement]) => {
    if (changed.split(part).length !== 2) throw new Error(`${path} has changed: ${part} is not there once`);
    return changed.replace(part, () => replacement);
  }, text);
}
