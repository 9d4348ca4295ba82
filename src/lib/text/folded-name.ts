/**
 * Equal for names that a person takes for the same. Ignores case, spaces, separators, accents and invisible characters, and folds
 * letters of other scripts and digits that look like Latin letters. For comparing, never for showing.
 */
export function foldedName(name: string): string {
  const letters = [...name.normalize('NFKD').replace(IGNORED, '')].map((letter) => LATIN.get(letter) ?? letter);
  return letters
    .join('')
    .toLowerCase()
    .replace(/./gsu, (letter) => LATIN.get(letter) ?? letter)
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replace(/[i1|!]/g, 'l')
    .replaceAll('0', 'o');
}

/** Marks, spaces, separators and everything invisible. */
const IGNORED = /[\p{M}\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800\s._\p{Pd}]/gu;

/** Cyrillic, Greek, Armenian and Latin letters, each followed by the Latin letter that it looks like. */
const LATIN = new Map(
  [
    ...[
      'аa',
      'вb',
      'сc',
      'ԁd',
      'еe',
      'ҽe',
      'ғf',
      'ɡg',
      'һh',
      'нh',
      'іi',
      'їi',
      'ӏl',
      'јj',
      'кk',
      'мm',
      'пn',
      'оo',
      'рp',
    ],
    ...['ԛq', 'гr', 'ѕs', 'тt', 'цu', 'ѵv', 'ԝw', 'хx', 'уy', 'үy', 'ᴢz', 'ьb', 'әe'],
    ...['АA', 'ВB', 'СC', 'ЕE', 'НH', 'ІI', 'ЈJ', 'КK', 'МM', 'ОO', 'РP', 'ЅS', 'ТT', 'ХX', 'УY', 'ҮY', 'ӀI'],
    ...['αa', 'βb', 'ϲc', 'εe', 'ηn', 'ιi', 'κk', 'νv', 'οo', 'ρp', 'σo', 'τt', 'υu', 'χx', 'γy', 'ωw', 'ϳj'],
    ...['ΑA', 'ΒB', 'ΕE', 'ΖZ', 'ΗH', 'ΙI', 'ΚK', 'ΜM', 'ΝN', 'ΟO', 'ΡP', 'ΤT', 'ΥY', 'ΧX'],
    ...[
      'ցg',
      'հh',
      'օo',
      'սu',
      'ոn',
      'ѡw',
      'ıi',
      'ȷj',
      'ɑa',
      'ɩi',
      'ʟl',
      'ɴn',
      'ʀr',
      'ᴛt',
      'ᴜu',
      'ʜh',
      'ɢg',
      'ɪi',
      'ʙb',
    ],
    ...['øo', 'ØO', 'łl', 'ŁL', 'đd', 'ħh', 'ŧt'],
  ].map((pair) => [...pair] as [string, string]),
);
