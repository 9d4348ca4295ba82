/** How many terminal columns a text takes, and where to cut it. Grapheme clusters are never split. */

const ASCII = /^[\u0020-\u007e]*$/;
const ELLIPSIS = '…';
/** Shown two columns wide: an emoji, a flag, or a symbol with emoji presentation. */
const PICTURE = /^\p{Emoji_Presentation}|^\p{Regional_Indicator}{2}|\ufe0f/u;
/** Accents and joiners on their own take no column. */
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
/** East Asian characters that Unicode calls wide or full-width. */
const WIDE =
  /^[\u1100-\u115f\u231a\u231b\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;

export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text)) width += graphemeWidth(segment);
  return width;
}

/** At most `width` columns of a text. A cut text ends in an ellipsis. */
export function cutToWidth(text: string, width: number): string {
  if (text.length <= width && ASCII.test(text)) return text;
  let used = 0;
  let kept = '';
  for (const { segment } of graphemes(text)) {
    used += graphemeWidth(segment);
    if (used > width) return width < 1 ? '' : kept + ELLIPSIS;
    // The last column is for the ellipsis.
    if (used < width) kept += segment;
  }
  return text;
}

/** Created when a text first needs it: loading its tables takes 10 to 40 ms, which most commands never need. */
const segmenters = new Map<'grapheme', Intl.Segmenter>();

function graphemes(text: string): Intl.Segments {
  const segmenter = segmenters.get('grapheme') ?? new Intl.Segmenter('en', { granularity: 'grapheme' });
  segmenters.set('grapheme', segmenter);
  return segmenter.segment(text);
}

function graphemeWidth(grapheme: string): number {
  if (NO_WIDTH.test(grapheme)) return 0;
  return PICTURE.test(grapheme) || WIDE.test(grapheme) ? 2 : 1;
}
