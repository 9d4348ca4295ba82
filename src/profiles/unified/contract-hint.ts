/** A host hint reworded for this contract, which has no modules: the types of `mcp` say what a tool takes. */
export function toContractHint(hint: string): string {
  if (hint.includes('@codemode/discovery')) return 'Call a tool that the types of `mcp` have.';
  if (hint.includes('getTool()')) return 'Correct the input: the types of `mcp` say what it takes.';
  return hint;
}
