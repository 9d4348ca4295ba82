// codemode inside a program of your own: functions become tools, and a model's programs call them.
//   node library.mjs
import { createHost, defineTool } from 'codemode';
import { z } from 'zod';

const stock = new Map([
  ['apples', 12],
  ['pears', 0],
  ['plums', 40],
]);

const host = await createHost({
  config: {},
  tools: {
    shop: {
      stock: defineTool({
        description: 'How many of an article there are.',
        input: z.object({ article: z.string() }),
        output: z.object({ article: z.string(), count: z.number() }),
        annotations: { readOnlyHint: true },
        execute: ({ article }) => {
          const count = stock.get(article);
          if (count === undefined) throw new Error(`there is no article ${article}`);
          return { article, count };
        },
      }),
    },
  },
});

// As a model would write it.
const { ok, result, diagnostics } = await host.run(`
  import { stock } from '@codemode/servers/shop';
  const found = await Promise.allSettled(['apples', 'pears', 'plums', 'kiwis'].map((article) => stock({ article })));
  globalThis.__codemode_result__ = {
    sum: found.reduce((sum, each) => sum + (each.status === 'fulfilled' ? each.value.count : 0), 0),
    problems: found.flatMap((each) => (each.status === 'rejected' ? [each.reason.message] : [])),
  };
`);
if (!ok) throw new Error(JSON.stringify(diagnostics));
console.log(JSON.stringify(result));
await host.close();
