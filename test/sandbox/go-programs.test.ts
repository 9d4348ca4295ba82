import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProcessHandlers } from '../../src/domain/process-program.js';
import type { Tool } from '../../src/domain/tool.js';
import { GO_ROOTS } from '../support/go.js';
import { openGo, type TestGo } from '../support/go-runtime.js';
import { needs } from '../support/needs.js';

const WEATHER: Tool = {
  serverId: 'test',
  name: 'get_weather',
  inputSchema: {
    type: 'object',
    properties: {
      city: { type: 'string' },
      unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
      labels: { type: 'array', items: { type: 'string' } },
    },
    required: ['location', 'unit'],
  },
  outputSchema: { type: 'object', properties: { temperature: { type: 'number' } }, required: ['temperature'] },
};
const CITY: Tool = {
  serverId: 'test',
  name: 'get_city',
  inputSchema: {},
  outputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const ECHO: Tool = {
  serverId: 'test',
  name: 'echo',
  inputSchema: { type: 'object', properties: { value: {} }, required: ['value'] },
};
const TOOLS = [WEATHER, CITY, ECHO];
const FUNCTIONS = {
  get_city: () => ({ city: 'New York' }),
  get_weather: () => ({ temperature: 87 }),
  echo: (input: unknown) => (input as { value: unknown }).value,
};

describe.each(GO_ROOTS)('programs compiled by %s', needs('go'), (root) => {
  let go: TestGo;
  beforeAll(async () => {
    go = await openGo(root);
    await go.runtime.warm();
  }, 600_000);
  afterAll(() => go[Symbol.asyncDispose]());
  const run = (source: string) => go.run(source, { tools: TOOLS, functions: FUNCTIONS });

  /** Longer than the program may take: it must start and end in less, also on a busy machine. */
  const HELD_MS = 3_000;

  test('its deadline is extended by the time in which a person is asked', async () => {
    const asksAPerson: ProcessHandlers['onCall'] = async (_call, _signal, time) => {
      time.hold();
      await new Promise((resolve) => setTimeout(resolve, HELD_MS));
      time.spend();
      return { ok: true, json: '{"city":"New York"}' };
    };
    const { output, failure } = await go.run(
      `before, _ := ctx.Deadline()
own, cancel := context.WithCancel(ctx)
defer cancel()
_, err := getCity(own)
after, _ := ctx.Deadline()
moved := after.Sub(before)
fmt.Println(err, ctx.Err(), own.Err(), moved > 2*time.Second, moved < 30*time.Second)`,
      { tools: TOOLS, handlers: { onCall: asksAPerson }, limits: { timeoutMs: 0.9 * HELD_MS } },
    );
    expect([output, failure]).toEqual(['<nil> <nil> <nil> true true\n', undefined]);
  });

  test("the document's example runs, with its mistakes corrected [E9]", async () => {
    const { output, failure } = await run(`city, err := getCity(ctx)
if err != nil {
		return err
}

temp, err := getWeather(ctx, GetWeatherInput{
		City: city.City,
		Unit: GetWeatherInputUnitFahrenheit,
})
if err != nil {
		return err
}

fmt.Printf("Temperature: %.0f, City: %s\\n", temp.Temperature, city.City)`);
    expect({ output, failure }).toEqual({ output: 'Temperature: 87, City: New York\n', failure: undefined });
    expect(go.calls.slice(-2).map(({ target, argumentsJson }) => [target, argumentsJson])).toEqual([
      ['test/get_city', '[{}]'],
      ['test/get_weather', '[{"city":"New York","unit":"fahrenheit","location":null}]'],
    ]);
  });

  test('a program that was compiled before is not compiled again [E5]', async () => {
    const source = `fmt.Println("${Math.random()}")`;
    expect((await run(source)).isCached).toBe(false);
    expect((await run(source)).isCached).toBe(true);
  });

  test('imports may be given, left out and left over [E4, E6]', async () => {
    const { output, failure } = await run(`import "os"
import (
	str "strings"
	"encoding/json"
	"net/url"
)
fmt.Println(str.ToUpper("a"), rand.Intn(1), url.QueryEscape("a b"))
time := "shadowed"
fmt.Println(time)`);
    expect({ output, failure }).toEqual({ output: 'A 0 a+b\nshadowed\n', failure: undefined });
  });

  test('a compile error has the line and column of the agent, and nothing has run [E4]', async () => {
    const before = go.calls.length;
    const { output, failure, report } = await run(
      'import "fmt"\n\nfmt.Println("ran")\ngetCity(ctx)\n\tundefinedThing()\nx := 1',
    );
    expect(failure).toMatchObject({ kind: 'syntax', name: 'CompileError', position: { line: 5, column: 2 } });
    expect(failure?.message).toMatch(/^program\.go:5:2: undefined: undefinedThing\nprogram\.go:6:1: .*x.*$/);
    expect({ output, report, calls: go.calls.length }).toEqual({ output: '', report: undefined, calls: before });
  });

  test('a returned error and a panic are reported with what was printed before [E4]', async () => {
    const returned = await run('fmt.Println("before")\nreturn errors.New("went wrong")');
    expect(returned).toMatchObject({
      output: 'before\n',
      failure: { kind: 'exception', name: 'error', message: 'went wrong' },
    });
    const panicked = await run(
      'fmt.Println("before")\nvar list []int\nshow := func(i int) {\n\tfmt.Println(list[i])\n}\nshow(3)',
    );
    expect(panicked).toMatchObject({
      output: 'before\n',
      failure: {
        name: 'panic',
        message: 'runtime error: index out of range [3] with length 0',
        position: { line: 4, column: 1 },
        stack: 'program.go:4\nprogram.go:6',
      },
    });
    const elsewhere = await run('fmt.Println("before")\ngo func() {\n\tpanic("in the background")\n}()\nselect {}');
    expect(elsewhere).toMatchObject({
      output: 'before\n',
      failure: { name: 'panic', message: 'in the background', position: { line: 3, column: 1 } },
    });
  });

  test('goroutines call tools at the same time', async () => {
    const { output, failure } = await run(`var wait sync.WaitGroup
results := make([]string, 50)
for i := range results {
	i := i
	wait.Add(1)
	go func() {
		defer wait.Done()
		text, err := echo(ctx, EchoInput{Value: fmt.Sprint("n", i)})
		if err != nil { panic(err) }
		results[i] = text
	}()
}
wait.Wait()
fmt.Println(results[0], results[49])`);
    expect({ output, failure }).toEqual({ output: 'n0 n49\n', failure: undefined });
  });

  test('a result that does not fit names its field, and a failed call is an error value [E8]', async () => {
    const { output } = await go.run(
      `_, err := getWeather(ctx, GetWeatherInput{Unit: "celsius"})
fmt.Println(err)
_, err = getCity(ctx)
var failed *ToolError
fmt.Println(errors.As(err, &failed), failed.Message, err)`,
      {
        tools: TOOLS,
        functions: {
          get_weather: () => ({ temperature: 'warm' }),
          get_city: () => {
            throw new Error('the server is gone');
          },
        },
      },
    );
    expect(output).toBe(
      'getWeather: field "temperature" of the result should be float64, but the tool sent string\n' +
        'true the server is gone getCity: the server is gone (Try something else.)\n',
    );
  });

  test('an empty list is sent, a missing one is not', async () => {
    await run(
      'getWeather(ctx, GetWeatherInput{Unit: "celsius", Labels: []string{}})\ngetWeather(ctx, GetWeatherInput{Unit: "celsius"})\nreturn nil',
    );
    expect(go.calls.slice(-2).map(({ argumentsJson }) => argumentsJson)).toEqual([
      '[{"unit":"celsius","labels":[],"location":null}]',
      '[{"unit":"celsius","location":null}]',
    ]);
  });

  test.each<[string, string, RegExp]>([
    ['a whole file', 'package main\n\nfunc main() {}', /program\.go:1:1: the code is a whole file/],
    ['a brace too many', 'fmt.Println()\n}', /closes/],
    ['a brace too few', 'if true {\nfmt.Println()', /ends too early/],
    ['code that closes the function', 'return nil }\nfunc init() { panic(1)', /closes the function/],
    ['a comment that does not end', 'fmt.Println()\n/* and so on', /ends too early|not terminated/],
    ['a string that does not end', 'fmt.Println(`a', /ends too early|not terminated/],
    [
      'a function declaration',
      'func helper() int { return 1 }\nhelper()',
      /program\.go:1:\d: a named function cannot be declared/,
    ],
    ['cgo', 'import "C"\nC.puts(nil)', /import "C" is not available/],
    ['a foreign module', 'import "github.com/x/y"\ny.Z()', /not in the standard library/],
    ['an internal package', 'import "internal/abi"\nabi.X()', /not in the standard library/],
    ['an import in the middle', 'fmt.Println()\nimport "os"', /program\.go:2:1/],
    ['nothing that parses', ')(', /program\.go:1:1/],
    ['deep nesting', `x := ${'('.repeat(100_000)}`, /program\.go/],
  ])('%s is refused with a clear error', async (_, source, message) => {
    const { failure, report } = await run(source);
    expect(report).toBeUndefined();
    expect(failure?.message).toMatch(message);
  });

  test('orders to the compiler in comments are words', async () => {
    const { failure } = await run('//line other.go:100\n//go:linkname x runtime.x\n/*line other.go:7:1*/ missing()');
    expect(failure?.message).toBe('program.go:3:23: undefined: missing');
  });

  test('ten megabytes of source are refused before anything is started', async () => {
    await expect(run('//'.padEnd(10_000_000, 'x'))).rejects.toMatchObject({ code: 'bad_input' });
  });
});
