import * as z from 'zod';
import { isScriptName } from '../../domain/script.js';
import { means } from './units.js';

const EXPECTED = 'all, or a list of names of stored scripts';

/** What happens to stored scripts besides being run by name. */
export const scriptsSchema = z.strictObject({
  expose: z
    .union([z.literal('all'), z.array(z.string().refine(isScriptName, { error: EXPECTED })).max(500)], {
      error: EXPECTED,
    })
    .default([])
    .meta(
      means(
        'Stored scripts that clients get as tools of their own, in every profile: `all`, or a list. They are listed as `codemode_script_NAME`.',
        '[monthly-report]',
      ),
    ),
});
