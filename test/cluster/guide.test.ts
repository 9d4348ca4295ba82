import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needs } from '../support/needs.js';
import { binary, freePort, PostgresServer } from '../support/postgres.js';
import { PROGRAM } from '../support/program.js';

const ROOT = new URL('../../', import.meta.url).pathname;

test('the guide takes one laptop to three hosts behind nginx', {
  ...needs('postgresql', 'bubblewrap', 'nginx', 'jq', 'curl'),
  timeout: 180_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-guide-'));
  const server = await PostgresServer.start({
    access: ['local all all trust', 'host all postgres all trust', 'host all all all scram-sha-256'],
  });
  await server.administer('CREATE ROLE postgres LOGIN SUPERUSER');
  const guide = readFileSync(join(ROOT, 'docs/guides/cluster.md'), 'utf8');
  const blocks = [...guide.matchAll(/<!-- runs -->\n```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? '');
  expect(blocks.length).toBe(9);
  cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
  const work = join(folder, 'examples/cluster');
  // Other programs on this machine may have the ports of the guide.
  const ports = await Promise.all([0, 1, 2, 3].map(freePort));
  const moved = (text: string) =>
    ports
      .reduce((all: string, port, index) => all.replaceAll(`300${index}`, String(port)), text)
      .replaceAll('127.0.0.1:5432', `127.0.0.1:${server.port}`);
  // Three ports in a row are one expression in the guide.
  const script = moved(blocks.join('\n').replaceAll('300$n', '$(port $n)'));
  writeFileSync(join(work, 'nginx.conf'), moved(readFileSync(join(work, 'nginx.conf'), 'utf8')));
  // One host is killed, and what comes after it waits until its lease has expired.
  const configFile = join(work, 'codemode.config.yaml');
  writeFileSync(configFile, readFileSync(configFile, 'utf8').replace('lease: 15s', 'lease: 3s'));
  writeFileSync(join(folder, 'codemode'), `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@"\n`);
  chmodSync(join(folder, 'codemode'), 0o755);
  // Asked first: nginx that is killed leaves its workers behind.
  writeFileSync(
    join(folder, 'guide.sh'),
    `set -e -o pipefail\ntrap 'kill $(jobs -p) 2>/dev/null; sleep 1; kill -9 $(jobs -p) 2>/dev/null || true' EXIT\nport() { echo ${ports.slice(1).join(' ')} | cut -d' ' -f"$1"; }\n${script}`,
  );
  try {
    const path = `${folder}:${binary('psql').replace(/\/psql$/, '')}:${process.env.PATH ?? ''}`;
    const child = spawn('bash', [join(folder, 'guide.sh')], {
      cwd: work,
      env: { PATH: path, HOME: folder, CODEMODE_KEYRING: 'file' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    const [status] = (await once(child, 'exit')) as [number | null];
    expect([status, status === 0 ? '' : output]).toEqual([0, '']);
    expect(output).toMatch(/the schema is at version \d+; codemode_host may read and write its rows/);
    expect(output).toContain('"state":"APPROVED"');
    // In the database, in the restored one and back in a state folder.
    expect(output.match(/^whole: \d+ records, \d+ chains?, anchored \d+ times$/gm)).toHaveLength(2);
    expect(output.match(/succeeded/g)?.length).toBeGreaterThanOrEqual(2);
    expect(output.match(/^host .* up, lease for/gm)?.length).toBeGreaterThanOrEqual(2);
    expect(JSON.parse(readFileSync(join(work, 'result.json'), 'utf8'))).toMatchObject({ success: true });
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
