import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A line to a host that can be cut and mended, as a laptop that sleeps or a tunnel that breaks. */
export async function openProxy(target: URL) {
  const sockets = new Set<Socket>();
  let isCut = false;
  let lost: string | undefined;
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(one);
          other.destroy();
        });
      one.on('data', (piece) => {
        if (one === near || lost === undefined || !piece.includes(lost)) return void other.write(piece);
        lost = undefined;
        cut();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    cut,
    /** The next answer with this text in it does not arrive: the line is cut instead. */
    lose: (text: string) => {
      lost = text;
    },
    mend: () => {
      isCut = false;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
