import { policyMistakes } from '../broker/policy/mistakes.js';
import { Policy } from '../broker/policy/policy.js';
import type { Redactor } from '../broker/redaction/redactor.js';
import { approximateTokens } from '../catalog/briefing/tokens.js';
import type { Catalog } from '../catalog/catalog.js';
import type { LearnedTypes } from '../catalog/observed/learned-types.js';
import { parseYaml } from '../config/files/document.js';
import { withPolicyRule } from '../config/files/edit-policy.js';
import { fileToChange, writeOver } from '../config/files/own-file.js';
import { stateFolder } from '../config/files/state-folder.js';
import type { LoadedConfig } from '../config/load.js';
import { codeModeOf } from '../config/schema/code-mode.js';
import { policySchema, policySettings } from '../config/schema/policy-schema.js';
import { trustCommand } from '../config/trust/trust.js';
import { readEnvironment } from '../config/variables/environment.js';
import { consoleFolder } from '../console-folder.js';
import { HostError, isHostError } from '../domain/errors.js';
import { isJsonObject, type JsonObject } from '../domain/json.js';
import type { Log } from '../domain/log.js';
import type { PolicyRule } from '../domain/policy.js';
import { needsOf, PROFILE_NAMES, type ProfileName } from '../domain/profile-name.js';
import { type CallerId, LOCAL_CALLER } from '../domain/run.js';
import { VERSION } from '../domain/version.js';
import { AuditLog } from '../host/admin/audit-log.js';
import { KeptPrograms } from '../host/admin/console/kept-programs.js';
import { PolicyEditor, type PolicyFile } from '../host/admin/console/policy-editor.js';
import { RunHistory } from '../host/admin/console/run-history.js';
import { RunUndo } from '../host/admin/console/run-undo.js';
import { usageReport } from '../host/admin/console/usage.js';
import { measureTokens } from '../host/admin/measure.js';
import type { Host } from '../host/host.js';
import { Logins } from '../host/servers/logins.js';
import type { Inventory } from '../host/tools/inventory.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import { unifiedDiff } from '../lib/text/line-diff.js';
import { createProfile } from '../profiles/registry.js';
import { COMMAND_LINE_CALLER } from '../surfaces/cli/caller.js';
import type { HostSettings } from '../surfaces/cli/composed.js';
import type { ConsoleOptions, Playground } from '../surfaces/console/console-options.js';
import { ConsoleSurface } from '../surfaces/console/console-surface.js';
import { sessionOptions } from '../surfaces/mcp/mcp-session.js';
import { connectInfo } from './console-connect.js';
import { findRuntimes } from './machine.js';
import { policyOptions } from './policy.js';
import type { Records } from './records.js';
import type { Servers } from './servers.js';
import { loadCredentials } from './state.js';

/** The parts of the host that the console shows. */
export interface ConsoleParts {
  readonly host: Host;
  readonly inventory: Inventory;
  readonly catalog: Catalog;
  readonly servers: Servers;
  readonly records: Records;
  readonly redactor: Redactor;
  readonly loaded: LoadedConfig;
  readonly settings: HostSettings;
  /** Absent if learning is switched off. */
  readonly observed?: LearnedTypes;
}

/** Programs and calls of the person at the console have a caller like all others. */
const CONSOLE_CALLER = 'console' as CallerId;

