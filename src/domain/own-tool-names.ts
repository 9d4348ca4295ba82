/** The names of our own tools, in all contracts. No tool of a server is ever listed or called under one of them. */
export const OWN_TOOL_NAMES = {
  codemode: 'codemode_run',
  /** As the contract of profile `codemode` spells it. */
  codemodeInContract: 'codemode.run',
  unified: 'execute_code',
  codeExecution: 'code_execution',
  go: 'execute_go_code',
  node: 'run_node',
  python: 'run_python',
} as const;

const COMPARED = new Set(Object.values(OWN_TOOL_NAMES).map(compared));

/**
 * Whether a name is one of ours or looks like one: from any contract, served or not, in any case and with other punctuation.
 * Every name that begins with `codemode` is included.
 */
export function isOwnToolName(name: string): boolean {
  const text = compared(name);
  return text.startsWith('codemode') || COMPARED.has(text);
}

/** `Execute-Code`, `execute.code` and `execute_code` look like one name to a reader. */
function compared(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}
