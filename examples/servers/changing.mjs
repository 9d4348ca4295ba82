// A server whose tools change: `codemode measure` times how soon that is noticed.
import { serve } from './stdio-server.mjs';

const NO_INPUT = { type: 'object', properties: {} };
const output = (properties) => ({ type: 'object', properties, required: Object.keys(properties) });
const ping = {
  name: 'ping',
  description: 'Answers at once.',
  inputSchema: NO_INPUT,
  outputSchema: output({ ok: { type: 'boolean' } }),
  run: () => ({ ok: true }),
};
const tools = [
  ping,
  {
    name: 'add_tool',
    description: 'Gets one tool more, and says when.',
    inputSchema: NO_INPUT,
    outputSchema: output({ changedAtMs: { type: 'number' } }),
    run: () => {
      tools.push({ ...ping, name: `ping_${tools.length}` });
      const changedAtMs = performance.timeOrigin + performance.now();
      toolsChanged();
      return { changedAtMs };
    },
  },
];

const toolsChanged = serve({
  name: 'Changing',
  version: '1.0.0',
  instructions: 'Has tools that come.',
  canChange: true,
  tools,
});
