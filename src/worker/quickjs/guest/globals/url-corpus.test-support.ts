// For tests only: URLs that are worth trying, hand-picked and generated.
import { seededRandom } from './run-in-quickjs.test-support.js';

export interface UrlCase {
  readonly input: string;
  readonly base?: string;
}

export interface SetterCase {
  readonly url: string;
  readonly property: (typeof SETTERS)[number];
  readonly value: string;
}

export const SETTERS = [
  'href',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;

// biome-ignore format: a list to read along, not down.
const NASTY_INPUTS = [
  '', ' ', '#', '?', '/', '//', '///', '\\', '\\\\x', '.', '..', './', '../', '/..', '/../', '/.', '/.//x', '..//..',
  'http:', 'http:/', 'http://', 'http:///', 'http://///a', 'http:a', 'http:a/b', 'http:/a', 'http:\\\\a\\b', 'http:?q', 'http:#f',
  'HTTP://EXAMPLE.COM/', 'hTTps://eXample.com:443/', 'http://a:80', 'https://a:80', 'http://a:', 'http://a:0', 'http://a:00080',
  'http://a:65535', 'http://a:65536', 'http://a:-1', 'http://a:8a', 'http://a:8 0', 'http://:80', 'http://a:80:80', 'http://a::80',
  'http://u@h', 'http://u:p@h', 'http://u:@h', 'http://:p@h', 'http://:@h', 'http://@h', 'http://u@', 'http://u@/', 'http://@', 'http://u:p@:80',
  'http://a@b@c', 'http://a:b@c:d@e', 'http://a:b:c@d', 'http://us er:p wd@h', 'http://%zz@h', 'http://u%40:p%3a@h', 'http://ü:€@h', 'http://u;=[]^|@h', 'http://a\\@b',
  'http://1.2.3.4', 'http://1.2.3', 'http://1.2', 'http://1', 'http://0x7f.1', 'http://0x7F000001', 'http://017700000001', 'http://0x', 'http://0x.0x', 'http://1.2.3.4.', 'http://1.2.3.4..', 'http://1.2.3.4.5', 'http://256.1.1.1', 'http://1.1.1.256', 'http://4294967295', 'http://4294967296', 'http://09.1.1.1', 'http://1.2.3.08', 'http://foo.0x4', 'http://foo.09', 'http://foo.2.3', 'http://foo.1a', 'http://1e5', 'http://0xg', 'http://1..2', 'http://.1', 'http://1.', 'http://.', 'http://..', 'http://a..b', 'http://a.', 'http://.a', 'http://0.0xffffff', 'http://1.0x1000000', 'http://１２７.１', 'http://%31%32%37.1', 'http://0XfF.1.1.1',
  'http://[::1]', 'http://[::]', 'http://[1::]', 'http://[1:2:3:4:5:6:7:8]', 'http://[1:2:3:4:5:6:7::]', 'http://[::2:3:4:5:6:7:8]', 'http://[1:2:3:4:5:6:7::8]', 'http://[1:2:3:4:5:6:7:8::]', 'http://[1:0:0:2:0:0:0:3]', 'http://[1:0:0:2:2:0:0:3]', 'http://[0:0:0:0:0:0:0:0]', 'http://[0:1:0:1:0:1:0:1]', 'http://[::ffff:1.2.3.4]', 'http://[::1.2.3.4]', 'http://[1:2:3:4:5:6:1.2.3.4]', 'http://[1:2:3:4:5:6:7:1.2.3.4]', 'http://[::1.2.3]', 'http://[::1.2.3.256]', 'http://[::01.2.3.4]', 'http://[::1.2.3.4:5]', 'http://[1.2.3.4::]', 'http://[::1.2.3.4.]', 'http://[:1]', 'http://[1:]', 'http://[:::]', 'http://[1:::2]', 'http://[::1::]', 'http://[12345::]', 'http://[g::]', 'http://[::1', 'http://::1]', 'http://[::1]x', 'http://x[::1]', 'http://[::1]:80', 'http://[::1]:81', 'http://[::1]:', 'http://[]', 'http://[::1%25eth0]', 'http://[ABCD::EF]', 'http://[[::1]]', 'foo://[::1]', 'foo://[::g]', 'http://[::1]:80:80', 'http://u@[::1]:8/',
  'http://ex%41mple.com', 'http://ex%2fample', 'http://ex%00ample', 'http://ex%25', 'http://%', 'http://%zz', 'http://%ff', 'http://%c3%bc.de', 'http://%ef%bb%bfx', 'http://a b', 'http://a<b', 'http://a>b', 'http://a|b', 'http://a^b', 'http://a`b', 'http://a{b}', 'http://a"b', "http://a'b", 'http://a!$&()*+,;=b', 'http://a_b', 'http://-a-', 'http://a--b', 'http://ab--c', 'http://a~b', 'http://a\tb\nc\r/', 'http://a\x7fb', 'http://a\x00b',
  'http://münchen.de', 'http://MÜNCHEN.DE', 'http://xn--mnchen-3ya.de', 'http://XN--MNCHEN-3YA.de', 'http://xn--', 'http://xn--a', 'http://xn--a-', 'http://xn--abc-', 'http://xn--0', 'http://xn--zn7c.com', 'http://faß.de', 'http://FAẞ.de', 'http://βόλος.com', 'http://ΒΌΛΟΣ.com', 'http://日本語。jp', 'http://日本語．jp', 'http://日本語｡jp', 'http://☃.net', 'http://💩.la', 'http://a\u00adb', 'http://\u00ad', 'http://a\u200db', 'http://क्\u200dष', 'http://क्\u200cष', 'http://نامه\u200cای.com', 'http://\u200c', 'http://a\u200c', 'http://אב.com', 'http://אבa.com', 'http://א1.com', 'http://1א.com', 'http://א٠1.com', 'http://aא.com', 'http://א-.com', 'http://א.1a.com', 'http://א.1', 'http://\u0301a', 'http://a\u0301', 'http://\u0345a', 'http://ﬁ.com', 'http://Å.com', 'http://Ꭰᏸꭰ.com', 'http://ǅ.com', 'http://℀', 'http://a．b', 'http://＃', 'http://％4１', 'http://⑴', 'http://\ufffd', 'http://\ud800', 'http://a\udc00b', 'http://\ufdd0', 'http://\u{1f1e6}', 'http://ı.com', 'http://İ.com', 'http://ſ.com', 'http://xn--fa-hia.de', 'http://xn--n3h.net', 'http://xn--ls8h.la', 'http://xn--1ug', 'http://xn--4gbwdl.xn--wgbh1c', 'http://xn--iñvalid.com', 'http://xn--ASCII-.com', 'http://xn--unicode-.org', 'http://a.xn--', 'http://xn--mnchen-3ya.xn--mnchen-3ya', 'http://xn--99999999999', 'http://xn--a-ecp.ru', 'http://xn--xn---epa', 'http://\u3002a', 'http://a\u3002', 'http://xn--tu8h', 'foo://münchen', 'foo://☃/☃?☃#☃', 'foo://%', 'foo://a^b', 'foo://a b', 'foo://A%41',
  'file:', 'file:/', 'file://', 'file:///', 'file:////', 'file:a', 'file:/a', 'file://a', 'file:///a', 'file:C:', 'file:C|', 'file:C|/x', 'file:/C|', 'file:/C|/x', 'file://C|/x', 'file:///C|/x', 'file:///C:/..', 'file:///C:/../..', 'file:///C:/a/../..', 'file:///C|/../D:', 'file://C:x', 'file://CC:/x', 'file://localhost/x', 'file://LOCALHOST', 'file://loc%61lhost/', 'file://a:80/', 'file://u@h/', 'file://[::1]/', 'file://1.2/x', 'file:\\\\a\\b', 'file:\\c:\\d', 'file:..', 'file:?q', 'file:#f', 'file://ho%20st/', 'C|', 'C|/', '/C|/', '//C|/', '/C:/', 'C|a', 'C|\\a', '..\\C|', 'file://x/C|/..', 'file:///1:/x', 'file:///C:', 'file:///C:\\', '//x/y',
  'mailto:a@b', 'data:text/plain,hi there', 'data:x  ', 'data:x  ?q', 'data:x  #f', 'data: x ?', 'javascript:alert(1)', 'javascript://x\ny', 'about:blank', 'about:blank#x?y', 'foo:', 'foo:/', 'foo:/a', 'foo://', 'foo:///', 'foo:////', 'foo:a/../b', 'foo:/a/../b', 'foo:/../b', 'foo://h/../b', 'foo://h/a\\b', 'foo:\\a', 'foo:/\\a', 'foo:/.//a', 'foo:/..//a', 'foo:/a/..//b', 'foo://h//a', 'foo://h', 'foo://h?', 'foo://h#', 'foo://h:', 'foo://h:9', 'foo://h:80', 'foo://:9', 'foo://u@', 'foo://u@:9', 'foo://u:p@h:9/x', 'foo:%', 'foo:é', 'foo:a\u0000b', 'blob:https://a:8/x', 'blob:http://u@a/x', 'blob:ftp://a/x', 'blob:file:///x', 'blob:x', 'blob:blob:https://a', 'blob:', 'blob:/x', 'blob:https://[::1]/', 'ws://a:80', 'wss://a:443/x', 'ftp://a:21', 'ftp://a:22', 'a1+-.:x', '1a:x', '+a:x', 'a b:x', 'ä:x', ':x', 'a:', 'A:B',
  'http://h/a%2e%2E/b', 'http://h/%2e/b', 'http://h/.%2e/b', 'http://h/a/%2e%2e', 'http://h/a/.', 'http://h/a/..', 'http://h/a/...', 'http://h/.a', 'http://h/..a', 'http://h/%2e%', 'http://h/%2', 'http://h/%zz', 'http://h//a//b/..', 'http://h/a\\..\\b', 'http://h/ "<>`{}|^[]', "http://h/'", 'http://h/\u0000\u001f\u007f', 'http://h/é\ud83d\ude00\ud800', 'http://h/a b?c d#e f', 'http://h/?"<>\'`{}|^', 'http://h/#"<>\'`{}|^', 'foo://h/?\'', 'http://h?a?b', 'http://h#a#b', 'http://h/#a?b', 'http://h/?\u0000é\ud800', 'http://h/#\u0000é\ud800', '\u0000 http://h/ \u001f', 'http://h/a\tb?c\nd#e\rf', 'ht\ntp://h', 'http:\n//h', '\u00a0http://h', 'http://h/;:@&=+$,', 'http://h/;p=1', 'http://h/%E2%98%83', 'http://h/\ufeff', 'http://h/a/b/c/../../d/./e/', 'http://h/C|/x', 'http://h/^', 'http://h/%7B', 'http://h:80/%2e%2e/x?', 'https://xn--/', 'https://a.b-c.d1/x/%20y/.z/', 'https://h/.well-known/x', 'http://999999999999999999999', 'http://h/a%00b', 'http://h./', 'http://h../', 'http://0', 'http://00', 'http://a.0', 'http://a.0x', 'http://a.b.0xz',
];

// biome-ignore format: a list to read along, not down.
const BASES = [
  'http://h/a/b?c#d', 'https://u:p@h:8/a/b/', 'file:///a/b', 'file://h/C:/x/y', 'file:///C:/x', 'foo://h/a/b?q', 'foo:/a/b', 'foo:/.//p', 'foo:opaque', 'mailto:x@y?z', 'about:blank', 'http://h', 'foo://h', 'foo:///a', 'nonsense', 'file:',
];

// biome-ignore format: a list to read along, not down.
const SETTER_URLS = [
  'http://h/', 'https://u:p@h:8080/a/b?c=d#e', 'http://h:81/x', 'file:///a/b', 'file://h/C:/x', 'foo://h/a?b#c', 'foo:/a/b', 'foo:///a', 'foo://u:p@h:9/a', 'foo:opaque', 'data:x  ?q#f', 'data:x  #f', 'mailto:a@b', 'ws://h/', 'wss://h:80/', 'foo:/.//p', 'http://[::1]:8/', 'ssh://x:22/y', 'foo:', 'foo://h',
];

// biome-ignore format: a list to read along, not down.
const SETTER_VALUES = [
  '', ' ', 'x', 'X y', ':', '/', '//', '?', '#', '\\', '..', '/../a', 'a/b/../c', '?a=b', '#x', '??a', '##a', 'http', 'https', 'https:', 'HTTPS://x', 'file', 'file:', 'ftp', 'foo', 'foo:bar', 'ws', '1x', 'a b', 'h2', 'H2:99', 'h2:99x', 'h2:x', 'h2:', ':99', 'h2/path', 'h2?q', 'h2#f', 'h2\\x', '[::1]', '[::1]:7', '[::1', '1.2', '256.1.1.1', 'localhost', 'münchen.de', 'xn--', 'a%2fb', 'a@b', '80', '443', '8080', '0', '00080', '65536', '99x', 'x99', '9 9', '\t9\n9', '-1', '☃', "'\"<>`{}|^", '%zz', '\ud800', 'a\tb\nc', '\u0000', 'C|', '/C|/x', '//x/y', '/.//x', '.', '%2e%2e', 'http://new/?x=1#y', 'foo:zap', 'u:p', ' a ', 'é',
];

// biome-ignore format: a list to read along, not down.
const GENERATOR_PIECES = [
  'http:', 'https:', 'HTTP:', 'file:', 'foo:', 'ws:', 'blob:', 'data:', '/', '//', '/', '\\', '.', '..', '%2e', '?', '#', '@', ':', ':80', ':443', ':8', '[', ']', '[::1]', '::', '1', '127.0.0.1', '0x7f', '0', '.', 'a', 'B', 'example.com', 'xn--', 'xn--n3h', 'ü', 'ß', '。', '☃', 'א', 'ا', '\u200c', '\u200d', '\u0301', '\u00ad', ' ', '\t', '\n', '%', '%41', '%zz', '%c3%bc', '%ff', '|', 'C|', 'C:', '^', '`', '{', '}', '"', "'", '<', '>', '\u0000', '\u007f', '\ud800', '😀', '&', '=', '+', ';', ',', '$', '!', '~', '-', '_', 'localhost',
];

/** Every nasty input, alone and against every base, and `generated` random ones, half of them with a base. */
export function urlCases(seed: number, generated: number): UrlCase[] {
  const random = seededRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const cases: UrlCase[] = NASTY_INPUTS.flatMap((input) => [{ input }, ...BASES.map((base) => ({ input, base }))]);
  for (let count = 0; count < generated; count++) {
    const start = pick(['', '', 'http://', 'https://', 'file:', 'foo:', 'foo://', 'http://h/', '//']);
    let input = start;
    for (let length = Math.floor(random() * 8); length >= 0; length--) input += pick(GENERATOR_PIECES);
    cases.push(random() < 0.5 ? { input } : { input, base: pick(BASES) });
  }
  return cases;
}

/** Every setter of every URL with every value, then `generated` random values. */
export function setterCases(seed: number, generated: number): SetterCase[] {
  const random = seededRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const cases = SETTER_URLS.flatMap((url) =>
    SETTERS.flatMap((property) => SETTER_VALUES.map((value) => ({ url, property, value }))),
  );
  for (let count = 0; count < generated; count++) {
    let value = '';
    for (let length = Math.floor(random() * 5); length >= 0; length--) value += pick(GENERATOR_PIECES);
    cases.push({ url: pick(SETTER_URLS), property: pick(SETTERS), value });
  }
  return cases;
}