/** Assembles the console. `urlOf`: the address at which this process serves clients, if it does. */
export async function openConsole(
  parts: ConsoleParts,
  { log, urlOf }: { readonly log: Log; readonly urlOf?: () => string },
): Promise<{ readonly surface: ConsoleSurface; readonly access: ConsoleOptions['access'] }> {
  const { host, inventory, catalog, servers, records, redactor, loaded } = parts;
  const { config } = loaded;
  const folder = stateFolder(readEnvironment());
  const access = await records.consoleAccess();
  const audit = config.audit.enabled ? auditOf(records) : undefined;
  const labelsOf = (serverId: string) => servers.traits.get(serverId)?.labels ?? [];
  const history = new RunHistory({
    ...{ host, suspended: records.suspended, presence: records.presence, redactor, labelsOf },
    ...omitUndefined({ audit }),
    toolFacts: (target) => {
      const found = catalog.snapshot().toolByTarget.get(target);
      const [path = '', ...rest] = target.split('/');
      const serverId = found?.server.id ?? catalog.snapshot().serverByPath.get(path)?.id ?? path;
      const isReadOnly = found?.tool.annotations?.readOnlyHint;
      return {
        ...{ serverId, toolName: found?.tool.name ?? rest.join('/'), labels: labelsOf(serverId) },
        ...omitUndefined({ exportName: found?.exportName, isReadOnly }),
      };
    },
  });
  const kept = new KeptPrograms({ host, suspended: records.suspended, redactor });
  const undo = new RunUndo({ host, redactor, callers: [COMMAND_LINE_CALLER, LOCAL_CALLER, CONSOLE_CALLER] });
  const playground = playgroundOf(parts);
  const { file, fileOrigin: origin } = loaded;
  const configured = file === undefined || origin === undefined ? undefined : { file, origin };
  const surface = new ConsoleSurface({
    ...{ host, inventory, access, history, kept, undo, playground, log },
    ...omitUndefined({ audit }),
    policy: policyEditor(parts, history),
    usage: (days) =>
      usageReport(
        {
          suspended: records.suspended,
          ...omitUndefined({ audit }),
          context: () => contextTokens(parts),
        },
        days,
      ),
    connect: async () => connectInfo(urlOf?.(), configured, await (await records.presence()).clients()),
    clients: async () => (await records.presence()).clients(),
    observedOf: async (tool) => (await parts.observed?.seenOf(tool)) ?? [],
    logins: async () => new Logins(await loadCredentials(records, redactor), [...servers.definitions.values()]),
    servers: {
      traitsOf: (id) => servers.traits.get(id) ?? { isTrusted: false, labels: [] },
      canLogIn: (id) => {
        const isRemote = servers.definitions.get(id)?.target.kind === 'http';
        return isRemote && servers.registry.has(id) && servers.registry.get(id).credentialSetting === undefined;
      },
      logOf: (id) => {
        if (servers.definitions.get(id)?.target.kind !== 'stdio')
          return { lines: [], note: 'It is not a process of this machine, so codemode cannot see its log.' };
        const words = servers.registry.has(id) ? servers.registry.get(id).lastCrash?.() : undefined;
        if (words === undefined) return { lines: [], note: 'It has written nothing to stderr since it was started.' };
        return { lines: words.lines, ...(words.summary === '' ? {} : { summary: words.summary }) };
      },
      reconnect: async (id) => {
        if (servers.registry.has(id)) servers.registry.get(id).reconnect?.();
        await catalog.refresh(id);
      },
    },
    folder: consoleFolder(),
    version: VERSION,
    stateFolder: folder,
    profile: config.profile,
    servesClients: urlOf !== undefined,
  });
  return { surface, access };
}

/** Opened once, from the same store as the other records. */
function auditOf(records: Records): () => Promise<AuditLog> {
  let opened: Promise<AuditLog> | undefined;
  return async () => {
    opened ??= (async () => {
      return AuditLog.open({ store: await records.store.audit(), close: async () => {} });
    })();
    await records.audit?.flush();
    return opened;
  };
}

function playgroundOf({ host, loaded: { config } }: ConsoleParts): Playground {
  const opened = new Map<ProfileName, ReturnType<Playground['open']>>();
  const open = async (name: ProfileName) => {
    const own = { ...config, profile: name };
    const profile = createProfile(own, await findRuntimes(own));
    if (profile.tools.length === 0) throw new HostError('bad_input', `profile ${name} has no tool on this machine`);
    return {
      profile,
      session: host.openSession(sessionOptions(profile, codeModeOf(config, undefined), CONSOLE_CALLER)),
    };
  };
  return {
    open: (name) => {
      const known = opened.get(name) ?? open(name);
      opened.set(name, known);
      known.catch(() => opened.delete(name));
      return known;
    },
    profiles: () =>
      Promise.all(
        PROFILE_NAMES.map(async (name) => {
          const own = { ...config, profile: name };
          const machine = await findRuntimes(own);
          const { runtimes, go } = machine;
          const { languages, example } = createProfile(own, machine).playground;
          const shown = { name, languages, example };
          if (go?.isAvailable === false) return { ...shown, problem: `${go.reason}. ${go.fix}` };
          const isMissing =
            needsOf(name).runtime === 'interpreters' && !runtimes.some(({ isAvailable }) => isAvailable);
          return isMissing ? { ...shown, problem: 'Neither Node nor Python was found. Run: codemode doctor.' } : shown;
        }),
      ),
    countTokens: approximateTokens,
  };
}

async function contextTokens({ inventory, loaded: { config } }: ConsoleParts) {
  const profile = createProfile(config, await findRuntimes(config));
  const view = inventory.view();
  const told = [
    profile.instructions(view, []),
    ...profile.tools.map(({ name, title, description, inputSchema, outputSchema }) =>
      JSON.stringify({ name, title, description: description(view), inputSchema, outputSchema }),
    ),
  ];
  const { tools, definitions, catalog } = measureTokens(view, told);
  return { tools, definitions, told: catalog };
}

