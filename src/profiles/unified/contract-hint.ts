/** A hint of the host in the words of this contract, which has no modules: what a tool takes is in the types of `mcp`. */
export function toContractHint(hint: string): string {
  if (hint.includes('@codemode/discovery')) return 'Call a tool that the types of `mcp` have.';
  if (hint.includes('getTool()')) return 'Correct the input: the types of `mcp` say what it takes.';
  return hint;
}
