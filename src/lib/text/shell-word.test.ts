import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellWord } from './shell-word.js';

test.each(['codemode', '/opt/my tools/node', "it's", '$HOME', '', 'a;b', '~/x', '*', 'a\nb', '!!', '--flag=x'])(
  'a shell reads %j back as it was',
  (word) => {
    expect(execFileSync('/bin/sh', ['-c', `printf %s ${shellWord(word)}`]).toString()).toBe(word);
  },
);
