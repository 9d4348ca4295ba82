import { expect, test } from 'vitest';
import { withPolicyRule } from './edit-policy.js';

const RULE = { tools: 'files/write_*', decision: 'ask' };

test('a rule goes between others, and every other letter stays', () => {
  const text = `# mine
policy:
  preset: default
  rules:
    # first: reads
    - tools: files/read_*   # all of them
      decision: allow

    # second: the rest
    - { tools: "files/*", decision: deny }
# the end
profile: codemode
`;
  expect(withPolicyRule(text, 'a.yaml', RULE, 2)).toBe(
    text.replace('    # second', '    - tools: files/write_*\n      decision: ask\n    # second'),
  );
  expect(withPolicyRule(text, 'a.yaml', RULE)).toBe(
    text.replace('decision: deny }\n', 'decision: deny }\n    - tools: files/write_*\n      decision: ask\n'),
  );
  expect(withPolicyRule(text, 'a.yaml', RULE, 1)).toContain(
    'rules:\n    - tools: files/write_*\n      decision: ask\n    # first',
  );
  expect(() => withPolicyRule(text, 'a.yaml', RULE, 9)).toThrow('there are 2 rules');
});

test('a policy that is a list, a flow list and JSON with comments keep their form', () => {
  expect(withPolicyRule('policy:\n- decision: allow\n  tools: "a/*"\n', 'a.yaml', RULE)).toBe(
    'policy:\n- decision: allow\n  tools: "a/*"\n- tools: files/write_*\n  decision: ask\n',
  );
  expect(withPolicyRule('policy: { rules: [{ tools: a/b, decision: ask }] } # x\n', 'a.yaml', RULE, 1)).toBe(
    'policy: { rules: [{ "tools": "files/write_*", "decision": "ask" }, { tools: a/b, decision: ask }] } # x\n',
  );
  const json = '{\n  // mine\n  "policy": { "rules": [\n    { "decision": "deny" } // last\n  ] }\n}\n';
  const added = '{ "tools": "files/write_*", "decision": "ask" }';
  expect(withPolicyRule(json, 'a.json', RULE)).toBe(
    json.replace('"deny" } // last', `"deny" }, // last\n    ${added}`),
  );
});

test('a rule in JSON gets a line of its own, above the comments of the next one', () => {
  const added = '{ "tools": "files/write_*", "decision": "ask" }';
  const json =
    '{\n  "policy": [\n    // reads\n    { "decision": "allow" },\n    // the rest\n    { "decision": "deny" },\n  ]\n}\n';
  expect(withPolicyRule(json, 'a.jsonc', RULE, 2)).toBe(
    json.replace('    // the rest', `    ${added},\n    // the rest`),
  );
  expect(withPolicyRule(json, 'a.jsonc', RULE, 1)).toBe(json.replace('    // reads', `    ${added},\n    // reads`));
  expect(withPolicyRule(json, 'a.jsonc', RULE)).toBe(json.replace('"deny" },', `"deny" },\n    ${added},`));
  const inline = '{ "policy": { "rules": [{ "decision": "deny" }] } }';
  expect(withPolicyRule(inline, 'a.json', RULE)).toBe(inline.replace('"deny" }', `"deny" }, ${added}`));
});

test('a policy in JSON without rules gets its first one', () => {
  const list = '[\n      { "tools": "files/write_*", "decision": "ask" }\n    ]';
  const preset = '{\n  "policy": {\n    "preset": "strict" // mine\n  }\n}\n';
  expect(withPolicyRule(preset, 'a.json', RULE)).toBe(preset.replace('"strict"', `"strict",\n    "rules": ${list}`));
  const empty = '{\n  "policy": {\n    "rules": []\n  }\n}\n';
  expect(withPolicyRule(empty, 'a.json', RULE)).toBe(empty.replace('[]', list));
  expect(() => withPolicyRule(empty.replace('[]', '[ // none\n]'), 'a.json', RULE)).toThrow('cannot change safely');
});

test('a file without a policy gets one at its end', () => {
  expect(withPolicyRule('profile: codemode # x\n', 'a.yaml', RULE)).toBe(
    'profile: codemode # x\npolicy:\n  rules:\n    - tools: files/write_*\n      decision: ask\n',
  );
  expect(withPolicyRule('{"profile": "codemode" /* x */}', 'a.json', RULE)).toBe(
    '{"profile": "codemode",\n  "policy": {\n    "rules": [\n      { "tools": "files/write_*", "decision": "ask" }\n    ]\n  } /* x */}',
  );
  expect(withPolicyRule('policy:\n  preset: strict # careful\n', 'a.yaml', RULE)).toContain('preset: strict # careful');
});
