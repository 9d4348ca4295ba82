import { realpath } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { HostError } from '../../domain/errors.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { configuredServers } from '../clients/same-servers.js';
import { parseYaml } from '../files/document.js';
import { type ConfigText, readConfigText } from '../files/read-file.js';
import { stateFolder } from '../files/state-folder.js';
import { detectFormat, importForeign } from '../import/import.js';
import { isObject, shapeServers } from '../schema/server-map.js';
import type { Environment } from '../variables/environment.js';
import { isHarmless, type Powers, powersOf } from './trust-review.js';
import { TrustedFiles, trustPath } from './trusted-files.js';

/** A configuration of the current folder, for a person to judge. */
export interface TrustReview extends Powers {
  readonly file: string;
  /** The target of the file, if it is a symbolic link. */
  readonly linkTarget?: string;
  /** The path under which it is remembered. */
  readonly path: string;
  readonly digest: string;
  readonly state: 'harmless' | 'new' | 'changed' | 'trusted';
  /** The user's own configuration, which it replaces. */
  readonly replaces?: string;
  /** Servers with the name of a different server there: a reader may confuse them. */
  readonly sameNames: readonly string[];
}

/** Shows a person what a file would do, and returns whether that person agreed. */
export type ConfirmTrust = (review: TrustReview) => Promise<boolean>;

export interface ReviewedFile extends ConfigText {
  readonly file: string;
  /** The plain data of the file. */
  readonly value: JsonValue;
  readonly ownFile?: string | undefined;
}

/** What this file would do, and whether the user agreed to exactly this content. Throws `bad_config`. */
export async function reviewTrust(
  { file, digest, value, ownFile }: ReviewedFile,
  environment: Environment,
): Promise<TrustReview> {
  const path = await trustPath(file);
  const target = await realpath(file).catch(() => path);
  const format = detectFormat(file, value);
  const shaped = format === undefined ? shapeServers(value) : importForeign(value, format);
  const replaces = omitUndefined({ replaces: ownFile });
  const known = {
    file,
    path,
    digest,
    ...(target === path ? {} : { linkTarget: target }),
    ...replaces,
    sameNames: await namesTaken(shaped.value, ownFile),
    ...powersOf(shaped.value),
  };
  if (isHarmless(value) && ownFile === undefined) return { ...known, state: 'harmless' };
  const remembered = await new TrustedFiles(stateFolder(environment)).find(path);
  if (remembered === undefined) return { ...known, state: 'new' };
  return { ...known, state: remembered.digest === digest ? 'trusted' : 'changed' };
}

/** If the user's own file cannot be read, no names are taken. */
async function namesTaken(value: JsonValue, ownFile: string | undefined): Promise<string[]> {
  const servers = isObject(value) && isObject(value.mcpServers) ? value.mcpServers : {};
  const own = ownFile === undefined ? {} : await configuredServers(ownFile).catch(() => ({}));
  const taken = Object.entries(servers).filter(
    ([name, server]) => Object.hasOwn(own, name) && !isDeepStrictEqual(server, (own as JsonObject)[name]),
  );
  return taken.map(([name]) => name);
}

/** Reads a file and reviews it. For `codemode trust`. Throws `bad_config`. */
export async function reviewTrustOf(
  file: string,
  environment: Environment,
  ownFile: string | undefined,
): Promise<TrustReview> {
  const read = await readConfigText(file);
  return reviewTrust({ file, ...read, value: parseYaml(read.text, file).value, ownFile }, environment);
}

/** Remembers that a person agreed to the reviewed bytes, in this place. */
export async function rememberTrust({ path, digest }: TrustReview, environment: Environment): Promise<void> {
  await new TrustedFiles(stateFolder(environment)).add({ path, digest });
}

/**
 * Accepts a file of the current folder only if it is harmless or a person agreed to it, earlier or now. Throws `untrusted_config`
 * with the command to type.
 */
export async function requireTrust(
  reviewed: ReviewedFile,
  environment: Environment,
  confirm: ConfirmTrust | undefined,
): Promise<'harmless' | 'trusted'> {
  const review = await reviewTrust(reviewed, environment);
  if (review.state === 'harmless' || review.state === 'trusted') return review.state;
  if (confirm === undefined) throw untrusted(review);
  if (!(await confirm(review)))
    throw new HostError(
      'untrusted_config',
      `${review.file} is not trusted, so nothing was done. To review it again: ${trustCommand(review.file)}`,
    );
  await rememberTrust(review, environment);
  return 'trusted';
}

function untrusted(review: TrustReview): HostError {
  const isChanged = review.state === 'changed';
  return new HostError(
    'untrusted_config',
    `${review.file} ${isChanged ? 'has changed since you trusted it' : 'is not trusted yet'}: it would ${summaryOf(review)}. ` +
      `Review and trust it${isChanged ? ' again' : ''} with: ${trustCommand(review.file)}`,
  );
}

export function trustCommand(file: string): string {
  return `codemode trust ${/^[\w@%+=:,./-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`}`;
}

/** `start 2 commands, contact 1 URL and change 3 protected settings`. No text in it comes from the file. */
export function summaryOf({ commands, addresses, settings, variables, replaces, sameNames }: TrustReview): string {
  const some = (count: number, verb: string, noun: string) =>
    count === 0 ? [] : [`${verb} ${count} ${noun}${count === 1 ? '' : 's'}`];
  const parts = [
    ...some(commands.length, 'start', 'command'),
    ...some(addresses.length, 'contact', 'URL'),
    ...some(settings.length, 'change', 'protected setting'),
    ...some(variables.length, 'read', 'environment variable'),
    ...(replaces === undefined ? [] : [`replace your own configuration ${replaces}`]),
    ...(sameNames.length === 0
      ? []
      : [`use the ${sameNames.length === 1 ? 'name of a server' : 'names of servers'} of yours for something else`]),
  ];
  if (parts.length === 0) return 'change settings';
  return parts.length === 1 ? (parts[0] as string) : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}
