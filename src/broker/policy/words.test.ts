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
    // Programs that the caller writes.
    'run_command',
    'execute_command',
    'run_in_terminal',
    'run_terminal_cmd',
    'runPythonCode',
    'shell',
    'bash',
    'mcp_bash',
    'execute_sql',
    'run_sql_query',
    'write_query',
    'apply_migration',
    'evaluate_script',
    'puppeteer_evaluate',
    'code_interpreter',
    'get_and_execute',
    'pods_exec',
    'start_process',
    // Money.
    'spend_credits',
    'donate',
    'book_flight',
    'create_booking',
    'subscribe_to_plan',
    'create_subscription',
    'top_up_wallet',
    'topup',
    'make_purchase',
    'place_order',
    'withdraw_funds',
    'refundPayment',
    'payment_create',
    'make_phone_call',
    'create_tweet',
    // Loss, though the name ends like one that shows something.
    'clear_history',
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
    'get_command_history',
    'describe_shell',
    'list_shell_sessions',
    'search_orders',
    'order_status',
    'order_history',
    'mail_list_folders',
    'get_tweet',
    'list_trash',
    'search_code',
    'create_shell_script',
    'write_code',
    'run_tests',
    'run_pipeline',
    'list_bookings',
    'book_details',
    'subscribe_to_issue',
    'list_subscriptions',
    'git_checkout',
    'port_forward',
    'transfer_issue',
    'set_sort_order',
    'begin_transaction',
    'evaluate_feature_flag',
    'netlify-deploy-services-reader',
    '検索',
    'поиск',
    '',
  ])('is not seen where there is none: %s', (name) => {
    expect(isDangerous(name)).toBe(false);
  });

  test('says which word it was, and not the whole name', () => {
    expect(judgeName('linear_removeUserFromTeam')).toEqual({ isDangerous: true, reason: 'its name says "remove"' });
  });

  test('cannot be hidden at the end of a name that nobody reads to its end', () => {
    expect(isDangerous(`${'aB_'.repeat(1_000_000)}delete`)).toBe(true);
  });
});
