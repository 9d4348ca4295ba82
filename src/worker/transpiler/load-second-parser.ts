import { createRequire } from 'node:module';
import type { secondParser } from './second-parser.js';

/** A file of its own beside the worker's: a parser that few sources need would make every start of a worker longer. */
export function loadSecondParser(): typeof secondParser {
  return (createRequire(import.meta.url)('./returns.cjs') as { secondParser: typeof secondParser }).secondParser;
}
