import { describe, expect, test } from 'vitest';
import { nearest } from './nearest.js';

const TOOLS = ['list_issues', 'list_pulls', 'create_issue', 'search_code', 'get_me'];

describe('a misspelt name', () => {
  test.each([
    ['listIssues', 'list_issues'],
    ['LIST-ISSUES', 'list_issues'],
    ['list_isues', 'list_issues'],
    ['craete_issue', 'create_issue'],
    ['search', 'search_code'],
    ['getme', 'get_me'],
    ['me', 'get_me'],
    ['issuesList', 'list_issues'],
  ])('%s finds %s first', (name, best) => {
    expect(nearest(name, TOOLS, 3)[0]).toBe(best);
  });

  test('that holds two names finds the longer one', () => {
    expect(nearest('serverss', ['serve', 'servers'], 1)).toEqual(['servers']);
  });

  test('finds nothing rather than something unlike it', () => {
    expect(nearest('weather_forecast', TOOLS, 3)).toEqual([]);
    expect(nearest('', TOOLS, 3)).toEqual([]);
    expect(nearest('x', [], 3)).toEqual([]);
    expect(nearest('list_issues', ['', '_', 's', 'sue'], 3)).toEqual([]);
  });

  test('finds as many as were asked for, best first, equals by name', () => {
    expect(nearest('bat', ['rat', 'cat', 'bat', 'bar', 'mouse'], 3)).toEqual(['bat', 'bar', 'cat']);
    expect(nearest('bat', ['rat', 'cat', 'bat'], 0)).toEqual([]);
  });

  test('is found though it is written quite differently: what counts is what people confuse', () => {
    expect(nearest('@codemode/servers/git-hub', ['@codemode/servers/github'], 1)).toEqual(['@codemode/servers/github']);
  });
});

test('names of any length and number are compared within a bound', () => {
  const long = 'a'.repeat(1_000_000);
  expect(nearest(long, [long, `${long}b`, 'zzz'], 1)).toEqual([long]);
  const many = Array.from({ length: 100_000 }, (_, index) => `tool_${index}`);
  expect(nearest('tool_99999', many, 1)).not.toContain('tool_99999');
  expect(nearest('tool_4999', many, 1)).toEqual(['tool_4999']);
});
