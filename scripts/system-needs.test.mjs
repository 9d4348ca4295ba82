// @ts-check
import { expect, test } from 'vitest';
import { installCommand, probeNeed } from './system-needs.mjs';

const need = { package: 'nothing', use: 'this test' };

test('a need is met when its probe succeeds', () => {
  expect(probeNeed({ ...need, probe: [process.execPath, '--version'] })).toEqual({ isMet: true });
});

test('a missing program can be installed, and the reason says what to type', () => {
  expect(probeNeed({ ...need, probe: ['no-such-program-anywhere'] })).toEqual({
    isMet: false,
    isInstallable: true,
    reason: `no-such-program-anywhere is missing, needed for this test; type: ${installCommand(['nothing'])}`,
  });
});

test('a program that a shell did not find can be installed too', () => {
  expect(probeNeed({ ...need, probe: ['sh', '-c', 'no-such-program-anywhere'] })).toEqual({
    isMet: false,
    isInstallable: true,
    reason: `nothing is missing, needed for this test; type: ${installCommand(['nothing'])}`,
  });
});

test('the command to type is complete, for root and for anyone else', () => {
  expect(installCommand(['a', 'b'], true)).toBe('apt-get update && apt-get install -y --no-install-recommends a b');
  expect(installCommand(['a'], false)).toBe('sudo apt-get update && sudo apt-get install -y --no-install-recommends a');
});

test('a program that is installed but broken is reported with its own error, not reinstalled', () => {
  const probe = [process.execPath, '-e', 'console.error("not permitted"); process.exit(1)'];
  expect(probeNeed({ ...need, probe, ifBroken: 'permit it' })).toEqual({
    isMet: false,
    isInstallable: false,
    reason: `${process.execPath} does not work here (not permitted), needed for this test; permit it`,
  });
});
