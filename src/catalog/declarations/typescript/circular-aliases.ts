import type { Definition, SchemaNode } from '../schema/schema-model.js';

/** Definitions that reach themselves without an object or a list in between. No language can declare those. */
export function circularAliases(definitions: readonly Definition[]): readonly Definition[] {
  const circular: Definition[] = [];
  const states = new Map<Definition, 'open' | 'done'>();
  const visit = (definition: Definition): void => {
    states.set(definition, 'open');
    for (const next of immediateReferences(definition.node)) {
      const state = states.get(next);
      if (state === undefined) visit(next);
      else if (state === 'open' && !circular.includes(definition)) circular.push(definition);
    }
    states.set(definition, 'done');
  };
  for (const definition of definitions) if (!states.has(definition)) visit(definition);
  return circular;
}

function immediateReferences(node: SchemaNode): readonly Definition[] {
  const { shape } = node;
  if (shape.kind === 'reference') return [shape.definition];
  if (shape.kind === 'union') return shape.options.flatMap(immediateReferences);
  if (shape.kind === 'intersection') return shape.parts.flatMap(immediateReferences);
  return [];
}
