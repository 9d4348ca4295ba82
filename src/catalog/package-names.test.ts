import { describe, expect, test } from 'vitest';
import { camelCaseNames, serverModules, snakeCaseNames } from './package-names.js';

const names = (name: string) => [camelCaseNames([name]).get(name), snakeCaseNames([name]).get(name)];

describe('names in the packages of real interpreters', () => {
  test.each([
    ['get_document', 'getDocument', 'get_document'],
    ['admin.tools-list_all', 'adminToolsListAll', 'admin_tools_list_all'],
    ['listIssues', 'listIssues', 'listIssues'],
    ['GetHTTPResponse', 'GetHTTPResponse', 'GetHTTPResponse'],
    ['Get_item', 'getItem', 'Get_item'],
    ['GITHUB_CREATE_ISSUE', 'githubCreateIssue', 'GITHUB_CREATE_ISSUE'],
    ['get_URL', 'getUrl', 'get_URL'],
    ['v2Api', 'v2Api', 'v2Api'],
    ['files/read all', 'filesReadAll', 'files_read_all'],
    ['__proto__', 'proto', 'proto'],
    ['größe.MESSEN', 'größeMessen', 'größe_MESSEN'],
    ['検索', '検索', '検索'],
  ])('%s is %s and %s [B5]', (name, camel, snake) => {
    expect(names(name)).toEqual([camel, snake]);
  });

  test('a leading digit gets an underscore in front, a reserved word of the language one behind [B5]', () => {
    expect(names('2fa-enable')).toEqual(['_2faEnable', '_2fa_enable']);
    expect(names('delete')).toEqual(['delete_', 'delete']);
    expect(names('from')).toEqual(['from', 'from_']);
    expect(names('import')).toEqual(['import_', 'import_']);
    expect(names('then')).toEqual(['then_', 'then']);
    expect(names('None')).toEqual(['None', 'None_']);
  });

  test('names that hold nothing to read are still names', () => {
    for (const name of ['', '.', '🚀', '\u200b', '\u3164', '\u2028', '---'])
      expect(names(name)).toEqual(['tool', 'tool']);
  });

  test('a name of 128 characters is kept whole [B5]', () => {
    const name = 'x'.repeat(128);
    expect(names(name)).toEqual([name, name]);
  });

  test('an exact name always wins, and the others are numbered in alphabetical order [B5]', () => {
    const same = ['get.user', 'get-user', 'get_user', 'getUser'];
    expect(Object.fromEntries(camelCaseNames(same))).toEqual({
      'get-user': 'getUser__2',
      'get.user': 'getUser__3',
      getUser: 'getUser',
      get_user: 'getUser__4',
    });
    expect(Object.fromEntries(snakeCaseNames([...same].reverse()))).toEqual({
      'get-user': 'get_user__2',
      'get.user': 'get_user__3',
      getUser: 'getUser',
      get_user: 'get_user',
    });
    expect(Object.fromEntries(camelCaseNames(['GetItem', 'getItem']))).toEqual({
      GetItem: 'GetItem',
      getItem: 'getItem',
    });
  });

  test('a server keeps its module when another is added later, and an exact id wins [B5]', () => {
    expect(Object.fromEntries(serverModules(['google.drive', 'google-drive', 'google_drive']))).toEqual({
      'google.drive': 'google_drive__2',
      'google-drive': 'google_drive__3',
      google_drive: 'google_drive',
    });
    expect(serverModules(['z-a', 'z.a']).get('z-a')).toBe('z_a');
    expect(serverModules(['z.a', 'z-a']).get('z.a')).toBe('z_a');
  });

  test('names that Python takes for the same are numbered, and stand as Python reads them', () => {
    const found = [...snakeCaseNames(['ﬁle', 'file']).values()];
    expect(found).toEqual(['file', 'file__2']);
  });

  test('modules of servers are snake_case, ASCII, and no reserved word [B5]', () => {
    const ids = [
      'google-drive',
      'googleDrive',
      'Git Hub',
      '1password',
      'import',
      'Dienst für Größen',
      '日本',
      '',
      '../x',
    ];
    expect(Object.fromEntries(serverModules(ids))).toEqual({
      'google-drive': 'google_drive',
      googleDrive: 'google_drive__2',
      'Git Hub': 'git_hub',
      '1password': '_1password',
      import: 'import_',
      'Dienst für Größen': 'dienst_f_r_gr_en',
      日本: 'server',
      '': 'server__2',
      '../x': 'x',
    });
    expect(serverModules(['x'.repeat(1_000)]).get('x'.repeat(1_000))?.length).toBe(128);
  });
});
