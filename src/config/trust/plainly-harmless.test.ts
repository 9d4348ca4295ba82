import { expect, test } from 'vitest';
import { isHarmlessValue } from './harmless-value.js';

test.each([
  ...['dev', 'read-only', 'true', '3000', '1.5', '2024-11-05', '/home/me/My Notes', '~/x', './a', '/a/b:/c', 'INFO'],
  ...['https://example.com/mcp', '@scope/server-github@1.2.3', 'server-github@latest', 'text/plain', ''],
  'application/json, text/event-stream',
])('%j can be read by anybody', (value) => {
  expect(isHarmlessValue(value)).toBe(true);
});

test.each([
  ...['Tr0ub4dor', 'hunter2', 'correct horse', 'a8f9k2m4', 'https://h/x?k=1', 'https://me@h/', 'Server=db;Password=x'],
  ...['/a8F9k2M4b7D1e6C3/x', 'https://h/T0a1B2c3D4/x', '{"a":"b"}', '123e4567-e89b-12d3-a456-426614174000'],
  ...['1234567890123456', 'ABCDEF', 'qwertyuiopasdf'],
])('%j may be a secret', (value) => {
  expect(isHarmlessValue(value)).toBe(false);
});
