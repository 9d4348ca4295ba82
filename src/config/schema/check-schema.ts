import * as z from 'zod';
import { means } from './units.js';

export const checkSchema = z.strictObject({
  types: z
    .enum(['auto', 'off'])
    .default('auto')
    .meta(
      means(
        '`auto`: a call that would surely fail by the types of its tool ends the program before anything is sent, where TypeScript 7 is installed (`codemode check --install`). `off`: programs are run as they are.',
        'off',
      ),
    ),
  compiler: z
    .string()
    .min(1)
    .optional()
    .meta(
      means(
        'Folder of an npm package `typescript`, version 7 or newer. Without it the one of `codemode check --install`, then one that is installed beside codemode.',
        '/usr/lib/node_modules/typescript',
      ),
    ),
});
