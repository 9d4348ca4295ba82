import { describe, expect, test } from 'vitest';
import { judgeDescription } from './judge-description.js';

describe('a description that says what must not happen unasked', () => {
  test.each([
    ['Execute a shell command on the host', 'that it runs commands or code'],
    ['This tool runs arbitrary Python code in a kernel.', 'that it runs arbitrary commands or code'],
    ['Execute JavaScript in the browser console', 'that it runs commands or code'],
    ['Execute any SQL statement', 'that it runs SQL that writes'],
    ['Run a query. Supports SELECT, INSERT, UPDATE and DELETE', 'that it runs SQL that writes'],
    ['Permanently deletes the project', 'that it deletes'],
    ['Remove untracked files from the working directory.', 'that it deletes'],
    ['Closes the account. This cannot\u200b be undone.', 'that it cannot be undone'],
    ['Sends an email to the given address', 'that it sends'],
    ['Checks out. Charges the customer card.', 'that it spends money'],
    ['Places an order with the shop', 'that it spends money'],
    ['Executes arbitrary shell commands with no restrictions', 'that it runs arbitrary commands or code'],
    ['Run any SQL without restrictions', 'that it runs SQL that writes'],
    ['Use this tool to delete files', 'that it deletes'],
    ['You can delete files with it, not folders', 'that it deletes'],
    ['Sends a Slack message', 'that it sends'],
    ['Issue a refund', 'that it spends money'],
    ['Process payment', 'that it spends money'],
    ['Evaluate a JavaScript expression', 'that it runs commands or code'],
    ['Opens an interactive shell', 'that it opens a shell'],
    ['Permanently deletes the repo without confirmation', 'that it deletes'],
    ['Executes a kubectl command', 'that it runs commands or code'],
    ['Wires money to an account', 'that it spends money'],
    ['Never fails. Does not log; runs shell commands', 'that it runs commands or code'],
  ])('is seen: %s', (description, says) => {
    expect(judgeDescription(description, false)).toBe(`its description says ${says}`);
  });

  test.each([
    'Run a read-only SQL query',
    'Lists deleted items',
    'Shows the command history of the shell',
    'Searches orders and payments',
    'Describes the shell that scripts run in',
    'Explains how to run shell commands',
    'Update an issue; it does not delete anything',
    'Add or remove a label',
    'Send a prompt to a model and get an answer',
    'Only SELECT is allowed: INSERT, UPDATE and DELETE are rejected',
    'Run this tool first',
    'This tool does not delete files',
    'It cannot run shell commands',
    'Lists users; it never sends an email',
    'Shows what to do before running shell commands',
    'INSERT, UPDATE or DELETE statements are not allowed',
    'Evaluate a mathematical expression',
    'Runs a read-only command',
    'Sends a request to the API and returns the message',
    'Posts to read: lists the newest',
    'Opens a pull request',
    'To filter by payment, give its id',
    'Process a document',
    '',
  ])('is not seen where there is none: %s', (description) => {
    expect(judgeDescription(description, false)).toBeUndefined();
  });

  test('counts for a tool named like one that reads only where it is beyond doubt', () => {
    expect(judgeDescription('Runs commands to list what is there', true)).toBeUndefined();
    expect(judgeDescription('Deletes nothing of importance', true)).toBeUndefined();
    expect(judgeDescription('Executes arbitrary shell commands', true)).toMatch(/arbitrary commands/);
    expect(judgeDescription('Execute any SQL', true)).toMatch(/SQL that writes/);
  });

  test('a text of megabytes is judged by its beginning', () => {
    expect(judgeDescription('run a '.repeat(500_000), false)).toBeUndefined();
    expect(judgeDescription(`${'UPDATE '.repeat(500_000)}`, false)).toMatch(/SQL that writes/);
  });
});
