import type { FastifyInstance } from 'fastify';

/** What may be known to anybody who can reach the port: that it lives, and whether it takes requests. */
export function mountHealth(app: FastifyInstance, isReady: () => boolean): void {
  app.get('/healthz', { config: { isPublic: true } }, () => ({ status: 'ok' }));
  app.get('/readyz', { config: { isPublic: true } }, (_request, reply) =>
    isReady() ? { status: 'ready' } : reply.code(503).send({ status: 'not ready' }),
  );
}
