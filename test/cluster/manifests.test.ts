import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

/* The files of examples/cluster that no test starts: what they say about hosts is what hosts do. */

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };
const SERVE = ['--config', '/etc/codemode/config.yaml', 'serve', '--host', '0.0.0.0', '--port', '3000'];
/** A host that drains ends by itself after this time. */
const MAX_DRAIN_S = 30;

test('the Kubernetes manifest names the paths, rights and time to drain that hosts need', () => {
  const [deployment, service, budget] = parseAllDocuments(read('examples/cluster/kubernetes.yaml')).map((document) =>
    document.toJS(),
  );
  const { spec } = deployment.spec.template;
  const [container] = spec.containers;
  expect(container).toMatchObject({
    image: `codemode:${version}`,
    args: SERVE,
    readinessProbe: { httpGet: { path: '/readyz', port: 'http' } },
    livenessProbe: { httpGet: { path: '/healthz', port: 'http' } },
    securityContext: { capabilities: { drop: ['ALL'] } },
  });
  expect(spec.securityContext).toMatchObject({
    runAsNonRoot: true,
    seccompProfile: { type: 'Unconfined' },
    appArmorProfile: { type: 'Unconfined' },
  });
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(MAX_DRAIN_S);
  expect(container.env.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(['CODEMODE_STORE', 'CODEMODE_KEY']),
  );
  expect(deployment.spec.replicas).toBe(3);
  for (const each of [service.spec.selector, budget.spec.selector.matchLabels])
    expect(each).toEqual(deployment.spec.template.metadata.labels);
});

test('the compose file starts three hosts of one store, and its balancer names each of them', () => {
  const { services } = parse(read('examples/cluster/compose.yaml'), { merge: true });
  const hosts = Object.keys(services).filter((name) => services[name].image === 'codemode');
  expect(hosts).toEqual(['host1', 'host2', 'host3']);
  for (const name of hosts) {
    expect(services[name].command).toEqual(SERVE);
    expect(Object.keys(services[name].environment)).toEqual(expect.arrayContaining(['CODEMODE_STORE', 'CODEMODE_KEY']));
    expect(Number.parseInt(services[name].stop_grace_period, 10)).toBeGreaterThan(MAX_DRAIN_S);
  }
  const named = [...read('examples/cluster/nginx.compose.conf').matchAll(/^ *server (\w+):3000 /gm)];
  expect(named.map(([, name]) => name)).toEqual(hosts);
});

test('both balancers pass requests on by the same rules', () => {
  const rules = (name: string) => /location \/ \{[\s\S]*?\n {4}\}/.exec(read(name))?.[0];
  expect(rules('examples/cluster/nginx.compose.conf')).toBe(rules('examples/cluster/nginx.conf'));
  expect(rules('examples/cluster/nginx.conf')).toMatch(/proxy_next_upstream error timeout http_503;/);
});
