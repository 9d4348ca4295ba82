// Where should one go tomorrow? Twenty-four questions are asked at once, and one that fails costs only itself.
import { forecast, list_cities } from '@codemode/servers/weather';

const { cities } = await list_cities();
const startedAt = Date.now();
const answers = await Promise.allSettled([...cities, 'Atlantis'].map((city) => forecast({ city })));
console.log(`${answers.length} forecasts in ${Date.now() - startedAt} ms`);

for (const answer of answers) if (answer.status === 'rejected') console.warn(answer.reason.message);
globalThis.__codemode_result__ = answers
  .flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  .filter(({ rainPercent }) => rainPercent < 30)
  .sort((left, right) => right.highCelsius - left.highCelsius)
  .slice(0, 3);
