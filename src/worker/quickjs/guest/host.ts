/**
 * The worker's functions for the code inside the engine. They arrive as globals when the image is built, are deleted here before
 * any program runs, and can then be reached only by the code of this folder.
 */
interface HostFunctions {
  /** Requests a call; its answer comes back through `deliver`. */
  call(number: number, target: string, argumentsJson: string): void;
  /** Requests a call and blocks the engine until it is answered: JSON of `{ok, value}` or `{ok, error}`. */
  callSync(number: number, target: string, argumentsJson: string): string;
  log(level: string, message: string): void;
  /** Time of the next timer, in milliseconds of the program's clock; -1 for none. */
  wake(atMs: number): void;
  /** Turns positions in the generated code into positions in the agent's own source. */
  mapStack(stack: string): string;
}

export const HOST_FUNCTION_NAMES = ['call', 'callSync', 'log', 'wake', 'mapStack'] as const;

const global = globalThis as unknown as Record<string, unknown>;

function take<Name extends keyof HostFunctions>(name: Name): HostFunctions[Name] {
  const key = `__host_${name}`;
  const found = global[key] as HostFunctions[Name];
  delete global[key];
  return found;
}

export const host: HostFunctions = {
  call: take('call'),
  callSync: take('callSync'),
  log: take('log'),
  wake: take('wake'),
  mapStack: take('mapStack'),
};
