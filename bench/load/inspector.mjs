// @ts-check
// Asks the host's engine itself: to collect what is garbage, and what it holds then. The product offers no such access.
import { once } from 'node:events';
import { WebSocket } from 'ws';

/** @param {string} url as Node prints it for --inspect */
export async function openInspector(url) {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  let next = 0;
  const waiting = new Map();
  socket.on('message', (data) => {
    const { id, result } = JSON.parse(data.toString());
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  const ask = (method, params = {}) =>
    new Promise((resolve) => {
      waiting.set(++next, resolve);
      socket.send(JSON.stringify({ id: next, method, params }));
    });
  return {
    /** Bytes of objects that are reachable. */
    heapBytes: async () => {
      // What is freed by one collection lets go of more: finalizers, and what they held.
      for (let round = 0; round < 3; round++) await ask('HeapProfiler.collectGarbage');
      const { usedSize } = await ask('Runtime.getHeapUsage');
      return usedSize;
    },
    /** A heap snapshot. To find a leak, compare the counts of two. */
    snapshot: async () => {
      const chunks = [];
      const collect = (data) => {
        const { method, params } = JSON.parse(data.toString());
        if (method === 'HeapProfiler.addHeapSnapshotChunk') chunks.push(params.chunk);
      };
      socket.on('message', collect);
      await ask('HeapProfiler.takeHeapSnapshot');
      socket.off('message', collect);
      return chunks.join('');
    },
    close: () => socket.terminate(),
  };
}
