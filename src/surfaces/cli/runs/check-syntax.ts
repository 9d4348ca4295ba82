import { HostError } from '../../../domain/errors.js';
import type { SourceLanguage } from '../../../domain/run.js';
import type { CommandContext } from '../command.js';

/** Parses a program in the sandbox without running it. Throws `bad_input` with the position of the mistake. */
export async function checkSyntax(context: CommandContext, source: string, language: SourceLanguage): Promise<void> {
  const { host } = await context.compose();
  await using _ = host;
  const failure = await host.findSyntaxError(source, language);
  if (failure === undefined) return;
  const { message, position } = failure;
  const place = position === undefined ? '' : ` at line ${position.line}, column ${position.column}`;
  throw new HostError('bad_input', `the script cannot be read; correct it${place} and add it again: ${message}`);
}
