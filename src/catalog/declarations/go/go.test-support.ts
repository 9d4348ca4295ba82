import type { JsonObject } from '../../../domain/json.js';
import type { Tool } from '../../../domain/tool.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { declareGo, type GoOptions, goText } from './go.js';

export const tool = (name: string, inputSchema?: JsonObject, more: Partial<Tool> = {}): Tool => ({
  serverId: 'srv',
  name,
  ...omitUndefined({ inputSchema }),
  ...more,
});

export const declare = (tools: readonly Tool[], options?: GoOptions) => goText(declareGo(tools, options).declarations);

/** The two tools of the contract's document. */
export const WEATHER = tool(
  'get_weather',
  {
    type: 'object',
    properties: {
      city: { type: 'string', description: 'The name of the city to get weather for' },
      unit: {
        type: 'string',
        enum: ['celsius', 'fahrenheit'],
        description: 'Temperature unit for the weather response',
      },
    },
    required: ['location', 'unit'],
  },
  {
    description: 'Get current weather data for a location',
    outputSchema: {
      type: 'object',
      properties: { temperature: { type: 'number', description: 'Temperature in celsius' } },
      required: ['temperature'],
    },
  },
);
export const CITY = tool(
  'get_city',
  {},
  {
    description: 'Get current city location',
    outputSchema: {
      type: 'object',
      properties: { city: { type: 'string', description: 'Current city location' } },
      required: ['city'],
    },
  },
);
