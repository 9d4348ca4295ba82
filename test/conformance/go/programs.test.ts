import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { description, type GoProgramClient, startGo } from '../../support/go-program.js';
import { needs } from '../../support/needs.js';
import { nodeServer, until } from '../../support/program.js';
import { fixture } from '../../support/upstreams.js';

const OPEN_OUTPUT = { a: 1, x: 7, A: 9, b: { c: 'd', e: [1] } };
const input = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

/** Schemas and answers that are legal and unusual. */
const ODD = {
  name: 'odd',
  tools: [
    {
      name: 'open',
      inputSchema: input(
        { city: { type: 'string' }, n: { type: 'integer' } },
        { required: ['city'], additionalProperties: { type: 'string' } },
      ),
      outputSchema: input(
        {
          a: { type: 'number' },
          b: { type: 'object', properties: { c: { type: 'string' } }, additionalProperties: true },
        },
        { required: ['a'], additionalProperties: { type: 'integer' } },
      ),
    },
    { name: 'fail', inputSchema: { type: 'object' } },
    ...['both', 'text_only'].map((name) => ({
      name,
      inputSchema: { type: 'object' },
      outputSchema: input({ n: { type: 'integer' } }, { required: ['n'] }),
    })),
    { name: 'need', inputSchema: input({ name: { type: 'string', minLength: 3 } }, { required: ['name'] }) },
    ...['http', 'HTTP', 'http2'].map((name) => ({ name, inputSchema: input({ x: { type: 'string' } }) })),
  ],
  replies: {
    open: { content: [], structuredContent: OPEN_OUTPUT },
    both: { content: [{ type: 'text', text: '{"n":1}' }], structuredContent: { n: 2 } },
    text_only: { content: [{ type: 'text', text: '{"n":3}' }] },
    fail: { content: [{ type: 'text', text: 'no such repository' }], isError: true },
  },
};

const folder = mkdtempSync(join(tmpdir(), 'codemode-go-odd-'));
const script = join(folder, 'odd.json');
writeFileSync(script, JSON.stringify(ODD));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const odd = nodeServer(fixture('scripted-server.mjs'), script);

