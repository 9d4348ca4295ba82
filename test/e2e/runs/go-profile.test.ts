import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GO_ROOTS } from '../../support/go.js';
import { description, type GoProgramClient, openGoHome, startGo } from '../../support/go-program.js';
import { filledCacheFolder, freshCacheFolder } from '../../support/go-runtime.js';
import { needs, skipped } from '../../support/needs.js';
import { openStdio, runProgram, until } from '../../support/program.js';

const needsRoot = process.getuid?.() === 0 ? {} : skipped('only root runs programs as another user');

describe('codemode mcp --profile go', needs('go', 'bubblewrap'), () => {
  let go: GoProgramClient;
  beforeAll(async () => {
    go = await startGo();
    await Promise.all([go.ready(), go.connected()]);
  }, 600_000);
  afterAll(() => go?.[Symbol.asyncDispose]());

  test('lists one tool, in the words of the document, with rules and declarations [E1, E2, E3]', async () => {
    const { tools } = await go.client.listTools();
    const [tool, ...others] = tools;
    expect(others).toEqual([]);
    expect(tool).toMatchObject({
      name: 'execute_go_code',
      title: 'Execute Golang Code',
      inputSchema: {
        type: 'object',
        properties: { code: { type: 'string', description: 'The code to execute' } },
        required: ['code'],
      },
      outputSchema: {
        type: 'object',
        properties: { output: { type: 'string', description: 'The program output' } },
        required: ['output'],
      },
    });
    const text = tool?.description ?? '';
    expect(text).toContain('func Run(ctx context.Context) error');
    expect(text).toMatch(/assign them to variables.*add := func\(a, b int\) int \{/s);
    expect(text).toMatch(/In addition to the standard library, .* the following functions.*var getWeather func/s);
    expect(text).toContain(`type GetWeatherInputUnit string

const GetWeatherInputUnitCelsius GetWeatherInputUnit = "celsius"
const GetWeatherInputUnitFahrenheit GetWeatherInputUnit = "fahrenheit"
`);
    expect(text).toContain(
      '// getWeather Get current weather data for a location\nvar getWeather func(ctx context.Context, input GetWeatherInput) (GetWeatherOutput, error)\n',
    );
    expect(text).toContain('var getCity func(ctx context.Context) (GetCityOutput, error)\n');
    expect(text).toContain('var getForecast func(ctx context.Context) (string, error)\n');
    expect(go.client.getInstructions()).toContain('execute_go_code');
  });

  test("runs the document's example, corrected so that it compiles [E3, E5, E9]", async () => {
    const code =
      'city, err := getCity(ctx)\nif err != nil {\n\t\treturn err\n}\n\ntemp, err := getWeather(ctx, GetWeatherInput{\n\t\tCity: city.City,\n\t\tUnit: GetWeatherInputUnitFahrenheit,\n})\nif err != nil {\n\t\treturn err\n}\n\nfmt.Printf("Temperature: %.0f, City: %s\\n", temp.Temperature, city.City)';
    const result = await go.call({ code });
    expect(result).toEqual({
      content: [{ type: 'text', text: '{"output":"Temperature: 87, City: New York\\n"}' }],
      structuredContent: { output: 'Temperature: 87, City: New York\n' },
    });
    // From the cache, and the same.
    expect(await go.call({ code })).toEqual(result);
  });

  test('a tool without a declared output gives its text [E3]', async () => {
    expect(await go.run('text, err := getForecast(ctx)\nfmt.Println(text, err)')).toEqual({
      output: 'sunny <nil>\n',
      isError: false,
    });
  });

  test('convert gives the data that a text holds', async () => {
    const texts = [
      '{"a": 1}\\n{"a": 2}',
      "[{'id': 1, 'gone': None, 'pair': (1, 2)}, ]",
      'id,name\\n1,\\"Smith, J\\"\\n',
      'Found:\\n| a | b |\\n|---|---|\\n| 1 | 2 |',
      'Found 1:\\n\\n[{"a": 1}]',
      'Found:\\n```json\\n{"a": 1}\\n```',
      'Found:\\n[1]\\nand more',
      'plain words',
    ].map((text) => `"${text.replaceAll(/(?<!\\)"/g, '\\"')}"`);
    const { output } = await go.run(
      `for _, text := range []string{${texts.join(', ')}} {\nvalue, err := convert[any](text)\nfmt.Println(value, err)\n}`,
    );
    expect(output.split('\n')).toEqual([
      '[map[a:1] map[a:2]] <nil>',
      '[map[gone:<nil> id:1 pair:[1 2]]] <nil>',
      '[map[id:1 name:Smith, J]] <nil>',
      '[map[a:1 b:2]] <nil>',
      '[map[a:1]] <nil>',
      'map[a:1] <nil>',
      'Found:',
      '[1]',
      'and more <nil>',
      'plain words <nil>',
      '',
    ]);
  });

  test('code that does not compile comes back with its own lines, and nothing has run [E4]', async () => {
    const before = (await go.run('text, _ := count(ctx)\nfmt.Print(text)')).output;
    const { output, isError } = await go.run(
      'import "fmt"\n\nfmt.Println("ran")\ncount(ctx)\n\tgetWether(ctx)\nx := 1',
    );
    expect(isError).toBe(true);
    expect(output).toMatch(
      /^compile error, nothing has run:\nprogram\.go:5:2: undefined: getWether\nprogram\.go:6:1: .*x.*\ngetWether: did you mean getWeather\?\n$/,
    );
    expect((await go.run('text, _ := count(ctx)\nfmt.Print(text)')).output).toBe(String(Number(before) + 1));
  });

  test('an input for a function that has none comes back with how it is called', async () => {
    const { output } = await go.run('text, err := getForecast(ctx, GetForecastInput{})\nfmt.Println(text, err)');
    expect(output).toContain('\ngetForecast takes no input: getForecast(ctx)\n');
    expect(output).not.toContain('did you mean');
  });

  test('a returned error and a panic come with what was printed before [E4]', async () => {
    expect(await go.run('fmt.Println("before")\nreturn errors.New("went wrong")')).toEqual({
      output: 'before\nerror: went wrong\n',
      isError: true,
    });
    expect(await go.run('fmt.Println("before")\nvar list []int\nfmt.Println(list[3])')).toEqual({
      output: 'before\npanic: runtime error: index out of range [3] with length 0\nat program.go:3\n',
      isError: true,
    });
    expect(
      await go.run(
        'fmt.Println("before")\nlog.SetFlags(0)\nlog.Print("logged")\ngo func() {\n\tpanic("elsewhere")\n}()\nselect {}',
      ),
    ).toEqual({ output: 'before\nlogged\npanic: elsewhere\nat program.go:5\nat program.go:4\n', isError: true });
  });

  test('packages are imported by use or by name, and neither network nor files are there [E6]', async () => {
    const { output, isError } = await go.run(`import (
	"encoding/csv"
	str "strings"
)
_, err := os.ReadFile("/etc/passwd")
fmt.Println(err)
_, err = os.Create("/tmp/x")
fmt.Println(err != nil)
records, _ := csv.NewReader(str.NewReader("a,b")).ReadAll()
sum := sha256.Sum256([]byte("x"))
fmt.Println(records, hex.EncodeToString(sum[:2]))`);
    expect({ output, isError }).toEqual({
      output: 'open /etc/passwd: no such file or directory\ntrue\n[[a b]] 2d71\n',
      isError: false,
    });
  });

  test('goroutines call tools at the same time', async () => {
    const { output } = await go.run(`var wait sync.WaitGroup
for i := 0; i < 5; i++ {
	wait.Add(1)
	go func() {
		defer wait.Done()
		if _, err := meet(ctx, MeetInput{Count: 5}); err != nil { panic(err) }
	}()
}
wait.Wait()
fmt.Println("all met")`);
    expect(output).toBe('all met\n');
  });

  test('connections outlive a run, and a lost one is an error value [E8]', async () => {
    const pid = 'text, err := pid(ctx)\nif err != nil { return err }\nfmt.Print(text)';
    const first = await go.run(pid);
    expect(first.isError).toBe(false);
    expect(await go.run(pid)).toEqual(first);
    const lost = await go.run(`_, err := crash(ctx)
var failed *ToolError
fmt.Println(errors.As(err, &failed), failed.Tool)`);
    expect(lost).toEqual({ output: 'true crash\n', isError: false });
    const again = await go.run(pid);
    expect(again.isError).toBe(false);
    expect(again.output).not.toBe(first.output);
  });

  test('code finds tools, and asks for their types, while it runs [E1]', async () => {
    const { output, isError } = await go.run(`tools, err := searchTools(ctx, "current weather")
if err != nil { return err }
fmt.Println(tools[0].Server, tools[0].Tool, tools[0].Function, tools[0].Description)
all, err := searchTools(ctx, "")
if err != nil { return err }
fmt.Println(len(all) > 10)
text, err := describeTools(ctx, tools[0].Function)
if err != nil { return err }
fmt.Println(text)
_, err = describeTools(ctx, "getWether")
fmt.Println(err)
found, err := callTool(ctx, "weather", "get_forecast", nil)
fmt.Println(found, err)
_, err = callTool(ctx, "weather", "get_tomorrow", nil)
fmt.Println(err)`);
    expect(output).toMatch(
      /^weather get_weather getWeather Get current weather data for a location\.?\ntrue\ntype GetWeatherInput struct \{/,
    );
    expect(output).toContain('var getWeather func(ctx context.Context, input GetWeatherInput)');
    expect(output).toContain('there is no function "getWether" (Did you mean getWeather');
    expect(output).toContain('sunny <nil>\nget_tomorrow: weather has no tool "get_tomorrow" (');
    expect(isError).toBe(false);
  });

  test.each<[string, unknown, RegExp]>([
    ['a whole program', 'package main\n\nfunc main() {}', /program\.go:1:1: the code is a whole file/],
    ['a brace too many', 'fmt.Println()\n}', /closes/],
    ['a brace too few', 'if true {', /ends too early/],
    ['code that closes the function', 'return nil }\nfunc init() { panic(1)', /closes the function/],
    ['cgo', 'import "C"\nC.puts(nil)', /import "C" is not available/],
    [
      'orders to the compiler',
      '//line other.go:100\n//go:linkname x runtime.x\nmissing()',
      /program\.go:3:1: undefined/,
    ],
    ['too much source', '//'.padEnd(10_000_000, 'x'), /^code: is larger than \d+ bytes/],
    ['nothing', ' \n', /^code: is empty/],
    ['no text', 7, /^code: must be a string/],
  ])('%s is answered with a clear error, and nothing has run [E4]', async (_, code, message) => {
    const result = await go.call({ code });
    expect(result.isError).toBe(true);
    const { output } = result.structuredContent as { output: string };
    expect(output).toMatch(message);
    expect(output).toMatch(/nothing has run/i);
  });

  test('unsafe pointers reach nothing but the program itself [E5]', async () => {
    const { output } = await go.run('value := *(*int)(unsafe.Pointer(uintptr(8)))\nfmt.Println(value)');
    expect(output).toMatch(/^(panic|fatal error): .*\n/);
    expect((await go.run('fmt.Print("still here")')).output).toBe('still here');
  });

  test('a program that takes too long is stopped, with what it printed before [E4, E5]', async () => {
    await using hasty = await startGo({ config: { sandbox: { limits: { timeout: '1s' } } } });
    const { output, isError } = await hasty.run('fmt.Println("before")\nfor {}');
    expect({ output, isError }).toEqual({
      output:
        'before\nstopped: the program was stopped after 1000 ms. Do less in one run, or call tools from several goroutines at once.\n',
      isError: true,
    });
  });

  test('a program that outlasts its client is answered before, with what it printed [E4]', async () => {
    await using slow = await startGo({ config: { server: { answerWithin: '2s' } } });
    let output = '';
    await until(async () => {
      output = (await slow.run('fmt.Println("before")\ntime.Sleep(time.Hour)')).output;
      // Neither still being compiled, nor cancelled before its first line.
      return output.startsWith('before');
    });
    expect(output).toMatch(/^before\nstopped: .*\nIts client waits no longer/);
  });

  test('root compiles into no folder that others may write to [E5]', needsRoot, async () => {
    using home = openGoHome();
    chmodSync(home.work, 0o777);
    const { go: settings } = JSON.parse(readFileSync(home.configFile, 'utf8'));
    await using program = await startGo({ config: { go: { ...settings, cacheFolder: home.work } } });
    const { output, isError } = await program.run('fmt.Println("ran")');
    expect(isError).toBe(true);
    expect(output).toMatch(/must be a folder that belongs to root/);
  });

  test('a program can be run again from its record, without its servers [B21]', async () => {
    await using program = await startGo();
    await program.connected();
    const { output } = await program.run(
      'city, err := getCity(ctx)\nif err != nil { return err }\nfmt.Println(city.City)',
    );
    expect(output).toBe('New York\n');
    let runs: { runId: string }[] = [];
    await until(async () => {
      runs = JSON.parse((await runProgram(program.home, 'runs', '--json')).stdout);
      return runs.length > 0;
    });
    const { stdout, status } = await runProgram(program.home, 'replay', runs[0]?.runId ?? '', '--json');
    expect({ status, replay: JSON.parse(stdout) }).toMatchObject({ status: 0, replay: { same: true } });
  });

  test('a server has its declarations as a resource, in Go [E2]', async () => {
    const { resources } = await go.client.listResources();
    const weather = resources.find(({ name }) => name === 'weather/tools.go');
    expect(weather).toMatchObject({ mimeType: 'text/x-go', description: 'Go declarations of weather (3 tools)' });
    const { contents } = await go.client.readResource({ uri: weather?.uri ?? '' });
    expect(contents[0]).toMatchObject({
      text: expect.stringContaining('var getCity func(ctx context.Context) (GetCityOutput, error)'),
    });
  });

  test('excluded tools are listed as they are, and are not there for code [E7]', async () => {
    const codeMode = { excludedTools: ['get_forecast', 'everyday/pid'] };
    await using program = await startGo({
      config: { models: [{ ref: 'small', codeMode }] },
      words: ['--model', 'small'],
    });
    await program.connected();
    const { client } = program;
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(['execute_go_code', 'get_forecast', 'pid']);
    await expect(client.callTool({ name: 'get_city', arguments: {} })).rejects.toThrow(/get_city is called from/);
    const text = await description(client);
    expect([text.includes('getCity'), text.includes('getForecast')]).toEqual([true, false]);
    expect(await client.callTool({ name: 'get_forecast', arguments: {} })).toMatchObject({
      content: [{ type: 'text', text: 'sunny' }],
    });
    const undefinedName = (await program.run('getForecast(ctx)')).output;
    expect(undefinedName).toContain('undefined: getForecast');
    expect(undefinedName).toContain('call the tool "get_forecast" directly');
    const { output } = await program.run(`_, err := callTool(ctx, "weather", "get_forecast", nil)
fmt.Println(err)
for _, names := range [][2]string{{"weather/get_forecast", ""}, {"", "weather/get_forecast"}, {"mcp:weather", "get_forecast"}, {"everyday", "pid"}} {
	if _, err := callTool(ctx, names[0], names[1], nil); err == nil { fmt.Println("true", names) }
}
if _, err := describeTools(ctx, "getForecast"); err == nil { fmt.Println("true") }
tools, _ := searchTools(ctx, "forecast")
for _, tool := range tools { fmt.Println(tool.Function == "getForecast") }`);
    expect(output).toMatch(
      /^get_forecast: weather\/get_forecast cannot be called from code.*Call the tool "get_forecast"/,
    );
    expect(output).not.toContain('true');
  });

  test('where declarations do not fit, the description has an index, and errors bring the types [E1]', async () => {
    await using program = await startGo({ config: { prompt: { tokenBudget: 600 } } });
    await program.connected();
    const text = await description(program.client);
    expect(text).toMatch(/- weather \(3\).*: .*getWeather/);
    expect(text).not.toContain('type GetWeatherInput struct');
    const { output } = await program.run('getWeather(ctx, GetWeatherInput{Town: "x"})');
    expect(output).toContain('compile error, nothing has run:\nprogram.go:1:');
    expect(output).toContain('type GetWeatherInput struct');
  });

  test('a call that needs a person is an error value that says what to type [E5]', async () => {
    const policy = { rules: [{ tools: ['weather/get_city'], decision: 'ask' }] };
    await using program = await startGo({ config: { policy } });
    const { output } = await program.run('_, err := getCity(ctx)\nfmt.Println(err)');
    expect(output).toMatch(
      /; asked with \{\}, to be decided by \d{4}-\S+Z .*codemode approvals approve \w+\. Then run the same program again, unchanged/,
    );
  });
});

describe('without a Go toolchain', () => {
  const none = { goPath: '/nonexistent/go' };

  test('the tool is not listed; its name, the log and doctor say what to install [E5]', async () => {
    await using program = await startGo(none);
    expect((await program.client.listTools()).tools).toEqual([]);
    await expect(program.call({ code: 'return nil' })).rejects.toThrow(
      /execute_go_code is not available.*apt-get install -y golang-go/,
    );
    expect(program.client.getInstructions()).toContain('golang-go');
    expect(program.stderr()).toContain('Go is not available, so profile go has no tool: /nonexistent/go');
    using home = openGoHome(none);
    const { findings } = JSON.parse((await runProgram(home, 'doctor', '--json')).stdout);
    expect(findings).toContainEqual({
      name: 'Go for programs',
      state: 'missing',
      message: expect.stringContaining('/nonexistent/go'),
      fix: expect.stringContaining('golang-go'),
    });
  });

  test('doctor names the Go that is there, and the log tells how far a new one is [E5]', {
    ...needs('go'),
    timeout: 600_000,
  }, async () => {
    const [root = ''] = GO_ROOTS;
    const open = (cacheFolder: string) =>
      openGoHome({ config: { go: { path: join(root, 'bin/go'), cacheFolder, precompile: 'common' } } });
    const doctor = async (home: ReturnType<typeof openGoHome>) => {
      const { findings } = JSON.parse((await runProgram(home, 'doctor', '--json')).stdout);
      return findings.find(({ name }: { name: string }) => name === 'Go for programs');
    };
    const empty = freshCacheFolder();
    using fresh = open(empty);
    const found = await doctor(fresh);
    expect(found).toMatchObject({ state: 'ok', message: expect.stringContaining(root) });
    expect(found.message).toContain('compiled when profile go is first served');
    {
      await using program = await openStdio(fresh, 'legacy', {}, ['--profile', 'go']);
      await until(() => /go1\.\d+\S* is new here: its common packages are compiled once/.test(program.stderr()));
    }
    // Compiling them takes up to a minute: in this one they are.
    const full = await filledCacheFolder(root);
    using used = open(full);
    expect((await doctor(used)).message).toMatch(/; \d+ of \d+ packages of its standard library are compiled$/);
    for (const folder of [empty, full]) rmSync(folder, { recursive: true, force: true });
  });
});
