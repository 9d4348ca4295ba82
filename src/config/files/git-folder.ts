import { stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { readRegularFile } from '../../lib/files/read-regular-file.js';
import { matchesGlob } from '../../lib/text/glob.js';

/** The git work tree that contains a file. */
export interface GitPlace {
  readonly root: string;
  /** Whether the ignore files of the work tree exclude this file. */
  readonly isIgnored: boolean;
}

/** More than any that people write. The files belong to the project's author. */
const MAX_IGNORE_BYTES = 256 * 1024;

/**
 * The work tree around a file, or undefined. Git itself is not run: the configuration of an untrusted work tree can make it start
 * commands. A pattern we do not understand never counts in favour of "ignored".
 */
export async function gitPlaceOf(file: string): Promise<GitPlace | undefined> {
  const root = await workTreeAround(dirname(file));
  if (root === undefined) return undefined;
  const steps = relative(root, file).split(sep);
  const rules = await readRules(join(root, '.git', 'info', 'exclude'), 0);
  for (let depth = 0; depth < steps.length; depth += 1)
    rules.push(...(await readRules(join(root, ...steps.slice(0, depth), '.gitignore'), depth)));
  const isIgnored = steps.some((_, index) => isExcluded(steps.slice(0, index + 1), index < steps.length - 1, rules));
  return { root, isIgnored };
}

async function workTreeAround(folder: string): Promise<string | undefined> {
  const found = await stat(join(folder, '.git')).catch(() => undefined);
  if (found !== undefined) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : workTreeAround(above);
}

interface Rule {
  /** How many folders below the root its ignore file is. */
  readonly depth: number;
  readonly segments: readonly string[];
  /** A pattern without a slash matches a name at any depth. */
  readonly isAnchored: boolean;
  readonly isNegated: boolean;
  readonly foldersOnly: boolean;
}

async function readRules(file: string, depth: number): Promise<Rule[]> {
  const text = await readRegularFile(file, MAX_IGNORE_BYTES).then(String, () => '');
  return text.split(/\r?\n/).flatMap((line): Rule[] => {
    const pattern = line.replace(/(?<!\\)\s+$/, '');
    if (pattern === '' || pattern.startsWith('#')) return [];
    const isNegated = pattern.startsWith('!');
    const body = pattern.slice(isNegated ? 1 : 0);
    const bare = body.replace(/^\//, '').replace(/\/$/, '');
    const segments = bare.split('/');
    return [
      {
        depth,
        segments,
        isAnchored: body.startsWith('/') || segments.length > 1,
        isNegated,
        foldersOnly: body.endsWith('/'),
      },
    ];
  });
}

/** The verdict of the last matching rule. */
function isExcluded(steps: readonly string[], isFolder: boolean, rules: readonly Rule[]): boolean {
  const last = rules.findLast((rule) => {
    if (rule.depth >= steps.length || (rule.foldersOnly && !isFolder)) return false;
    const below = steps.slice(rule.depth);
    return rule.isAnchored
      ? fits(rule.segments, below, rule.isNegated)
      : fitsName(rule.segments[0] as string, basename(below.join(sep)), rule.isNegated);
  });
  return last !== undefined && !last.isNegated;
}

/** Row by row, so that matching takes at most the pattern's length times the path's length. */
function fits(segments: readonly string[], steps: readonly string[], isNegated: boolean): boolean {
  let reached = new Set([0]);
  for (const [index, segment] of segments.entries()) {
    const next = new Set<number>();
    for (const at of reached) {
      if (segment === '**') {
        const isLast = index === segments.length - 1;
        for (let to = isLast ? at + 1 : at; to <= steps.length; to += 1) next.add(to);
      } else if (at < steps.length && fitsName(segment, steps[at] as string, isNegated)) next.add(at + 1);
    }
    reached = next;
  }
  return reached.has(steps.length);
}

/** `?`, `[a-z]` and escapes are not understood: a pattern with them ignores nothing, and un-ignores everything. */
function fitsName(pattern: string, name: string, isNegated: boolean): boolean {
  return /[?[\\]/.test(pattern) ? isNegated : matchesGlob(pattern, name);
}
