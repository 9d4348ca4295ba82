import type { GoDeclaration } from './go-declaration.js';

/** The functions of a program besides the tools. They are declared like tools and compiled only if they are used. */
export const GO_HELPERS: readonly GoDeclaration[] = [
  {
    names: ['ptr'],
    uses: [],
    text: '// ptr gives a pointer to a value, for optional fields: ptr(10), ptr(false)\nfunc ptr[T any](value T) *T\n',
    code: 'func ptr[T any](value T) *T {\n\treturn &value\n}\n',
  },
  {
    names: ['convert'],
    uses: [],
    text: '// convert decodes a value of type any, or what a text holds (JSON, JSON lines, CSV, a table, a Python literal), into a type that fits it: convert[[]map[string]string](text)\nfunc convert[T any](value any) (T, error)\n',
    code: 'func convert[T any](value any) (output T, err error) {\n\terr = codemode.Convert(value, &output)\n\treturn output, err\n}\n',
  },
  {
    names: ['callTool'],
    uses: [],
    text: '// callTool calls any tool by the names that it has on its server; input is a struct or map, the result text or JSON\nfunc callTool(ctx context.Context, server, tool string, input any) (string, error)\n',
    code: 'func callTool(ctx context.Context, server, tool string, input any) (output string, err error) {\n\terr = codemode.Call(ctx, tool, server+"/"+tool, input, &output)\n\treturn output, err\n}\n',
  },
  {
    names: ['ToolInfo'],
    uses: [],
    text: '// ToolInfo is a tool as searchTools finds it; Function is what the code calls it by\ntype ToolInfo struct {\n\tServer, Tool, Function, Signature, Description string\n}\n',
    code: 'type ToolInfo struct {\n\tServer, Tool, Function, Signature, Description string\n}\n',
  },
  {
    names: ['searchTools'],
    uses: ['ToolInfo'],
    text: '// searchTools finds tools by words, best first; "" lists all of them\nfunc searchTools(ctx context.Context, query string) ([]ToolInfo, error)\n',
    code: 'func searchTools(ctx context.Context, query string) (output []ToolInfo, err error) {\n\terr = codemode.Call(ctx, "searchTools", "@go/searchTools", map[string]any{"query": query}, &output)\n\treturn output, err\n}\n',
  },
  {
    names: ['describeTools'],
    uses: [],
    text: '// describeTools gives the Go declarations of functions, with all their types: describeTools(ctx, "getWeather")\nfunc describeTools(ctx context.Context, functions ...string) (string, error)\n',
    code: 'func describeTools(ctx context.Context, functions ...string) (output string, err error) {\n\terr = codemode.Call(ctx, "describeTools", "@go/describeTools", map[string]any{"functions": functions}, &output)\n\treturn output, err\n}\n',
  },
  {
    names: ['ToolError'],
    uses: [],
    text: '// ToolError is what a failed call returns; errors.As finds it\ntype ToolError struct {\n\tTool, Kind, Message, Hint string\n\tFields                    map[string]any\n}\n',
    code: 'type ToolError = codemode.ToolError\n',
  },
];
