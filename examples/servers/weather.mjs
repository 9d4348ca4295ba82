// Forecasts, made up, from a service that takes its time.
import { sequence, serve } from './stdio-server.mjs';

const LATENCY_MS = 100;
const CITIES = [
  ...['Lisbon', 'Oslo', 'Vienna', 'Ghent', 'Turin', 'Krakow', 'Cork', 'Basel', 'Porto', 'Bergen', 'Graz', 'Bruges'],
  ...['Genoa', 'Gdansk', 'Galway', 'Bern', 'Seville', 'Malmo', 'Linz', 'Namur', 'Naples', 'Lublin', 'Sligo', 'Geneva'],
];

serve({
  name: 'weather',
  version: '1.0.0',
  instructions: `Forecasts for tomorrow. Every question takes about ${LATENCY_MS} ms, however many are asked at once.`,
  tools: [
    {
      name: 'list_cities',
      description: 'Lists the cities there are forecasts for.',
      inputSchema: { type: 'object' },
      outputSchema: {
        type: 'object',
        properties: { cities: { type: 'array', items: { type: 'string' } } },
        required: ['cities'],
      },
      run: () => ({ cities: CITIES }),
    },
    {
      name: 'forecast',
      description: 'Gives the weather of one city, tomorrow.',
      inputSchema: {
        type: 'object',
        properties: { city: { type: 'string', description: 'A name that list_cities gave' } },
        required: ['city'],
      },
      outputSchema: {
        type: 'object',
        properties: {
          city: { type: 'string' },
          highCelsius: { type: 'integer' },
          lowCelsius: { type: 'integer' },
          rainPercent: { type: 'integer', minimum: 0, maximum: 100 },
        },
        required: ['city', 'highCelsius', 'lowCelsius', 'rainPercent'],
      },
      run: async ({ city }) => {
        await new Promise((resolve) => setTimeout(resolve, LATENCY_MS));
        if (!CITIES.includes(city)) throw new Error(`there is no forecast for ${city}`);
        const next = sequence(CITIES.indexOf(city) * 7_919 + 1);
        next();
        const highCelsius = 8 + Math.floor(next() * 25);
        return {
          city,
          highCelsius,
          lowCelsius: highCelsius - 4 - Math.floor(next() * 8),
          rainPercent: Math.floor(next() * 101),
        };
      },
    },
  ],
});
