/** Runs that are suspended or have ended, and what happened to resumed runs since they were suspended. */
export const RUNS = `
  CREATE TABLE codemode.runs (
    id text PRIMARY KEY,
    -- The place of a run among those of one millisecond.
    place bigint GENERATED ALWAYS AS IDENTITY,
    caller text NOT NULL,
    profile text NOT NULL,
    setting text NOT NULL,
    code_digest text NOT NULL,
    state text NOT NULL CHECK (state IN ('suspended', 'succeeded', 'failed', 'cancelled')),
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    duration_ms double precision,
    -- The host that has resumed it, and how often it was claimed or suspended again: a write with another number comes too late.
    lease_owner text,
    fence bigint NOT NULL DEFAULT 0,
    -- It waits for nobody: a host may resume it.
    is_ready boolean NOT NULL DEFAULT false,
    -- Of its image and context.
    bytes bigint NOT NULL DEFAULT 0,
    -- Sealed.
    title bytea,
    program bytea,
    context bytea,
    response bytea,
    recording bytea,
    modules text
  );
  -- Sealed bytes do not compress.
  ALTER TABLE codemode.runs ALTER COLUMN program SET STORAGE EXTERNAL, ALTER COLUMN context SET STORAGE EXTERNAL,
    ALTER COLUMN response SET STORAGE EXTERNAL, ALTER COLUMN recording SET STORAGE EXTERNAL;
  CREATE INDEX runs_by_time ON codemode.runs (created_at DESC, place DESC);
  CREATE INDEX runs_by_caller ON codemode.runs (caller, created_at DESC, place DESC);
  CREATE INDEX runs_by_update ON codemode.runs (updated_at);
  CREATE INDEX runs_suspended ON codemode.runs (caller) INCLUDE (bytes) WHERE state = 'suspended';
  CREATE INDEX runs_ready ON codemode.runs (created_at, place) WHERE state = 'suspended' AND is_ready;
  CREATE INDEX runs_by_owner ON codemode.runs (lease_owner) WHERE lease_owner IS NOT NULL;
  CREATE INDEX runs_by_modules ON codemode.runs (modules) WHERE modules IS NOT NULL;

  CREATE TABLE codemode.run_calls (
    run text NOT NULL REFERENCES codemode.runs (id) ON DELETE CASCADE,
    number integer NOT NULL,
    state text NOT NULL CHECK (state IN ('made', 'sent')),
    call bytea NOT NULL,
    PRIMARY KEY (run, number)
  );
  CREATE TABLE codemode.run_deliveries (
    run text NOT NULL REFERENCES codemode.runs (id) ON DELETE CASCADE,
    position integer NOT NULL,
    delivery bytea NOT NULL,
    PRIMARY KEY (run, position)
  );
  CREATE TABLE codemode.run_modules (
    digest text PRIMARY KEY,
    modules bytea NOT NULL,
    saved_at timestamptz NOT NULL DEFAULT now()
  );
`;
