import { PROTOCOL } from '../../wire/messages.js';
import { Channel } from '../channel.js';
import { transpile } from './transpile.js';

declare const BUILD_ID: string;

/**
 * The transpiler's process: the only place where an agent's source is parsed by native code. It may die of what it is
 * given; nothing else lives here.
 */
const channel = new Channel();
channel.send({ type: 'worker/ready', protocol: PROTOCOL, build: BUILD_ID, role: 'transpiler' });

for (let received = channel.receive(); received !== undefined; received = channel.receive()) {
  const { message, body } = received;
  if (message.type === 'host/hello' && (message.protocol !== PROTOCOL || message.build !== BUILD_ID)) process.exit(1);
  if (message.type !== 'source/transpile') continue;
  const result = transpile(body.toString('utf8'), message.language);
  if (!result.ok) {
    channel.send({ type: 'source/rejected', source: message.source, failure: result.failure });
    continue;
  }
  const code = Buffer.from(result.code);
  channel.send(
    { type: 'source/transpiled', source: message.source, codeBytes: code.length },
    Buffer.concat([code, Buffer.from(result.mapJson)]),
  );
}