function policyEditor(parts: ConsoleParts, history: RunHistory): PolicyEditor {
  const { catalog, servers, loaded, settings: hostSettings } = parts;
  const { config, upstreams, placeOf } = loaded;
  const settings = policySettings(config.policy);
  const optionsWith = (rules: readonly PolicyRule[]) =>
    policyOptions({ ...config, policy: { ...config.policy, rules: [...rules] } as never }, upstreams);
  const policyWith = async (rules: readonly PolicyRule[]) => {
    const options = await optionsWith(rules);
    const [mistake] = policyMistakes(options);
    if (mistake !== undefined) throw new HostError('bad_input', `${mistake.path.join('.')}: ${mistake.problem}`);
    return new Policy({ ...options, servers: servers.traits });
  };
  return new PolicyEditor({
    ...{ settings, history, policyWith },
    placeOf: (index) => (loaded.file === undefined ? undefined : placeOf(['policy', 'rules', index])),
    snapshot: () => catalog.snapshot(),
    readRule: async (rule) => {
      const parsed = policySchema.safeParse({ rules: [rule] });
      if (!parsed.success) throw draftMistake(parsed.error.issues[0]?.path, parsed.error.issues[0]?.message);
      const [read] = policySettings(parsed.data).rules as [PolicyRule];
      // Its examples depend on the rules around it, and are tried with them.
      const [mistake] = policyMistakes(await optionsWith([{ ...read, examples: [] }]));
      if (mistake !== undefined) throw draftMistake(mistake.path, mistake.problem);
      return read;
    },
    openFile: () => policyFile(loaded, hostSettings, policyWith),
  });
}

/** A mistake in the draft, named by its field: where a list would have the draft says nothing to who wrote it. */
function draftMistake(path: readonly PropertyKey[] = [], problem = 'is not valid'): HostError {
  const field = path.slice(2).map(String).join('.');
  return new HostError('bad_input', `${field === '' ? 'the rule' : field}: ${problem}`);
}

async function policyFile(
  loaded: LoadedConfig,
  settings: HostSettings,
  policyWith: (rules: readonly PolicyRule[]) => Promise<Policy>,
): Promise<PolicyFile> {
  const { file, format } = loaded;
  if (file === undefined)
    throw new HostError('bad_input', 'There is no configuration file yet. Create one with: codemode init');
  if (format !== 'codemode')
    throw new HostError('bad_input', `${file} belongs to another program. Create one for codemode with: codemode init`);
  const own = await fileToChange({
    named: file,
    ...omitUndefined({ projectFolder: settings.projectFolder }),
    isProject: false,
    cwd: process.cwd(),
    environment: readEnvironment(),
  });
  const { text = '' } = own;
  return {
    ...{ file, text },
    rules: () => rulesIn(text, file),
    withRule: (rule, before) => withPolicyRule(text, file, rule, before),
    diff: (changed) => unifiedDiff(text, changed, file).split('\n').slice(2).join('\n'),
    write: async (changed) => {
      await checkRules(changed, file, policyWith);
      await writeOver(own, changed, { keepsCopy: true });
      const restart =
        'Hosts that run now keep the rules they started with: restart them (and the clients that started them).';
      // A file that was named, and not found in its folder, is read without asking for trust.
      return loaded.fileOrigin === 'project'
        ? `${restart} The file was changed, so trust it again: ${trustCommand(file)}`
        : restart;
    },
  };
}

/** The rules in a file's text, each with its position. Throws `bad_config`. */
function rulesIn(text: string, file: string): ReturnType<PolicyFile['rules']> {
  const { value, placeOf } = parseYaml(text, file);
  const policy = isJsonObject(value) ? value.policy : undefined;
  const isList = Array.isArray(policy);
  const parsed = policySchema.safeParse(isList ? { rules: policy } : (policy ?? {}));
  if (!parsed.success)
    throw new HostError('bad_config', `${file}: its policy is not valid. Check it with: codemode config`);
  return policySettings(parsed.data).rules.map((rule, index) => {
    const place = placeOf(isList ? ['policy', index] : ['policy', 'rules', index]);
    return place === undefined ? { rule } : { rule, place: `${file}:${place.line}:${place.column}` };
  });
}

/** Checks the rules that the file would contain. An unreadable rule would deny everything. */
async function checkRules(
  text: string,
  file: string,
  policyWith: (rules: readonly PolicyRule[]) => Promise<Policy>,
): Promise<void> {
  const { policy } = parseYaml(text, file).value as JsonObject;
  const parsed = policySchema.safeParse(Array.isArray(policy) ? { rules: policy } : (policy ?? {}));
  if (!parsed.success) throw new HostError('bad_input', `${file}: the policy would not be valid; nothing was written`);
  try {
    await policyWith(policySettings(parsed.data).rules);
  } catch (error) {
    if (isHostError(error)) throw new HostError('bad_input', `nothing was written: ${error.message}`);
    throw error;
  }
}
