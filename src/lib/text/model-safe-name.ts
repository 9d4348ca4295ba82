import { createHash } from 'node:crypto';

/** The tool names that model APIs accept. They refuse the whole request for one other character. */
export const MODEL_SAFE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

const MAX_CHARACTERS = 64;
const DIGEST_CHARACTERS = 8;

/**
 * The name itself if model APIs accept it, else a safe one: the same for the same name, on every machine. Two names may give the
 * same safe name; `withDigest` tells them apart.
 */
export function modelSafeName(name: string): string {
  if (MODEL_SAFE_NAME.test(name)) return name;
  const spelled = name.replace(/[^A-Za-z0-9_-]/gu, '_');
  if (!/[A-Za-z0-9]/.test(spelled)) return withDigest('tool', name);
  return spelled.length > MAX_CHARACTERS ? withDigest(spelled, name) : spelled;
}

/** `name`, shortened if necessary, followed by a digest of `identity`. */
export function withDigest(name: string, identity: string): string {
  const digest = createHash('sha256').update(identity).digest('hex').slice(0, DIGEST_CHARACTERS);
  return `${name.slice(0, MAX_CHARACTERS - DIGEST_CHARACTERS - 1)}_${digest}`;
}
