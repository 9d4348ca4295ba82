import { access, constants, realpath, stat, statfs } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, isAbsolute, resolve, sep } from 'node:path';
import { stateFolder } from '../../../config/files/state-folder.js';
import type { LoadedConfig } from '../../../config/load.js';
import { describeSearch } from '../../../config/nothing-configured.js';
import { isAboutDisabled } from '../../../config/schema/broken-servers.js';
import { configuredLimits } from '../../../config/schema/schema.js';
import { readEnvironment } from '../../../config/variables/environment.js';
import { isHostError } from '../../../domain/errors.js';
import type { KeyKeeper } from '../../../domain/key.js';
import type { Finding } from '../../../host/admin/inspection.js';
import type { ServerReport } from '../../../host/tools/inventory.js';
import { makeFolder } from '../../../lib/files/make-folder.js';
import { shellWord } from '../../../lib/text/shell-word.js';
import { adviceFor } from './server-advice.js';
import { writableByOthers } from './writable-by-others.js';

const MEGABYTE = 1024 * 1024;
const PUBLIC_BITS = 0o044;

/** Findings about a configuration that was loaded: its file, its limits on this machine, its state folder. */
export async function configFindings(loaded: LoadedConfig): Promise<Finding[]> {
  const folder = stateFolder(readEnvironment());
  return [
    ...(await fileFindings(loaded)),
    limitsFinding(loaded),
    await stateFinding(folder),
    ...(await openFindings('State folder', folder)),
    ...(await exposureFindings(loaded, folder)),
  ];
}

/** Where the key is that seals logins and suspended runs, and whether it is readable. */
export async function keyFinding(key: KeyKeeper): Promise<Finding> {
  const name = 'Key';
  try {
    const place = await key.check();
    if (place === 'keyring') return { name, state: 'ok', message: 'in the keyring of this session' };
    if (place === 'file') return { name, state: 'ok', message: 'in a file of the state folder, owner-only' };
    return { name, state: 'ok', message: 'none yet; it is created when it is first needed' };
  } catch (error) {
    if (!isHostError(error, 'bad_config')) throw error;
    return { name, state: 'missing', message: error.message };
  }
}

/** One finding per server. A server that does not answer counts as missing: programs that need it fail. */
export function serverFindings(reports: readonly ServerReport[], loaded: LoadedConfig): Finding[] {
  return reports.flatMap((report): Finding[] => {
    const { id, state, transport, toolCount, reason, warnings } = report;
    const name = `Server ${JSON.stringify(id)}`;
    if (state === 'disabled' && reason === undefined)
      return [{ name, state: 'ok', message: 'disabled in the configuration' }];
    if (state !== 'ready') {
      return [{ name, state: 'missing', message: reason ?? 'did not answer', fix: adviceFor(report, loaded) }];
    }
    const tools = `${toolCount} ${toolCount === 1 ? 'tool' : 'tools'} over ${transport}`;
    if (warnings.length === 0) return [{ name, state: 'ok', message: tools }];
    return [
      {
        name,
        state: 'warning',
        message: [tools, ...warnings].join('; '),
        fix: 'report it to the authors of that server',
      },
    ];
  });
}

async function fileFindings(loaded: LoadedConfig): Promise<Finding[]> {
  const { file, format, warnings, searched, config } = loaded;
  const name = 'Configuration';
  if (file === undefined) {
    const message = `no file was found, so there are no servers; searched: ${describeSearch(searched)}`;
    return [{ name, state: 'warning', message, fix: 'codemode init' }];
  }
  const form = format === 'codemode' ? '' : ` (${format})`;
  const findings: Finding[] = [{ name, state: 'ok', message: `${file}${form}; searched: ${describeSearch(searched)}` }];
  // A disabled server has its own finding.
  for (const message of warnings) if (!isAboutDisabled(message)) findings.push({ name, state: 'warning', message });
  if (Object.keys(config.mcpServers).length === 0)
    findings.push({ name: 'Servers', state: 'warning', message: 'none are configured', fix: 'codemode init' });
  findings.push(...(await openFindings(name, file)));
  const { mode } = await stat(file);
  if ((mode & PUBLIC_BITS) !== 0)
    findings.push({
      name,
      state: 'ok',
      message: 'other users of this machine can read the file; keep secrets out of it, or keep it to yourself',
      fix: `chmod 600 ${file}`,
    });
  return findings;
}

