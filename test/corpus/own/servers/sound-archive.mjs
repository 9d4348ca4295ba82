import { choice, fields, flag, list, number, READS, text, tool, WRITES, whole } from '../build.mjs';

/** Words of all languages: names of tools, keys, values and descriptions. */
export const soundArchive = {
  id: 'sound-archive',
  server: 'Klangarchiv · Архив звуков · 音の記録',
  version: '1.0.0',
  description: 'Aufnahmen von Glocken, Vögeln und Märkten.',
  tools: [
    tool(
      '録音を探す',
      '録音を言葉で探します。',
      fields({ '言葉!': text('探す言葉。'), 件数: whole('最大の件数。', { minimum: 1, maximum: 100, default: 20 }) }),
      { hints: READS },
    ),
    tool(
      '録音を聞く',
      '録音の一部を聞きます。',
      fields({ '番号!': text('録音の番号。'), 秒: number('長さ。', { minimum: 1, maximum: 600 }) }),
      { hints: READS },
    ),
    tool(
      'поиск_голосов',
      'Ищет голоса по имени или месту записи.',
      fields({ 'имя!': text('Имя или его часть.'), место: text('Город или село.'), год: whole() }),
      { hints: READS },
    ),
    tool(
      'glocken_suchen',
      'Sucht Glocken nach Schlagton, Größe oder Ort.',
      fields({
        schlagton: choice(['c¹', 'd¹', 'es¹', 'e¹', 'f¹', 'g¹', 'as¹', 'h¹'], 'Höhe des Schlagtons.'),
        größe: number('Durchmesser in Metern.'),
        straße: text(),
      }),
      { hints: READS },
    ),
    tool(
      'glocke_läuten',
      'Spielt das Läuten einer Glocke ab.',
      fields({ 'glocke!': text(), lautstärke: number('0 bis 1.', { minimum: 0, maximum: 1 }) }),
      { hints: READS },
    ),
    tool('ονόματα', 'Τα ονόματα όλων των συλλογών.', fields({}), { hints: READS }),
    tool(
      'birds',
      'Recordings of birds 🐦 by their call. Übersetzt: Vögel; traduit : oiseaux.',
      fields({
        'call!': choice(['tsiwitt', 'kuckuck', 'krah', '🎵', 'ça-ça'], 'What it sounds like.'),
        'mood 🎭': text('Cheerful, alarmed, sleepy.'),
      }),
      { hints: READS },
    ),
    tool(
      'add_recording',
      'Adds a recording.',
      fields({
        'title!': text(undefined, { minLength: 1, maxLength: 120 }),
        'file_name!': text(undefined, { pattern: '^[\\p{L}\\p{N} _.-]+\\.(wav|flac)$' }),
        languages: list(text(undefined, { pattern: '^[a-z]{2,3}$' })),
        'rights’ holder': text('With a typographic apostrophe.'),
      }),
      { hints: WRITES },
    ),
    tool(
      'transcribe',
      'Writes down what is said in a recording.',
      fields({ 'recording!': text(), language: text('A code such as de, fi, ja.'), with_times: flag() }),
      {
        output: fields({ 'lines!': list(fields({ 'text!': text(), 開始: number(), конец: number() })) }),
        hints: READS,
      },
    ),
    tool('مرور', 'يعرض كل التسجيلات واحدا بعد الآخر.', fields({ صفحة: whole(undefined, { minimum: 1 }) }), {
      hints: READS,
    }),
    tool('compare_sounds', 'How alike two recordings are.', fields({ 'a!': text(), 'b!': text() }), {
      output: fields({ 'ähnlichkeit!': number(undefined, { minimum: 0, maximum: 1 }) }),
      hints: READS,
    }),
    tool(
      'withdraw_recording',
      'Takes a recording out of the archive at the wish of the speaker.',
      fields({ 'recording!': text(), 'asked_by!': text() }),
      { hints: { destructiveHint: true } },
    ),
  ],
};
