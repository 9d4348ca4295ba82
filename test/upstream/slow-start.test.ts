import { describe, expect, test } from 'vitest';
import { createRegistry, definition, fixture, stdio, textOf } from '../support/upstreams.js';

/** Longer than we wait before we ask a silent server in the older era's words too. */
const DELAY = ['--delay', '7000'];

describe.concurrent('a server that takes 7 s to start is connected', () => {
  test.each([
    ['only speaks the newer protocol', 'modern', '2026-07-28'],
    ['speaks both protocols', 'both', /^202[56]-/],
    ['only speaks the older protocol', 'legacy', '2025-11-25'],
    ['only speaks the older protocol, and ignores other requests', 'ignoring', '2025-11-25'],
    ['only speaks the older protocol, and ends over other requests', 'dying', '2025-11-25'],
  ])('when it %s', async (_, era, version) => {
    await using registry = createRegistry();
    const target = stdio(fixture('slow-server.mjs'), ['--era', era, ...DELAY]);
    const adapter = registry.register(definition('slow', target, { connectTimeoutMs: 40_000 }));
    const { protocolVersion } = await adapter.connect();
    expect(protocolVersion).toMatch(version);
    expect((await adapter.listTools()).tools.map(({ name }) => name)).toEqual(['grow', 'hello']);
    expect(textOf(await adapter.call({ tool: 'hello', arguments: {} }))).toBe('hello world');
    expect(adapter.health().losses).toBe(0);
  });
});

test('a server that starts at once and speaks the newer protocol is not asked in the older one', async () => {
  await using registry = createRegistry();
  const adapter = registry.register(definition('quick', stdio(fixture('slow-server.mjs'), ['--era', 'both'])));
  expect((await adapter.connect()).protocolVersion).toBe('2026-07-28');
});
