/**
 * How much a sequence of letters looks like words, from 0 to 9: the mean score of its pairs of adjacent letters. A pair scores by
 * how often it occurs. Random letters have about 3, words and abbreviations in programs 5 to 8.
 */
export function likenessToWords(words: readonly string[]): { readonly mean: number; readonly pairs: number } {
  let sum = 0;
  let pairs = 0;
  for (const word of words) {
    const letters = word.toLowerCase();
    for (let at = 1; at < letters.length; at += 1) {
      sum += Number(PAIRS[letters.charCodeAt(at - 1) - CODE_OF_A]?.[letters.charCodeAt(at) - CODE_OF_A] ?? 0);
      pairs += 1;
    }
  }
  return { mean: pairs === 0 ? 9 : sum / pairs, pairs };
}

const CODE_OF_A = 97;

/**
 * A row for each first letter, a column for each second. 5 is as often as by chance, one more is twice as often. Counted over the
 * words of real tool descriptions and half of 2,209 real property names.
 */
const PAIRS: readonly string[] = [
  '16760361604867060779553351',
  '51216101530611510452500030',
  '70507007606600830637610040',
  '62258031701332530553410030',
  '74786653512778465997265741',
  '50005400700400600424400040',
  '51007045500325410541400010',
  '60017000600231600415300030',
  '65777660002769862678260305',
  '30004000100000310020200000',
  '32116200400302100052301010',
  '72258300702731730155532060',
  '75308000600253660041400000',
  '72777581604445630378551030',
  '44662440435779660866756320',
  '70147014600711660756500020',
  '00000000000200000000500000',
  '73559351705455730576553060',
  '60628306705333660278613040',
  '81539307900542740776614160',
  '45556140500656250767000000',
  '60007000600000300001000000',
  '50005004400204500441001000',
  '30404000300000050005000110',
  '21204000300323350043002021',
  '30004000100000300000000000',
];
