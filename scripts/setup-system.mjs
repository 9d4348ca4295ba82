// @ts-check
// Installs what the tests need beyond `npm ci`, from the system where we may; says what to type where we may not. The tests look for
// themselves (test/support/needs.ts) and are skipped with the same reason.
import { spawnSync } from 'node:child_process';
import { installSuite, report } from '../test/mcp-suite/install.mjs';
import { isMain } from './repository.mjs';
import { checkNeed, installCommand, NEEDS } from './system-needs.mjs';

if (isMain(import.meta.url)) {
  const before = unmetNeeds();
  const missing = before.filter(({ check }) => check.isInstallable);
  const installs = missing.length > 0 && mayInstall();
  if (installs) install(missing.map(({ name }) => NEEDS[name].package));
  const unmet = installs ? unmetNeeds() : before;
  for (const { name } of allNeeds()) if (!unmet.some((need) => need.name === name)) console.log(`${name}: ok`);
  for (const { name, check } of unmet) console.log(`${name}: ${check.reason}\n  its tests will be skipped`);
  console.log(report(installSuite()));
}

function allNeeds() {
  return /** @type {import('./system-needs.mjs').NeedName[]} */ (Object.keys(NEEDS)).map((name) => ({ name }));
}

function unmetNeeds() {
  return allNeeds().flatMap(({ name }) => {
    const check = checkNeed(name);
    return check.isMet ? [] : [{ name, check }];
  });
}

function mayInstall() {
  return process.getuid?.() === 0 && spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0;
}

/** Failing is not fatal: whatever is still missing afterwards is reported. @param {readonly string[]} packages */
function install(packages) {
  console.log(`installing ${packages.join(', ')} with apt-get (this takes a moment)`);
  const apt = (args) =>
    spawnSync('apt-get', args, {
      encoding: 'utf8',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', ...packages],
  ]) {
    const { status, stderr } = apt(args);
    if (status !== 0) {
      console.log(`apt-get ${args[0]} failed; to try it by hand, type: ${installCommand(packages)}`);
      console.log(stderr.trim().replace(/^/gm, '  '));
      return;
    }
  }
}
