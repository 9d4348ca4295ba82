import type { OpenApiTarget, UpstreamDefinition } from '../../domain/upstream.js';
import { namedArguments, secretsIn } from '../../lib/secret-values.js';

/** The values of a server's settings that must not be seen again. */
export function credentialsOf({ target }: UpstreamDefinition): string[] {
  if (target.kind === 'stdio')
    return [
      ...Object.entries(target.environment),
      ...Object.entries(target.inherited ?? {}),
      ...namedArguments(target.arguments),
    ].flatMap(([name, value]) => secretsIn(name, value));
  if (target.kind === 'openapi')
    return [...Object.entries(target.headers), ['', target.document] as const, ['', target.baseUrl ?? ''] as const]
      .flatMap(([name, value]) => secretsIn(name, value))
      .concat(secretsOfApi(target.auth));
  return [...Object.entries(target.headers), ['', target.url] as const].flatMap(([name, value]) =>
    secretsIn(name, value),
  );
}

/** A password is found in the base64 that it is sent in too: the redactor knows the forms of what it is given. */
function secretsOfApi(auth: OpenApiTarget['auth']): string[] {
  switch (auth?.type) {
    case 'bearer':
      return secretsIn('token', auth.token);
    case 'basic':
      return secretsIn('password', auth.password);
    case 'apiKey':
      return secretsIn('key', auth.key);
    case undefined:
      return [];
  }
}
