/** Calls of ended runs that were undone. The outcome of each is sealed. */
export const UNDONE = `
  CREATE TABLE codemode.undone (
    run text NOT NULL,
    call bigint NOT NULL,
    state bytea NOT NULL,
    PRIMARY KEY (run, call)
  );
`;
