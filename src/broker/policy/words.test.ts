import { describe, expect, test } from 'vitest';
import { judgeName } from './words.js';

const isDangerous = (name: string) => judgeName(name).isDangerous;

describe('a name that says what must not happen unasked', () => {
  test.each([
    'delete_file',
    'deleteFile',
    'DELETE-FILE',
    'files.delete',
    'HTTPDelete',
    'get_and_delete',
    'bulk_remove_members',
    'drop2table',
    'deletefile',
    'send_email',
    'sendMessage',
    'sendmail',
    'email_customer',
    'post_message',
    'pay_invoice',
    'create_payment',
    'transfer_funds',
    'create_refund',
    'merge_pull_request',
    'deploy_site',
    'reset',
    'exec',
    // The same words, written so that a plain comparison misses them.
    'dElEtE_file',
    'dElEtEfIlE',
    'ｄｅｌｅｔｅ_file',
    'dele\u200bte_file',
    'délete_file',
    'dеlete_file', // a Cyrillic е
    'deƖete_file',
  ])('is seen: %s', (name) => {
    expect(judgeName(name)).toEqual({ isDangerous: true, reason: expect.stringMatching(/^its name /) });
  });

  test.each([
    'get_transfer',
    'list_orders',
    'search_email',
    'read_mail',
    'list_deleted_items',
    'get_sender',
    'create_issue',
    'update_record',
    'create_merge_request',
    'create_post',
    'draft_reply',
    'write_file',
    'query',
    'get_payment_status',
    'check_deploy',
    'dropdown',
    'removable_media',
    'sending_limits',
    '検索',
    'поиск',
    '',
  ])('is not seen where there is none: %s', (name) => {
    expect(judgeName(name)).toEqual({ isDangerous: false });
  });

  test('cannot be hidden at the end of a name that nobody reads to its end', () => {
    expect(isDangerous(`${'aB_'.repeat(1_000_000)}delete`)).toBe(true);
  });
});
