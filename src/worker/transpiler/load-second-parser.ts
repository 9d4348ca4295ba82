import { createRequire } from 'node:module';
import type { secondParser } from './second-parser.js';

/** A separate file beside the worker's: few sources need this parser, and it would slow down every start of a worker. */
export function loadSecondParser(): typeof secondParser {
  return (createRequire(import.meta.url)('./returns.cjs') as { secondParser: typeof secondParser }).secondParser;
}
