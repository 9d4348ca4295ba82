/** Renames run states to `suspended` and `succeeded`, as everywhere else. They were `waiting` and `finished`. */
export const RUN_STATES = `
  DROP INDEX runs_that_wait;
  ALTER TABLE runs ADD COLUMN run_state TEXT NOT NULL DEFAULT 'failed'
    CHECK (run_state IN ('suspended', 'succeeded', 'failed', 'cancelled'));
  UPDATE runs SET run_state = CASE state WHEN 'waiting' THEN 'suspended' WHEN 'finished' THEN 'succeeded' ELSE state END;
  ALTER TABLE runs DROP COLUMN state;
  ALTER TABLE runs RENAME COLUMN run_state TO state;
  CREATE INDEX suspended_runs ON runs (state) WHERE state = 'suspended';
`;