describe('a program of profile go', needs('go', 'bubblewrap'), () => {
  let go: GoProgramClient;
  beforeAll(async () => {
    go = await startGo({ servers: { odd }, config: { sandbox: { workers: { min: 1 }, limits: { timeout: '6s' } } } });
    await Promise.all([go.ready(), go.connected()]);
  }, 600_000);
  afterAll(() => go?.[Symbol.asyncDispose]());

  const failed = (output: string) => ({ output, isError: true });
  const printed = (output: string) => ({ output, isError: false });

  test('keeps what it printed and logged in its order, also when it panics [E4]', async () => {
    const code =
      'log.SetFlags(0)\nfmt.Println("one")\nlog.Print("two")\nfmt.Fprintln(os.Stderr, "three")\nfmt.Println("four")\n';
    expect(await go.run(code)).toEqual(printed('one\ntwo\nthree\nfour\n'));
    expect(await go.run(`${code}panic("boom")`)).toEqual(
      failed('one\ntwo\nthree\nfour\npanic: boom\nat program.go:6\n'),
    );
    expect(await go.run(`${code}log.Print("panic: boom")\nprintln("bare")\npanic("boom")`)).toEqual(
      failed('one\ntwo\nthree\nfour\npanic: boom\nbare\npanic: boom\nat program.go:8\n'),
    );
    expect(await go.run(`${code}go func() { panic("boom") }()\ntime.Sleep(5 * time.Second)`)).toMatchObject({
      output: expect.stringMatching(/^one\ntwo\nthree\nfour\npanic: boom\nat program\.go:6/),
    });
  });

  test('that waits forever is named at once, also after a call [E4]', async () => {
    const startedAt = performance.now();
    for (const code of [
      'ch := make(chan int)\n<-ch',
      'getCity(ctx)\nch := make(chan int)\n<-ch',
      'var m sync.Mutex\nm.Lock()\nm.Lock()',
    ])
      expect(await go.run(code)).toMatchObject(
        failed(
          expect.stringMatching(/^fatal error: all goroutines are asleep - deadlock!\nat program\.go:\d\n/) as never,
        ),
      );
    expect(performance.now() - startedAt).toBeLessThan(3 * 6_000);
  });

  test('that starts too many threads is stopped, with nothing of the Go runtime in its output [E4]', async () => {
    const code = `fmt.Println("begun")
for n := 0; n < 200; n++ {
	go func() { runtime.LockOSThread(); time.Sleep(5 * time.Second) }()
}
time.Sleep(5 * time.Second)`;
    expect(await go.run(code)).toEqual(
      failed('begun\nstopped: the program could not start another thread. Use fewer threads at once.\n'),
    );
  });

  test('has a context with the deadline of the run, which ends before the program is killed [E4]', async () => {
    const waits = 'fmt.Println("waits")\n<-ctx.Done()\nfmt.Println(ctx.Err())\nreturn ctx.Err()';
    expect(await go.run(waits)).toEqual(
      failed('waits\ncontext deadline exceeded\nerror: context deadline exceeded; the time of the run is over\n'),
    );
    const calls = '_, err := slow(ctx, SlowInput{Ms: 60000})\nfmt.Println(errors.Is(err, context.DeadlineExceeded))';
    expect(await go.run(calls)).toEqual(printed('true\n'));
    const left =
      'end, ok := ctx.Deadline()\nleft := time.Until(end)\nfmt.Println(ok, left > time.Second, left < 6*time.Second)';
    expect(await go.run(left)).toEqual(printed('true true true\n'));
    const own =
      'short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)\ndefer cancel()\n<-short.Done()\nfmt.Println(short.Err(), ctx.Err())';
    expect(await go.run(own)).toEqual(printed('context deadline exceeded <nil>\n'));
  }, 60_000);

  test('prints structs as Go prints them [E3]', async () => {
    expect(
      await go.run('city, _ := getCity(ctx)\nfmt.Println(city)\nfmt.Printf("%s %v %+v\\n", city, city, city)'),
    ).toEqual(printed('{New York}\n{New York} {New York} {City:New York}\n'));
  });

  test('loses nothing of an object with further keys, in either direction [E2]', async () => {
    const text = await description(go.client);
    expect(text).toContain('Additional map[string]int `json:"-" codemode:"additional"`');
    const read = `got, err := open(ctx, OpenInput{City: "x"})
if err != nil { return err }
fmt.Println(got.A, got.Additional, *got.B.C, got.B.Additional)
text, _ := json.Marshal(got)
fmt.Println(string(text))`;
    const code = text.includes('\tC string') ? read.replace('*got.B.C', 'got.B.C') : read;
    expect(await go.run(code)).toEqual(
      printed('1 map[A:9 x:7] d map[e:[1]]\n{"a":1,"b":{"c":"d","e":[1]},"A":9,"x":7}\n'),
    );
    expect(
      await go.run(
        'text, _ := json.Marshal(OpenInput{City: "x", Additional: map[string]string{"unit": "c", "city": "not this"}})\nfmt.Println(string(text))',
      ),
    ).toEqual(printed('{"city":"x","unit":"c"}\n'));
  });

  test('gets structured content before text, and else the text read as JSON [E3]', async () => {
    const code = 'first, _ := both(ctx)\nsecond, err := textOnly(ctx)\nfmt.Println(first.N, second.N, err)';
    expect(await go.run(code)).toEqual(printed('2 3 <nil>\n'));
  });

  test('loads time zones [E6]', async () => {
    const code = `zone, err := time.LoadLocation("America/New_York")
if err != nil { return err }
fmt.Println(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).In(zone).Format(time.RFC3339))`;
    expect(await go.run(code)).toEqual(printed('2026-07-01T08:00:00-04:00\n'));
  }, 120_000);

  test('gets the text of an isError result as the text of the error [E3]', async () => {
    expect(await go.run('_, err := oddFail(ctx)\nfmt.Println(err)')).toEqual(printed('no such repository\n'));
  });

  test('is told what is wrong with a call in terms of Go [E3]', async () => {
    const { output } = await go.run(`_, err := need(ctx, NeedInput{Name: "x"})
fmt.Println(err)
_, err = callTool(ctx, "odd", "none", nil)
fmt.Println(err)
_, err = callTool(ctx, "odd", "need", []int{1})
fmt.Println(err)`);
    expect(output).toMatch(/^need: Invalid input for need at \/name: expected/);
    expect(output).toContain('describeTools(ctx, ');
    expect(output).not.toMatch(/Example: need\(\{|@codemode|getTool\(|exportName/);
  });

  test('has types that are named as its functions are, however tools are named [E2]', async () => {
    const text = await description(go.client);
    const functions = [...text.matchAll(/^var (\w+) func\(ctx context\.Context, input (\w+)Input\)/gm)];
    const http = functions.filter(([, name]) => /^http/.test(name ?? '')).map(([, name, type]) => [name, type]);
    expect(http).toHaveLength(3);
    for (const [name = '', type = ''] of http) expect(type).toBe(name.replace('http', 'HTTP').replace('_', ''));
    expect(new Set(http.map(([, type]) => type)).size).toBe(3);
  });
});

test('names in excludedTools that match nothing are warned about, once [E7]', needs('go', 'bubblewrap'), async () => {
  const defaults = {
    codeMode: { enabled: true, excludedTools: ['odd/fale', 'get_city', 'nothing_like_it', 'dead/any'] },
  };
  await using go = await startGo({ servers: { odd, dead: { command: './not-there' } }, config: { defaults } });
  const warning =
    'codeMode.excludedTools: no tool of the connected servers is named "odd/fale" (did you mean "odd/fail"?), "nothing_like_it"';
  await until(async () => {
    await go.client.listTools();
    return go.stderr().includes(warning);
  });
  await go.client.listTools();
  expect(go.stderr().split(warning)).toHaveLength(2);
});

test(
  'declarations are given as far as the budget goes, reading tools first [E1]',
  needs('go', 'bubblewrap'),
  async () => {
    const tool = (name: string, readOnlyHint: boolean) => ({
      name,
      description: `Does ${name}.`,
      inputSchema: input(Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`field_${n}`, { type: 'string' }]))),
      annotations: { readOnlyHint },
    });
    const many = Array.from({ length: 120 }, (_, index) => tool(`do_${String(index).padStart(3, '0')}`, index >= 110));
    const file = join(folder, 'many.json');
    writeFileSync(file, JSON.stringify({ name: 'many', tools: many, replies: {} }));
    await using go = await startGo({
      servers: { many: nodeServer(fixture('scripted-server.mjs'), file) },
      config: { prompt: { tokenBudget: 4_000 } },
    });
    await until(async () => (await description(go.client)).includes('many (120)'));
    await go.connected();
    const text = await description(go.client);
    const declared = [...text.matchAll(/^var (\w+) func/gm)].map(([, name]) => name);
    const reading = Array.from({ length: 10 }, (_, index) => `do11${index}`);
    expect(declared).toEqual(expect.arrayContaining(['getCity', ...reading]));
    expect(declared).not.toContain('do109');
    expect(text).toMatch(/many \(120\).*do/);
    expect(text).toContain('There are more functions than fit here.');
  },
);
