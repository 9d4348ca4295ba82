import type { FastifyInstance } from 'fastify';
import type { ConsoleContext } from '../console-options.js';

/** How to connect agents' clients to codemode. */
export function mountConnect(scope: FastifyInstance, { options }: ConsoleContext): void {
  scope.get('/connect', () => options.connect());
}
