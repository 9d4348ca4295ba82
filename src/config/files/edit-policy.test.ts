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
    'policy: { rules: [{"tools":"files/write_*","decision":"ask"}, { tools: a/b, decision: ask }] } # x\n',
  );
  const json = '{\n  // mine\n  "policy": { "rules": [\n    { "decision": "deny" } // last\n  ] }\n}\n';
  expect(withPolicyRule(json, 'a.json', RULE)).toBe(
    json.replace('"deny" }', '"deny" }, {"tools":"files/write_*","decision":"ask"}'),
  );
});

test('a file without a policy gets one at its end', () => {
  expect(withPolicyRule('profile: codemode # x\n', 'a.yaml', RULE)).toBe(
    'profile: codemode # x\npolicy:\n  rules:\n    - tools: files/write_*\n      decision: ask\n',
  );
  expect(withPolicyRule('{"profile": "codemode" /* x */}', 'a.json', RULE)).toBe(
    '{"profile": "codemode",\n  "policy": {"rules":[{"tools":"files/write_*","decision":"ask"}]} /* x */}',
  );
  expect(withPolicyRule('policy:\n  preset: strict # careful\n', 'a.yaml', RULE)).toContain('preset: strict # careful');
});
