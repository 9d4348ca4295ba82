import { omitUndefined } from '../../lib/omit-undefined.js';
import { VOCABULARY, WHOLE } from './word-lists.js';

/** Other spellings of a word, which a server can choose so that a plain comparison misses it. */

/** Full-width, accented and invisible characters are other ways to write the same letter. */
export function fold(text: string): string {
  return text.normalize('NFKD').replace(/[\p{M}\p{Cf}]/gu, '');
}

const DIGITS: Readonly<Record<string, string>> = { '0': 'o', '3': 'e', '4': 'a', '5': 's', '7': 't' };
const LETTERS = lookAlikes(
  'аaвbеeкkмmнhоoрpсcтtуyхxіiјjѕsԁdԛqԝwһhӏlɡgαaεeιiκkνvοoρpτtυuχxАAВBЕEКKМMНHОOРPСCТTУYХXІIЈJЅSΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX',
);

/** The name with digits and letters of other alphabets replaced by the letters they look like. */
export function seemingNames(name: string): string[] {
  const latin = name.replace(/[^\p{ASCII}]/gu, (letter) => LETTERS.get(letter) ?? letter);
  const seeming = ['l', 'i'].map((one) =>
    latin.replace(/(?<=\p{L})\d+|\d+(?=\p{L})/gu, (digits) =>
      digits.replace(/\d/g, (digit) => (digit === '1' ? one : (DIGITS[digit] ?? digit))),
    ),
  );
  return [...new Set([latin, ...seeming])].filter((other) => other !== name);
}

/** Long enough that two adjacent words of a name do not form one by chance. */
const SPLIT = /delete|remove|destroy|execute|publish|transfer|terminate|withdraw|uninstall|overwrite|truncate/g;

/** A word that is split by separators: `del_ete`, `d.e.l.e.t.e`. */
export function gappedWord(parts: readonly string[], isMeant: (word: string) => boolean): string | undefined {
  const ends = new Set<number>();
  let joined = '';
  for (const part of parts) {
    joined += part.toLowerCase();
    ends.add(joined.length);
  }
  for (const { 0: word, index } of joined.matchAll(SPLIT))
    for (let at = index + 1; at < index + word.length; at++) if (ends.has(at)) return word;
  const spelled = parts.map((part) => (part.length === 1 ? part.toLowerCase() : ' ')).join('');
  return spelled.split(' ').find((word) => word.length > 2 && isMeant(word));
}

const MAX_RUN_TOGETHER = 40;

/** The words of a part without separators, if it consists only of known words: `runcommand`. */
export function wordsRunTogether(part: string): string[] | undefined {
  if (part.length > MAX_RUN_TOGETHER || VOCABULARY.has(part) || WHOLE.has(part)) return undefined;
  // For each position, the words that lead to it. The longest last word wins.
  const ways: (string[] | undefined)[] = [[]];
  for (let end = 1; end <= part.length; end++)
    for (let start = 0; start < end && ways[end] === undefined; start++) {
      const before = ways[start];
      const word = part.slice(start, end);
      if (before !== undefined && VOCABULARY.has(word)) ways[end] = [...before, word];
    }
  return ways[part.length];
}

/** Actions in names in other alphabets, by the beginnings of words. */
const FOREIGN_ACTS = stems(`
  удал отправ оплат заплат купи выполн запуст стереть очист
  删除 刪除 移除 清空 发送 發送 支付 付款 购买 購買 转账 轉賬 执行 執行 运行 運行
  削除 送信 支払 購入 実行 삭제 전송 보내 결제 구매 실행 حذف ارسال إرسال دفع تنفيذ हटा भेज भुगतान διαγραφ αποστολ מחק שלח
`);
const FOREIGN_LOOKS = stems(`
  поиск найти найд получ показ список спис прочит чтен читать просмотр
  検索 取得 一覧 表示 読み 查询 查詢 搜索 搜尋 获取 獲取 列出 读取 讀取 查看 列表 검색 조회 목록 بحث عرض قائمة खोज αναζητ חיפוש
`);

/** The meaning of a name with non-Latin letters; `undefined` if it has none. */
export function foreignMeaning(folded: string): { readonly act?: string; readonly isLooking: boolean } | undefined {
  const text = folded.toLowerCase();
  if (!/(?!\p{Script=Latin})\p{L}/u.test(text)) return undefined;
  const act = FOREIGN_ACTS.find((stem) => text.includes(stem));
  return { ...omitUndefined({ act }), isLooking: FOREIGN_LOOKS.some((stem) => text.includes(stem)) };
}

function stems(text: string): string[] {
  return fold(text).trim().split(/\s+/);
}

function lookAlikes(pairs: string): ReadonlyMap<string, string> {
  const letters = [...pairs];
  return new Map(letters.flatMap((letter, index) => (index % 2 === 0 ? [[letter, letters[index + 1] ?? letter]] : [])));
}
