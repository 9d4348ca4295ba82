/** What computes a program inside a worker. */
export type EngineName = 'quickjs' | 'v8';

/**
 * Which engine a run gets. `auto`: it starts in QuickJS, and one that computes for long or receives much is replayed in V8.
 * `v8`: it starts there, where V8 can run it.
 */
export const ENGINE_CHOICES = ['auto', 'quickjs', 'v8'] as const;
export type EngineChoice = (typeof ENGINE_CHOICES)[number];
