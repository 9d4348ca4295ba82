import type { GoDeclaration } from './go-types.js';

/** What a program has beside the tools: declared like them, and compiled only where it is used. */
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
    text: '// convert decodes a value of type any into a type that fits it: convert[Issue](value)\nfunc convert[T any](value any) (T, error)\n',
    code: 'func convert[T any](value any) (output T, err error) {\n\terr = codemode.Convert(value, &output)\n\treturn output, err\n}\n',
  },
  {
    names: ['callTool'],
    uses: [],
    text: '// callTool calls any tool by the names that it has on its server; input is a struct or map, the result text or JSON\nfunc callTool(ctx context.Context, server, tool string, input any) (string, error)\n',
    code: 'func callTool(ctx context.Context, server, tool string, input any) (output string, err error) {\n\terr = codemode.Call(ctx, tool, server+"/"+tool, input, &output)\n\treturn output, err\n}\n',
  },
  {
    names: ['ToolError'],
    uses: [],
    text: '// ToolError is what a failed call returns; errors.As finds it\ntype ToolError struct {\n\tTool, Kind, Message, Hint string\n\tFields                    map[string]any\n}\n',
    code: 'type ToolError = codemode.ToolError\n',
  },
];
