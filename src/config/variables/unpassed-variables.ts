import { type Environment, isAlwaysInherited } from './environment.js';

/**
 * The variables that servers of a kind usually read, by a word in their name or command. The variables of one line are
 * alternatives: a server that has one of them needs no other.
 */
const USUAL: readonly (readonly [words: string, variables: string])[] = [
  ['github gh', 'GITHUB_TOKEN GH_TOKEN GITHUB_PERSONAL_ACCESS_TOKEN'],
  ['gitlab', 'GITLAB_TOKEN GITLAB_PERSONAL_ACCESS_TOKEN'],
  ['aws awslabs s3 dynamodb cloudwatch', 'AWS_PROFILE AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN'],
  ['aws awslabs s3 dynamodb cloudwatch', 'AWS_REGION AWS_DEFAULT_REGION'],
  ['kubernetes kube kubectl k8s helm', 'KUBECONFIG'],
  ['git ssh', 'SSH_AUTH_SOCK'],
  ['gcp gcloud google bigquery vertex', 'GOOGLE_APPLICATION_CREDENTIALS'],
  ['azure az', 'AZURE_CLIENT_ID AZURE_CLIENT_SECRET AZURE_TENANT_ID'],
  ['docker podman', 'DOCKER_HOST'],
  ['slack', 'SLACK_BOT_TOKEN SLACK_TOKEN'],
  ['openai', 'OPENAI_API_KEY'],
  ['anthropic claude', 'ANTHROPIC_API_KEY'],
  ['gemini', 'GEMINI_API_KEY GOOGLE_API_KEY'],
  ['brave', 'BRAVE_API_KEY'],
  ['tavily', 'TAVILY_API_KEY'],
  ['exa', 'EXA_API_KEY'],
  ['firecrawl', 'FIRECRAWL_API_KEY'],
  ['notion', 'NOTION_TOKEN NOTION_API_KEY'],
  ['linear', 'LINEAR_API_KEY'],
  ['sentry', 'SENTRY_AUTH_TOKEN'],
  ['stripe', 'STRIPE_SECRET_KEY STRIPE_API_KEY'],
  ['postgres postgresql', 'DATABASE_URL PGPASSWORD'],
  ['figma', 'FIGMA_API_KEY'],
  ['huggingface hf', 'HF_TOKEN'],
];

/** A server entry, checked or as written. */
interface CommandSettings {
  readonly command?: unknown;
  readonly args?: unknown;
  readonly env?: unknown;
  readonly environment?: unknown;
  readonly inheritEnv?: unknown;
  readonly url?: unknown;
}

/** Variables that a server of this kind usually reads and that are set here, but that its process would not see. */
export function unpassedVariables(name: string, server: CommandSettings, environment: Environment): string[] {
  if (typeof server.command !== 'string') return [];
  const parts = [server.command, ...(Array.isArray(server.args) ? server.args : [])].filter(isText);
  const words = wordsOf([...parts, name]);
  const given = new Set([
    ...Object.keys(server.env ?? {}),
    ...Object.keys(server.environment ?? {}),
    ...(Array.isArray(server.inheritEnv) ? server.inheritEnv : []),
  ]);
  const usual = USUAL.flatMap(([kinds, variables]) => {
    const names = variables.split(' ');
    return kinds.split(' ').some((kind) => words.has(kind)) && !names.some((each) => given.has(each)) ? names : [];
  });
  const wanted = new Set([...usual, ...containerVariables(parts).filter((each) => !given.has(each))]);
  return [...wanted].filter((each) => (environment[each] ?? '') !== '' && !isAlwaysInherited(each));
}

/** `docker run -e NAME` passes on a variable of the docker command itself, which has to get it first. */
function containerVariables(words: readonly string[]): string[] {
  if (!words.some((word) => /(^|\/)(docker|podman)$/.test(word))) return [];
  return words
    .map((word, index) => (/^(-e|--env)$/.test(word) ? words[index + 1] : /^(?:-e|--env=)(.*)$/.exec(word)?.[1]))
    .filter((name): name is string => name !== undefined && /^[A-Za-z_]\w*$/.test(name));
}

/** The line of the configuration that passes these variables on. */
export function inheritLine(names: readonly string[]): string {
  return `inheritEnv: [${names.join(', ')}]`;
}

/** `npx -y @modelcontextprotocol/server-github` has the word github. A path that is not a program is the user's data. */
function wordsOf(parts: readonly string[]): ReadonlySet<string> {
  const words = parts
    .map((part, index) => {
      if (!/^[~.]{0,2}\//.test(part)) return part;
      if (/\.[cm]?[jt]s$|\.py$/.test(part)) return part.split('/').slice(-3).join('/');
      return index === 0 ? part.split('/').slice(-1).join() : '';
    })
    .flatMap((part) => part.toLowerCase().split(/[^a-z0-9]+/));
  return new Set(words);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
