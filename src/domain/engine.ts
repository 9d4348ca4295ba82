/** The engine that executes a program inside a worker. */
export type EngineName = 'quickjs' | 'v8';

/**
 * Which engine a run gets. `auto`: it starts in QuickJS; a run that computes for long or receives much data is replayed in V8.
 * `v8`: it starts in V8, if V8 can run it.
 */
export const ENGINE_CHOICES = ['auto', 'quickjs', 'v8'] as const;
export type EngineChoice = (typeof ENGINE_CHOICES)[number];
