/** The outcome of one write, as the program that made it was told. */
export type Outcome = 'done' | 'refused' | 'unknown' | 'failed';

/** Everything that is known when the hosts are at rest, from those who cannot have been fooled by them. */
export interface Observation {
  /** What reached the server, by its own log: `write TEXT`, `spend TEXT`. */
  readonly ledger: readonly string[];
  /** Every question about a call, by its argument, and what was decided, by a trigger of the database. */
  readonly questions: readonly {
    readonly runId: string;
    readonly tool: string;
    readonly text: string;
    readonly state: string;
  }[];
  /** Runs in the database. */
  readonly runs: readonly { readonly id: string; readonly state: string }[];
  /** Every time that a run ended, and every time that one that had ended changed again, by a trigger of the database. */
  readonly ends: readonly { readonly run: string; readonly what: 'ended' | 'changed' }[];
  /** Runs of which a client was told that they will be resumed. */
  readonly accepted: readonly string[];
  /** What programs said about each of their writes, of those whose answer a client has read. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** How many calls of `spend` the budget of the day pays for. */
  readonly budget: number;
  /** Calls on record, by tool. */
  readonly audited: Readonly<Record<string, number>>;
  /** What `codemode audit verify` ended with. */
  readonly auditStatus: number | null;
  readonly auditOutput: string;
  /** Hosts that ended though nobody asked them to, each with the end of its log. */
  readonly deaths: readonly string[];
}

/** What must be true whatever happened. Empty where it is. */
export function violations(seen: Observation): string[] {
  return [
    ...callsAtMostOnce(seen),
    ...onlyApprovedCalls(seen),
    ...toldTheTruth(seen),
    ...endsExactlyOnce(seen),
    ...nothingStaysSuspended(seen),
    ...budgetKept(seen),
    ...onRecord(seen),
    ...seen.deaths,
  ];
}

function callsAtMostOnce({ ledger }: Observation): string[] {
  const changing = ledger.filter((line) => !line.startsWith('look '));
  const repeated = changing.filter((line, index) => changing.indexOf(line) !== index);
  return repeated.map((line) => `a call was made more than once: ${line}`);
}

function onlyApprovedCalls({ ledger, questions }: Observation): string[] {
  const approved = new Set(questions.filter(({ state }) => state === 'APPROVED').map(({ text }) => text));
  const writes = ledger.filter((line) => line.startsWith('write ')).map((line) => line.slice('write '.length));
  return writes.filter((text) => !approved.has(text)).map((text) => `a call was made that nobody approved: ${text}`);
}

function toldTheTruth({ ledger, outcomes }: Observation): string[] {
  const made = new Set(ledger.map((line) => line.slice(line.indexOf(' ') + 1)));
  return [...outcomes].flatMap(([text, outcome]) => {
    if (outcome === 'done' && !made.has(text))
      return [`a program was told that a call was made, and it was not: ${text}`];
    if (outcome === 'refused' && made.has(text))
      return [`a program was told that a call was refused, and it was made: ${text}`];
    return [];
  });
}

function endsExactlyOnce({ runs, ends }: Observation): string[] {
  const counts = new Map<string, number>();
  for (const { run, what } of ends) if (what === 'ended') counts.set(run, (counts.get(run) ?? 0) + 1);
  return [
    ...ends.filter(({ what }) => what === 'changed').map(({ run }) => `a run changed after it had ended: ${run}`),
    ...[...counts].filter(([, count]) => count > 1).map(([run, count]) => `a run ended ${count} times: ${run}`),
    ...runs
      .filter(({ id, state }) => state !== 'suspended' && !counts.has(id))
      .map(({ id }) => `a run has ended, and nobody saw it end: ${id}`),
  ];
}

function nothingStaysSuspended({ accepted, runs, ends, questions }: Observation): string[] {
  const ended = new Set(ends.map(({ run }) => run));
  const states = new Map(runs.map(({ id, state }) => [id, state]));
  const waiting = new Set(questions.filter(({ state }) => state === 'PENDING').map(({ runId }) => runId));
  return [
    // One that has ended may have been deleted since: history has a quota.
    ...accepted.filter((id) => !states.has(id) && !ended.has(id)).map((id) => `a run was lost: ${id}`),
    ...runs
      .filter(({ id, state }) => state === 'suspended' && !waiting.has(id))
      .map(({ id }) => `a run stays suspended though everything was decided: ${id}`),
  ];
}

function budgetKept({ ledger, budget }: Observation): string[] {
  const spent = ledger.filter((line) => line.startsWith('spend ')).length;
  return spent > budget ? [`${spent} calls were paid for from a budget for ${budget}`] : [];
}

function onRecord({ ledger, audited, auditStatus, auditOutput }: Observation): string[] {
  const missing = ['write', 'spend', 'look'].flatMap((tool) => {
    const made = ledger.filter((line) => line.startsWith(`${tool} `)).length;
    return made > (audited[tool] ?? 0)
      ? [`${made} calls of ${tool} were made, and ${audited[tool] ?? 0} are on record`]
      : [];
  });
  return auditStatus === 0 ? missing : [...missing, `the audit log does not verify: ${auditOutput}`];
}
