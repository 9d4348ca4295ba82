import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { findConfigFile, PROJECT_FILE, projectFiles } from '../../../config/files/find-file.js';
import { readConfigText } from '../../../config/files/read-file.js';
import { stateFolder } from '../../../config/files/state-folder.js';
import {
  rememberTrust,
  reviewTrustOf,
  summaryOf,
  type TrustReview,
  trustCommand,
} from '../../../config/trust/trust.js';
import { type TrustedFile, TrustedFiles, trustPath } from '../../../config/trust/trusted-files.js';
import { type Environment, readEnvironment } from '../../../config/variables/environment.js';
import { HostError } from '../../../domain/errors.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { EXIT, type Register } from '../command.js';
import { plainLine, printableJson, styled } from '../terminal/terminal.js';
import { askForTrust, canAskForTrust } from '../trust/trust-question.js';

interface TrustFlags {
  readonly list?: boolean;
  readonly revoke?: boolean;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('trust')
    .description('show what the configuration of a folder would start, and trust it')
    .argument('[file]', 'the file, or its folder (default: the current folder)')
    .option('--list', 'show the files that you trust')
    .option('--revoke', 'stop trusting the file')
    .option('--json', 'show the review, or the list, as JSON; trusts nothing')
    .addHelpText('after', HELP)
    .action(async (file: string | undefined, flags: TrustFlags) => {
      context.exitWith(await trust(file, flags));
    });
};

const HELP = `
A codemode.config.{yaml,yml,json} in the current folder may be anybody's. If it starts commands, contacts servers or changes
a protection, it is used only after you agreed to it on a terminal. Trust is for this content in this place: a changed file
asks again. Files named by --config or CODEMODE_CONFIG, and your own ~/.config/codemode/config.yaml, need no trust.
--json prints { "file", "state", "digest", "commands", "addresses", "settings", "variables", "sameNames" }; "state" is harmless,
new, changed or trusted; "sameNames" are servers with the name of another one in your own configuration. With --list it prints
{ "files": [{ "path", "state", "digest", "trustedAt" }] }; "state" is trusted, changed or missing.

Exit status: 0, 1 you did not agree, 2 bad input, or no terminal to ask on.
`;

async function trust(given: string | undefined, flags: TrustFlags): Promise<number> {
  const environment = readEnvironment();
  if (flags.list === true && (flags.revoke === true || given !== undefined))
    throw new HostError('bad_input', '--list takes neither a file nor --revoke');
  if (flags.list === true) return list(flags.json === true, environment);
  if (flags.revoke === true) return revoke(given, environment);
  const file = await fileToTrust(given ?? '.');
  const { ownFile, found } = await findConfigFile({
    cwd: dirname(file),
    environment: { ...environment, CODEMODE_CONFIG: '' },
  });
  if (found?.origin === 'user')
    return say(`${plainLine(file)} needs no trust: it is in your own configuration folder.`);
  const review = await reviewTrustOf(file, environment, ownFile);
  if (flags.json === true) {
    process.stdout.write(`${printableJson(asJson(review), true)}\n`);
    return EXIT.ok;
  }
  if (review.state === 'harmless')
    return say(`${plainLine(file)} needs no trust: it starts nothing and changes no protection.`);
  if (review.state === 'trusted') return say(`${plainLine(file)} is trusted already, with this content.`);
  if (!canAskForTrust())
    throw new HostError(
      'untrusted_config',
      `${file} would ${summaryOf(review)}. Only a person at a terminal can trust it. Type there: ${trustCommand(file)}`,
    );
  if (!(await askForTrust(review))) {
    process.stderr.write(`codemode: ${plainLine(file)} is not trusted; nothing was changed\n`);
    return EXIT.failed;
  }
  await rememberTrust(review, environment);
  return say(`${styled('green', 'trusted')}: ${plainLine(file)}`);
}

/** If a folder is named, the file in it that would be used. Throws `bad_input`. */
async function fileToTrust(given: string): Promise<string> {
  const path = resolve(given);
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const [file] = isFolder ? await projectFiles(path) : [path];
  if (file === undefined)
    throw new HostError('bad_input', `there is no codemode.config.yaml, .yml or .json in ${path}; name the file`);
  if (!PROJECT_FILE.test(basename(file)))
    throw new HostError(
      'bad_input',
      `${file} is not called codemode.config.yaml, .yml or .json; a file with another name is used with --config, and needs no trust`,
    );
  return file;
}

async function revoke(given: string | undefined, environment: Environment): Promise<number> {
  const trusted = new TrustedFiles(stateFolder(environment));
  const path = resolve(given ?? '.');
  // The file may no longer exist: its name is enough.
  const isFile = PROJECT_FILE.test(basename(path));
  const names = isFile
    ? [path]
    : ['yaml', 'yml', 'json'].map((extension) => resolve(path, `codemode.config.${extension}`));
  let revoked = 0;
  for (const name of names) {
    const known = await trustPath(name);
    if (!(await trusted.remove(known))) continue;
    revoked += 1;
    say(`${plainLine(known)} is no longer trusted.`);
  }
  if (revoked > 0) return EXIT.ok;
  throw new HostError(
    'not_found',
    `${isFile ? path : `no file in ${path}`} is ${isFile ? 'not ' : ''}trusted. To see what is: codemode trust --list`,
  );
}

async function list(isJson: boolean, environment: Environment): Promise<number> {
  const files = await new TrustedFiles(stateFolder(environment)).list();
  const rows = await Promise.all(files.map(async (each) => ({ ...each, state: await stateOf(each) })));
  if (isJson) {
    process.stdout.write(`${printableJson({ files: rows }, true)}\n`);
    return EXIT.ok;
  }
  for (const { path, state, trustedAt } of rows)
    process.stdout.write(
      `${styled(state === 'trusted' ? 'green' : 'yellow', state.padEnd(8))}  ${plainLine(path)}  ${styled('dim', `since ${trustedAt}`)}\n`,
    );
  if (rows.length === 0) process.stderr.write('No file is trusted.\n');
  return EXIT.ok;
}

async function stateOf({ path, digest }: TrustedFile): Promise<'trusted' | 'changed' | 'missing'> {
  try {
    return (await readConfigText(path)).digest === digest ? 'trusted' : 'changed';
  } catch {
    return 'missing';
  }
}

function asJson(review: TrustReview) {
  const { file, linkTarget, state, digest, commands, addresses, settings, variables, replaces, sameNames } = review;
  return {
    file,
    ...omitUndefined({ linkTarget }),
    state,
    digest,
    commands,
    addresses,
    settings,
    variables,
    ...omitUndefined({ replaces }),
    sameNames,
  };
}

function say(line: string): number {
  process.stdout.write(`${line}\n`);
  return EXIT.ok;
}
