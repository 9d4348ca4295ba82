/** Records of calls: one chain per host, and anchors that hash the ends of all chains together. */
export const AUDIT = `
  CREATE TABLE codemode.audit_chains (
    chain text PRIMARY KEY,
    -- Whose it is, as in codemode.hosts.
    host text NOT NULL,
    started_at bigint NOT NULL,
    -- Its host is gone or has closed it, and nothing is appended any more.
    is_over boolean NOT NULL DEFAULT false,
    -- Up to where an anchor has it.
    anchored_count bigint NOT NULL DEFAULT 0,
    -- Where it begins, after its oldest part was deleted.
    count bigint NOT NULL DEFAULT 0,
    hash text NOT NULL,
    at_ms bigint NOT NULL,
    reason text NOT NULL DEFAULT '',
    mac text NOT NULL
  );
  CREATE INDEX audit_chains_open ON codemode.audit_chains (host) WHERE NOT is_over;
  CREATE TABLE codemode.audit (
    chain text NOT NULL,
    number bigint NOT NULL,
    -- Among those of all chains, for lists.
    position bigint GENERATED ALWAYS AS IDENTITY,
    at_ms bigint NOT NULL,
    run_id text NOT NULL,
    caller text NOT NULL,
    profile text NOT NULL,
    code_digest text NOT NULL,
    server_id text NOT NULL,
    tool_name text NOT NULL,
    arguments_digest text NOT NULL,
    result_bytes bigint,
    duration_ms double precision NOT NULL,
    verdict text NOT NULL,
    approval text NOT NULL,
    redactions text NOT NULL,
    call_id text NOT NULL,
    hash text NOT NULL,
    mac text NOT NULL,
    PRIMARY KEY (chain, number)
  );
  CREATE INDEX audit_by_position ON codemode.audit (position);
  CREATE INDEX audit_by_run ON codemode.audit (run_id);
  CREATE TABLE codemode.audit_anchors (
    number bigint PRIMARY KEY,
    at_ms bigint NOT NULL,
    -- The ends of the chains that have grown since the one before: JSON of [chain, count, hash].
    heads text NOT NULL,
    hash text NOT NULL,
    mac text NOT NULL
  );
`;
