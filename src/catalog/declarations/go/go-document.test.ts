import { expect, test } from 'vitest';
import { declareGo, selectDeclarations } from './go.js';
import { CITY, declare, WEATHER } from './go.test-support.js';

test("the document's own tools are declared in its own words [E2, E3, E9]", () => {
  expect(declare([WEATHER, CITY])).toBe(`type GetCityOutput struct {
	// City Current city location
	City string \`json:"city"\`
}

// getCity Get current city location
var getCity func(ctx context.Context) (GetCityOutput, error)

type GetWeatherInput struct {
	// City The name of the city to get weather for
	City string \`json:"city,omitempty"\`
	// Unit Temperature unit for the weather response
	Unit     GetWeatherInputUnit \`json:"unit"\`
	Location any                 \`json:"location"\`
}

type GetWeatherInputUnit string

const GetWeatherInputUnitCelsius GetWeatherInputUnit = "celsius"
const GetWeatherInputUnitFahrenheit GetWeatherInputUnit = "fahrenheit"

type GetWeatherOutput struct {
	// Temperature Temperature in celsius
	Temperature float64 \`json:"temperature"\`
}

// getWeather Get current weather data for a location
var getWeather func(ctx context.Context, input GetWeatherInput) (GetWeatherOutput, error)
`);
});

test('what a program does not name is not compiled into it', () => {
  const { declarations } = declareGo([WEATHER, CITY]);
  const chosen = selectDeclarations(declarations, (name) => name === 'getWeather');
  expect(chosen.flatMap(({ names }) => names)).toEqual([
    'GetWeatherInput',
    'GetWeatherInputUnit',
    'GetWeatherInputUnitCelsius',
    'GetWeatherInputUnitFahrenheit',
    'GetWeatherOutput',
    'getWeather',
  ]);
});