/** Anyone who can change the rules, the key or the audit log can do whatever the owner can. */
async function openFindings(name: string, path: string): Promise<Finding[]> {
  const open = await writableByOthers(path);
  if (open === undefined) return [];
  const { path: place, by } = open;
  const what = place === path ? place : `${path}, because ${place}`;
  if (by === 'its owner') {
    const message = `another user can change ${what}${place === path ? '' : ' is theirs'}`;
    return [{ name, state: 'warning', message, fix: `make it yours: chown "$(id -un)" ${shellWord(place)}` }];
  }
  const reason = place === path ? '' : ` can be written by ${by}`;
  const message = `other users (${by}) can change ${what}${reason}`;
  return [{ name, state: 'missing', message, fix: `chmod go-w ${shellWord(place)}` }];
}

function limitsFinding({ config }: LoadedConfig): Finding {
  const name = 'Limits';
  const { timeoutMs, maxMemoryBytes, maxToolCalls } = configuredLimits(config);
  const workers = config.sandbox.workers.max ?? Math.max(config.sandbox.workers.min, availableParallelism(), 2);
  const message =
    `a program gets ${timeoutMs} ms, ${Math.round(maxMemoryBytes / MEGABYTE)} MB, ${maxToolCalls} tool calls; ` +
    `up to ${workers} workers on ${availableParallelism()} cores and ${Math.round(totalmem() / MEGABYTE)} MB`;
  if (maxMemoryBytes < totalmem()) return { name, state: 'ok', message };
  return {
    name,
    state: 'warning',
    message: `${message}; one program may ask for more memory than there is`,
    fix: 'lower sandbox.limits.memory in the configuration',
  };
}

/** Less than this is not enough for one record. */
const LEAST_FREE_BYTES = 1024 * 1024;

async function stateFinding(folder: string): Promise<Finding> {
  const name = 'State folder';
  try {
    await makeFolder(folder, 0o700);
    await access(folder, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize >= LEAST_FREE_BYTES) return { name, state: 'ok', message: folder };
    const fix = 'make room on it, or set CODEMODE_HOME to a folder on another disk';
    return { name, state: 'missing', message: `the disk of ${folder} is full: no call can be recorded`, fix };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return {
      name,
      state: 'missing',
      message: `${folder} cannot be written (${code ?? 'unknown reason'})`,
      fix: `mkdir -p ${folder} && chmod u+rwx ${folder}   (or set CODEMODE_HOME to another folder)`,
    };
  }
}

/** A server that may write to the folder of our rules could change them for the agent that uses it. */
async function exposureFindings({ file, upstreams }: LoadedConfig, state: string): Promise<Finding[]> {
  const guarded = [...(file === undefined ? [] : [await real(file)]), await real(state)];
  const findings: Finding[] = [];
  for (const { id, target } of upstreams) {
    if (target.kind !== 'stdio') continue;
    for (const word of target.arguments) {
      if (!isAbsolute(word) && !/^\.{0,2}\/|^\.{1,2}$/.test(word)) continue;
      const folder = await real(resolve(target.cwd ?? process.cwd(), word));
      const covered = guarded.find((place) => `${place}${sep}`.startsWith(folder === sep ? sep : `${folder}${sep}`));
      if (covered === undefined || !(await isFolder(folder))) continue;
      findings.push({
        name: `Server ${JSON.stringify(id)}`,
        state: 'warning',
        message: `it can use ${folder}, which contains ${covered}: an agent could change its own rules through it`,
        fix: `give it a folder beside ${dirname(covered)}, not one around it`,
      });
      break;
    }
  }
  return findings;
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function real(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
