/** The yardstick: textbook BM25 (k1 = 1.2, b = 0.75) over name and description, words split at anything but a-z and 0-9. */
export function createBm25(documents) {
  const K1 = 1.2;
  const B = 0.75;
  const words = (text) => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const bags = documents.map(({ tool }) => words(`${tool.name} ${tool.description ?? ''}`));
  const averageLength = bags.reduce((sum, bag) => sum + bag.length, 0) / bags.length;
  const postings = new Map();
  bags.forEach((bag, document) => {
    for (const word of bag) {
      const counts = postings.get(word) ?? postings.set(word, new Map()).get(word);
      counts.set(document, (counts.get(document) ?? 0) + 1);
    }
  });

  return {
    search(query, { limit = 10 } = {}) {
      const scores = new Map();
      for (const word of words(query)) {
        const counts = postings.get(word);
        if (counts === undefined) continue;
        const idf = Math.log(1 + (documents.length - counts.size + 0.5) / (counts.size + 0.5));
        for (const [document, count] of counts) {
          const saturation = K1 * (1 - B + (B * bags[document].length) / averageLength);
          scores.set(document, (scores.get(document) ?? 0) + (idf * count * (K1 + 1)) / (count + saturation));
        }
      }
      return [...scores]
        .sort((a, b) => b[1] - a[1] || a[0] - b[0])
        .slice(0, limit)
        .map(([document, score]) => ({ tool: documents[document].tool, score }));
    },
  };
}
