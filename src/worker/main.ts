import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEFAULT_LIMITS } from '../domain/limits.js';
import type { VirtualModule } from '../domain/run.js';
import { PROTOCOL } from '../wire/messages.js';
import { Channel } from './channel.js';
import { decodeImage } from './quickjs/image.js';
import { QuickJsWorker } from './quickjs/worker.js';

/** Set by the build. The host compares it with its own and refuses a worker of another build. */
declare const BUILD_ID: string;

/** The process of the QuickJS worker: sends a hello, then follows the host's messages until the host is gone. */
const folder = dirname(fileURLToPath(import.meta.url));
const channel = new Channel();
const worker = new QuickJsWorker(
  readFileSync(join(folder, 'quickjs.wasm')),
  decodeImage(readFileSync(join(folder, 'image.bin'))),
  channel,
);
worker.prepare(DEFAULT_LIMITS.maxMemoryBytes);
channel.send({ type: 'worker/ready', protocol: PROTOCOL, build: BUILD_ID, role: 'quickjs' });

for (let received = channel.receive(); received !== undefined; received = channel.receive()) {
  const { message, body } = received;
  switch (message.type) {
    case 'host/hello':
      if (message.protocol !== PROTOCOL || message.build !== BUILD_ID) process.exit(1);
      break;
    case 'library/load':
      worker.loadLibrary(message.library, JSON.parse(body.toString('utf8')) as VirtualModule[]);
      break;
    default:
      worker.handle(message, body);
  }
}
