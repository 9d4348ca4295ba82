import { camel, choice, crud, fields, flag, list, number, READS, text, tool, WRITES, whole } from '../build.mjs';

const NAMED = fields({ 'name!': text() });
const AMOUNT = {
  anyOf: [
    fields({ 'grams!': number(undefined, { minimum: 0 }) }),
    fields({ 'pieces!': number() }),
    choice(['a pinch', 'to taste']),
  ],
};
const INGREDIENT = { allOf: [NAMED, fields({ 'amount!': AMOUNT, optional: flag(undefined, { default: false }) })] };
const STEP = {
  allOf: [fields({ 'do!': text() }), { anyOf: [fields({ 'minutes!': number() }), fields({ 'until!': text() })] }],
};
const RECIPE = {
  'name!': text(),
  'serves!': whole(undefined, { minimum: 1, maximum: 400 }),
  'ingredients!': list(INGREDIENT, undefined, { minItems: 1 }),
  steps: list(STEP),
  allergens: list(choice(['gluten', 'milk', 'egg', 'nuts', 'fish', 'soy', 'celery']), undefined, { uniqueItems: true }),
};
const DISH = {
  'recipeId!': text('Which recipe.'),
  'table!': whole(undefined, { minimum: 1 }),
  wishes: text(undefined, { maxLength: 200 }),
  course: choice(['first', 'main', 'sweet']),
};

/** Schemas that are put together with allOf and anyOf. */
export const kitchen = {
  id: 'kitchen_brigade',
  server: 'Kitchen brigade',
  version: '3.3.3',
  description: 'Recipes, orders of guests and the store room of a restaurant.',
  tools: [
    ...crud({
      one: 'recipe',
      many: 'recipes',
      about: 'a recipe, with its ingredients and its steps',
      fields: RECIPE,
      nameTool: camel,
      filters: { without: list(text(), 'Allergens that must not be in it.') },
    }),
    ...crud({
      one: 'dish order',
      many: 'dish orders',
      about: 'a dish that a table has ordered',
      fields: DISH,
      nameTool: camel,
      leaveOut: ['update', 'get'],
    }),
    tool(
      'scaleRecipe',
      'Works out a recipe for another number of guests.',
      fields({ 'recipeId!': text(), 'guests!': whole(undefined, { minimum: 1 }) }),
      { output: fields({ 'ingredients!': list(INGREDIENT) }), hints: READS },
    ),
    tool(
      'storeRoom',
      'What is in the store room, and until when it keeps.',
      fields({ below: number('Only what there is less of, in grams.') }),
      {
        output: fields({
          'stock!': {
            type: 'object',
            additionalProperties: {
              allOf: [fields({ 'grams!': number() }), fields({ keepsUntil: text(undefined, { format: 'date' }) })],
            },
          },
        }),
        hints: READS,
      },
    ),
    tool(
      'orderIngredients',
      'Orders ingredients from the market for tomorrow.',
      fields({ 'items!': list(INGREDIENT, undefined, { minItems: 1 }), market: text() }),
      { hints: { ...WRITES, openWorldHint: true } },
    ),
    tool(
      'writeMenu',
      'Writes the menu of the day out of what must be used first.',
      fields({
        'courses!': whole(undefined, { minimum: 1, maximum: 7 }),
        vegetarian: flag(),
        season: choice(['spring', 'summer', 'autumn', 'winter']),
      }),
      { hints: READS },
    ),
    tool(
      'substitute',
      'What can stand in for an ingredient.',
      fields({ 'ingredient!': text(), because: choice(['missing', 'allergy', 'price']) }),
      { output: fields({ 'instead!': list(NAMED) }), hints: READS },
    ),
    tool('fireAlarmTest', 'Tests the alarm above the stove.', fields({}), { hints: WRITES }),
    tool(
      'throwAway',
      'Throws ingredients away and takes them off the stock.',
      fields({ 'name!': text(), 'amount!': AMOUNT }),
      { hints: { destructiveHint: true } },
    ),
    tool(
      'seatGuests',
      'Finds tables for guests.',
      fields({
        'people!': whole(undefined, { minimum: 1, maximum: 40 }),
        'at!': text(undefined, { format: 'date-time' }),
        highChairs: whole(undefined, { minimum: 0 }),
      }),
      { hints: WRITES },
    ),
  ],
};
